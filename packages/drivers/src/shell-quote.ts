/** Quotes words for a POSIX shell. */

/** Joins words into a command line. Words without a character that shells interpret stay unquoted, so that people can read them. */
export function joinWords(words: readonly string[]): string {
  return words.map(word => (/^[\w./:@%+=,-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`)).join(' ')
}
