/** The escaper of G9: agents' text is shown, never interpreted. What cannot be seen is made visible, by this function everywhere. */

/** Controls, format characters, surrogates, private use, separators, default-ignorables, Braille blank, and blanks that are not U+0020. */
const unseen = /[\p{C}\p{Zl}\p{Zp}\p{DI}\u2800]|(?! )\p{Zs}/u
/** In one pass, so that a long run of backslashes costs no more than its length. */
const told = new RegExp(`\\\\+|${unseen.source}`, 'gu')

export interface RevealOptions {
  /** Line feeds and tabs stay as they are (a block that keeps its layout); everything else is still made visible. */
  readonly multiline?: boolean
}

function isHidden(char: string, { multiline }: RevealOptions): boolean {
  return unseen.test(char) && !(multiline && (char === '\n' || char === '\t'))
}

/** Every character that a reader could not see stands as \u{HEX}; backslashes before one, or before a written u{, are doubled, so nothing can be forged. */
export function reveal(text: string, options: RevealOptions = {}): string {
  return text.replace(told, (found, at: number) => {
    if (found[0] !== '\\') return isHidden(found, options) ? `\\u{${(found.codePointAt(0) ?? 0).toString(16)}}` : found
    const next = at + found.length
    const following = String.fromCodePoint(text.codePointAt(next) ?? 0x20)
    return text.startsWith('u{', next) || isHidden(following, options) ? found + found : found
  })
}

/** Whether a text holds anything that `reveal` would have to make visible: surfaces warn where it does. */
export function hidesSomething(text: string, options: RevealOptions = {}): boolean {
  return unseen.test(options.multiline ? text.replace(/[\n\t]/g, ' ') : text)
}
