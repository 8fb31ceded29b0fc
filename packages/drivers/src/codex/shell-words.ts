/** Command lines of Codex: removes the shell that Codex puts around each command, so that `/bin/bash -lc 'npm test'` becomes `npm test`, and splits words. */

/** Shells that the system or the person has installed. A shell of the project could do anything with the command, so it is not included. */
const shells = /^(?:(?:\/usr\/local|\/opt\/homebrew|\/usr)?\/bin\/)?(?:bash|zsh|dash|sh)$/
const flags: ReadonlySet<string | undefined> = new Set(['-lc', '-c'])

/** Returns the script that the shell runs, or the command itself if it is not a shell with a script. */
export function unwrapShell(command: string): string {
  const [shell = '', flag, script, ...rest] = splitWords(command) ?? []
  return shells.test(shell) && flags.has(flag) && script !== undefined && rest.length === 0 ? script : command
}

/** Splits a command line that Codex has joined from words, each in POSIX quoting. Returns null if it has anything else, such as an operator or an expansion, or if a quotation is not closed. */
export function splitWords(text: string): readonly string[] | null {
  const words: string[] = []
  let word: string | null = null
  let quote = ''
  for (let at = 0; at < text.length; at++) {
    const char = text.charAt(at)
    if (quote === "'") {
      if (char === quote) quote = ''
      else word += char
    } else if (char === '\\' && (quote === '' || '$`"\\\n'.includes(text.charAt(at + 1)))) {
      if (++at >= text.length) return null
      word = (word ?? '') + text.charAt(at)
    } else if (quote === '"') {
      if (char === quote) quote = ''
      else if (char === '$' || char === '`') return null
      else word += char
    } else if (char === "'" || char === '"') {
      quote = char
      word ??= ''
    } else if (char === ' ') {
      if (word !== null) words.push(word)
      word = null
    } else if (/[\s;&|<>()$`*?[{}~#!]/.test(char)) return null
    else word = (word ?? '') + char
  }
  if (quote !== '') return null
  return word === null ? words : [...words, word]
}
