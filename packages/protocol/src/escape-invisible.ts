/** The escaper of G9: agents' text is shown, never interpreted. What cannot be seen is made visible, by this function everywhere. */

/** Drawn over what stands before it, and over what stands around that where there are many: no script needs more than a few at a time. */
const mark = '(?!\\p{DI})[\\p{Mn}\\p{Me}]'
const marksMax = 4
/** Controls, format characters, surrogates, private use, separators, default-ignorables, Braille blank, blanks that are not U+0020, and marks upon marks. */
const unseen = new RegExp(`[\\p{C}\\p{Zl}\\p{Zp}\\p{DI}\\u2800]|(?! )\\p{Zs}|(?<=(?:${mark}){${marksMax}})${mark}`, 'u')
/** In one pass, so that a long run of backslashes costs no more than its length. */
const told = new RegExp(`\\\\+|${unseen.source}`, 'gu')
/** A picture with what shapes it (a variation selector, a tone of skin) or joins it to another: seen, though parts of it are not. */
const picture = '(?!\\p{C})\\p{ExtPict}(?:\\p{EMod}|\\u{fe0f})?'
const pictures = new RegExp(`${picture}(?:\\u{200d}${picture})*`, 'gu')
const isPicture = /^(?!\p{C})\p{ExtPict}/u
const toldBesidePictures = new RegExp(`${pictures.source}|${told.source}`, 'gu')

export interface EscapeOptions {
  /** Line feeds and tabs stay as they are (a block that keeps its layout); everything else is still made visible. */
  readonly multiline?: boolean
  /** Pictures stay as they are. For sentences only: in what is executed every character counts. */
  readonly keepEmoji?: boolean
}

function isLayout(char: string, { multiline }: EscapeOptions): boolean {
  return multiline === true && (char === '\n' || char === '\t')
}

/** Every character that a reader could not see stands as \u{HEX}; backslashes before one, or before a written u{, are doubled, so nothing can be forged. */
export function escapeInvisible(text: string, options: EscapeOptions = {}): string {
  return text.replace(options.keepEmoji ? toldBesidePictures : told, (found, at: number) => {
    if (options.keepEmoji && isPicture.test(found)) return found
    if (found[0] !== '\\') return isLayout(found, options) ? found : `\\u{${(found.codePointAt(0) ?? 0).toString(16)}}`
    const next = at + found.length
    const following = String.fromCodePoint(text.codePointAt(next) ?? 0x20)
    const escapes = unseen.test(following) && !isLayout(following, options)
    return text.startsWith('u{', next) || escapes ? found + found : found
  })
}

/** Whether a text holds anything that `reveal` would have to make visible: surfaces warn where it does. */
export function hasInvisible(text: string, options: EscapeOptions = {}): boolean {
  const laid = options.multiline ? text.replace(/[\n\t]/g, ' ') : text
  return unseen.test(options.keepEmoji ? laid.replace(pictures, ' ') : laid)
}
