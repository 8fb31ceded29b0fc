/** The escaper of G9: agents' text is shown, never interpreted. What cannot be seen is made visible, by this function everywhere. */

/** Controls, format characters, surrogates, private use, separators, default-ignorables, Braille blank, and blanks that are not U+0020. */
const unseen = /[\p{C}\p{Zl}\p{Zp}\p{DI}\u2800]|(?! )\p{Zs}/gu

export interface RevealOptions {
  /** Line feeds and tabs stay as they are (a block that keeps its layout); everything else is still made visible. */
  readonly multiline?: boolean
}

/** Every character that a reader could not see stands as \u{HEX}; a backslash before a u{ is doubled, so nothing can be forged. */
export function reveal(text: string, options: RevealOptions = {}): string {
  return text
    .replaceAll('\\u{', '\\\\u{')
    .replace(unseen, char =>
      options.multiline && (char === '\n' || char === '\t') ? char : `\\u{${(char.codePointAt(0) ?? 0).toString(16)}}`,
    )
}

/** Whether a text holds anything that `reveal` would have to make visible: surfaces warn where it does. */
export function hidesSomething(text: string, options: RevealOptions = {}): boolean {
  return reveal(text, options) !== text.replaceAll('\\u{', '\\\\u{')
}
