/** Escapes invisible characters, so that people see an agent's text exactly as it is (G9). Page and terminal both use `escapeInvisible`. */

/** A combining mark. A long run of marks draws over the surrounding text, and no writing system needs more than a few in a row. */
const mark = '(?!\\p{DI})[\\p{Mn}\\p{Me}]'
const marksMax = 4
/** Control and format characters, surrogates, private use, separators, default-ignorables, the Braille blank, spaces other than U+0020, and excess combining marks. */
const invisible = new RegExp(
  `[\\p{C}\\p{Zl}\\p{Zp}\\p{DI}\\u2800]|(?! )\\p{Zs}|(?<=(?:${mark}){${marksMax}})${mark}`,
  'u',
)
/** Matches a whole run of backslashes at once, so that escaping a long run takes linear time. */
const toEscape = new RegExp(`\\\\+|${invisible.source}`, 'gu')
/** An emoji with a variation selector or skin tone. `emojiSequence` also matches several of them joined by U+200D. Such a sequence is visible as a whole, although some of its characters are invisible. */
const emoji = '(?!\\p{C})\\p{ExtPict}(?:\\p{EMod}|\\u{fe0f})?'
const emojiSequence = new RegExp(`${emoji}(?:\\u{200d}${emoji})*`, 'gu')
const startsWithEmoji = /^(?!\p{C})\p{ExtPict}/u
const emojiOrToEscape = new RegExp(`${emojiSequence.source}|${toEscape.source}`, 'gu')

export interface EscapeOptions {
  /** Keeps line feeds and tabs, for a text that is shown with its line breaks. */
  readonly multiline?: boolean
  /** Keeps emoji. Use this only for prose, because in code that will be executed even an invisible character matters. */
  readonly keepEmoji?: boolean
}

function isLayout(char: string, { multiline }: EscapeOptions): boolean {
  return multiline === true && (char === '\n' || char === '\t')
}

/** Replaces every invisible character with \u{HEX}. Doubles backslashes before an escape or a literal `u{`, so that text cannot imitate an escape. */
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

/** Returns whether `escapeInvisible` would escape a character of this text. Page and terminal then show a warning. */
export function hasInvisible(text: string, options: EscapeOptions = {}): boolean {
  const withoutLayout = options.multiline ? text.replace(/[\n\t]/g, ' ') : text
  return invisible.test(options.keepEmoji ? withoutLayout.replace(emojiSequence, ' ') : withoutLayout)
}
