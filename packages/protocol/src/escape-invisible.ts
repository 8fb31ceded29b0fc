/** Escapes invisible characters, so that agents' text is shown and never interpreted (G9). Every surface uses this one function. */

/** A combining mark. Many in a row draw over the surrounding text; no script needs more than a few. */
const mark = '(?!\\p{DI})[\\p{Mn}\\p{Me}]'
const marksMax = 4
/** Control and format characters, surrogates, private use, separators, default-ignorables, the Braille blank, spaces other than U+0020, and excess combining marks. */
const invisible = new RegExp(
  `[\\p{C}\\p{Zl}\\p{Zp}\\p{DI}\\u2800]|(?! )\\p{Zs}|(?<=(?:${mark}){${marksMax}})${mark}`,
  'u',
)
/** Matches a whole run of backslashes at once, so that a long run takes linear time. */
const toEscape = new RegExp(`\\\\+|${invisible.source}`, 'gu')
/** An emoji with its variation selector or skin tone, or several joined by U+200D: visible, although some of its characters are not. */
const emoji = '(?!\\p{C})\\p{ExtPict}(?:\\p{EMod}|\\u{fe0f})?'
const emojiSequence = new RegExp(`${emoji}(?:\\u{200d}${emoji})*`, 'gu')
const startsWithEmoji = /^(?!\p{C})\p{ExtPict}/u
const emojiOrToEscape = new RegExp(`${emojiSequence.source}|${toEscape.source}`, 'gu')

export interface EscapeOptions {
  /** Keeps line feeds and tabs, for a block that keeps its layout. */
  readonly multiline?: boolean
  /** Keeps emoji. Only for prose: in code that is executed every character counts. */
  readonly keepEmoji?: boolean
}

function isLayout(char: string, { multiline }: EscapeOptions): boolean {
  return multiline === true && (char === '\n' || char === '\t')
}

/** Replaces every invisible character by \u{HEX}. Doubles backslashes before an escape or a literal `u{`, so that text cannot imitate an escape. */
export function escapeInvisible(text: string, options: EscapeOptions = {}): string {
  return text.replace(options.keepEmoji ? emojiOrToEscape : toEscape, (found, at: number) => {
    if (options.keepEmoji && startsWithEmoji.test(found)) return found
    if (found[0] !== '\\') return isLayout(found, options) ? found : `\\u{${(found.codePointAt(0) ?? 0).toString(16)}}`
    const next = at + found.length
    const following = String.fromCodePoint(text.codePointAt(next) ?? 0x20)
    const isBeforeEscape = invisible.test(following) && !isLayout(following, options)
    return text.startsWith('u{', next) || isBeforeEscape ? found + found : found
  })
}

/** Whether `escapeInvisible` would escape a character of this text. Surfaces warn if it would. */
export function hasInvisible(text: string, options: EscapeOptions = {}): boolean {
  const withoutLayout = options.multiline ? text.replace(/[\n\t]/g, ' ') : text
  return invisible.test(options.keepEmoji ? withoutLayout.replace(emojiSequence, ' ') : withoutLayout)
}
