/** Splits a shell command into tokens, to color it and to find the names of the programs that it runs. This is not a full parser, so it must not be used to judge what a command does. */

export interface ShellToken {
  readonly text: string
  readonly kind: 'comment' | 'string' | 'variable' | 'operator' | 'word' | 'blank'
  /** True for a word at a position at which a shell expects the name of a program. */
  readonly startsCommand: boolean
}

/** Matches one token at a time. Every character belongs to a token, and an unclosed quote extends to the end of the text. */
const tokenPattern =
  /(?<comment>(?<![^\s;|&()])#[^\n]*)|(?<string>'[^']*'?|"(?:\\[\s\S]|[^"\\])*"?)|(?<variable>\$(?:\{[^}]*\}?|\w+|[^\w\s]?))|(?<operator>[|&;<>()\n]+)|(?<word>(?:\\[\s\S]|[^\s'"$|&;<>()\\])+)|\s|\\/g
const kinds = ['comment', 'string', 'variable', 'operator', 'word'] as const

export function shellTokens(command: string): readonly ShellToken[] {
  let startsCommand = true
  return Array.from(command.matchAll(tokenPattern), ({ 0: text, groups = {} }): ShellToken => {
    const kind = kinds.find(name => groups[name] !== undefined) ?? 'blank'
    // An assignment such as FOO=1 may come before the name of the program.
    const isAssignment = kind === 'word' && text.includes('=')
    const isName = startsCommand && kind === 'word' && !isAssignment
    if (kind === 'operator') startsCommand = !/[<>]$/.test(text)
    else if (kind !== 'comment' && text.trim() !== '' && !/^\w+=/.test(text)) startsCommand = false
    return { text, kind, startsCommand: isName }
  })
}

/** Returns the names of the programs that the command runs, as far as they are written in the command itself, without quotes. */
export function programNames(command: string): readonly string[] {
  const names: string[] = []
  let [name, isProgram] = ['', true]
  const end = () => {
    if (name !== '') names.push(name.replace(/['"\\]/g, ''))
    name = ''
  }
  for (const { text, kind } of shellTokens(command)) {
    if (kind === 'operator') {
      end()
      isProgram = !/[<>]$/.test(text)
    } else if (kind === 'blank' && text !== '\\') {
      // A space after FOO=1 does not end the search for the program.
      isProgram &&= name === '' || /^\w+=/.test(name)
      if (isProgram) name = ''
      else end()
    } else if (isProgram && kind !== 'comment') name += text
  }
  end()
  return names
}
