/** Escapes invisible characters, so that people see an agent's text exactly as it is (G9). Page and terminal both use `escapeInvisible`. */
import { rightToLeftBlocks } from './right-to-left.ts'

/** A combining mark. A long run of marks draws over the surrounding text, and no writing system needs more than a few in a row. */
const mark = '(?!\\p{DI})[\\p{Mn}\\p{Me}]'
const marksMax = 4
/** Control and format characters, surrogates, private use, separators, default-ignorables, the Braille blank, spaces other than U+0020, and excess combining marks. */
const invisible = new RegExp(
  `[\\p{C}\\p{Zl}\\p{Zp}\\p{DI}\\u2800]|(?! )\\p{Zs}|(?<=(?:${mark}){${marksMax}})${mark}`,
  'u',
)
/** An emoji with a variation selector or skin tone. `emojiSequence` also matches several of them joined by U+200D. Such a sequence is visible as a whole, although some of its characters are invisible. */
const emoji = '(?!\\p{C})\\p{Extended_Pictographic}(?:\\p{Emoji_Modifier}|\\u{fe0f})?'
const emojiSequence = new RegExp(`${emoji}(?:\\u{200d}${emoji})*`, 'gu')
/** One emoji with the selector of its colored form, such as the sun. It is visible as a whole even in code, where longer sequences are escaped. */
const selectedEmoji = /(?!\p{C})\p{Extended_Pictographic}\u{fe0f}/gu
const startsWithEmoji = /^(?!\p{C})\p{Extended_Pictographic}/u

export interface EscapeOptions {
  /** Keeps line feeds and tabs, for a text that is shown with its line breaks. */
  readonly multiline?: boolean
  /** Keeps emoji that consist of several characters, such as families and skin tones. Use this only for prose, because in code that will be executed even an invisible character matters. An emoji with only a variation selector is always kept. */
  readonly keepEmoji?: boolean
  /** Also escapes letters of right-to-left scripts. Use this for code on a surface that may draw such letters in another order than they are executed. */
  readonly escapeRightToLeft?: boolean
}

interface Patterns {
  /** Matches one character to escape. */
  readonly escaped: RegExp
  /** Finds everything that `escapeInvisible` looks at. Matches a whole run of backslashes at once, so that escaping a long run takes linear time. */
  readonly found: RegExp
}

function patternsFor(keepEmoji: boolean, escapeRightToLeft: boolean): Patterns {
  const escaped = escapeRightToLeft ? `${invisible.source}|[${rightToLeftBlocks}]` : invisible.source
  const found = `${keepEmoji ? emojiSequence.source : selectedEmoji.source}|\\\\+|${escaped}`
  return { escaped: new RegExp(escaped, 'u'), found: new RegExp(found, 'gu') }
}
const patterns = {
  code: [patternsFor(false, false), patternsFor(false, true)],
  withEmoji: [patternsFor(true, false), patternsFor(true, true)],
} as const

/** Matches a text that needs no escaping. Most texts match, and matching is much faster than escaping. */
const plainAscii = /^[ !-[\]-~]*$/
const plainAsciiLines = /^[\t\n !-[\]-~]*$/

function isLayout(char: string, { multiline }: EscapeOptions): boolean {
  return multiline === true && (char === '\n' || char === '\t')
}

/** Replaces every invisible character with \u{HEX}. Doubles backslashes before an escape or a literal `u{`, so that text cannot imitate an escape. */
export function escapeInvisible(text: string, options: EscapeOptions = {}): string {
  if ((options.multiline ? plainAsciiLines : plainAscii).test(text)) return text
  const { escaped, found } = patterns[options.keepEmoji ? 'withEmoji' : 'code'][options.escapeRightToLeft ? 1 : 0]
  return text.replace(found, (match, at: number) => {
    if (startsWithEmoji.test(match)) return match
    if (match[0] !== '\\') return isLayout(match, options) ? match : `\\u{${(match.codePointAt(0) ?? 0).toString(16)}}`
    const next = at + match.length
    const following = String.fromCodePoint(text.codePointAt(next) ?? 0x20)
    const isBeforeEscape = escaped.test(following) && !isLayout(following, options)
    return text.startsWith('u{', next) || isBeforeEscape ? match + match : match
  })
}

/** Returns whether `escapeInvisible` would escape a character of this text because it is invisible. Page and terminal then show a warning. */
export function hasInvisible(text: string, options: EscapeOptions = {}): boolean {
  if ((options.multiline ? plainAsciiLines : plainAscii).test(text)) return false
  const withoutLayout = options.multiline ? text.replace(/[\n\t]/g, ' ') : text
  return invisible.test(withoutLayout.replace(options.keepEmoji ? emojiSequence : selectedEmoji, ' '))
}
