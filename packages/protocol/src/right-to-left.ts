/** Finds letters of right-to-left scripts, such as Hebrew and Arabic. Software that follows the Unicode bidirectional algorithm draws a text with such letters in another order than the text is stored and executed. */

/** The blocks that Unicode reserves for right-to-left scripts (DerivedBidiClass.txt): their letters, digits, marks and punctuation, including those of later Unicode versions. For use inside a character class. */
export const rightToLeftBlocks =
  '\\u0590-\\u08ff\\ufb1d-\\ufdff\\ufe70-\\ufefe\\u{10800}-\\u{10fff}\\u{1e800}-\\u{1efff}'

const letter = new RegExp(`[${rightToLeftBlocks}]`, 'u')
const words = new RegExp(`[${rightToLeftBlocks}]+|[^${rightToLeftBlocks}]+`, 'gu')
/** Matches text of right-to-left words, spaces and the punctuation of a sentence. Such a text has nothing that reads from left to right, and no signs that mean something in code. */
const onlyWords = new RegExp(`^[${rightToLeftBlocks} .,!?'"…-]*$`, 'u')

export function hasRightToLeft(text: string): boolean {
  return letter.test(text)
}

/** Returns whether the whole text reads from right to left. Drawn from right to left, such a text keeps its order. Any other text with right-to-left letters mixes two directions. */
export function readsRightToLeft(text: string): boolean {
  return letter.test(text) && onlyWords.test(text)
}

export interface DirectionRun {
  readonly text: string
  readonly isRightToLeft: boolean
}

/** Splits a text into right-to-left words and the text between them. */
export function splitRightToLeft(text: string): readonly DirectionRun[] {
  return Array.from(text.matchAll(words), ([run]) => ({ text: run, isRightToLeft: letter.test(run) }))
}
