/** Removes the shell that some agents put around every command, such as /bin/bash -lc '…'. */
import { RefusedSyntax, readTokens } from './command-tokens.ts'
import { treeSegments } from './tree-segments.ts'

const shell = /^(?:\/(?:usr\/(?:local\/)?)?bin\/|\/opt\/homebrew\/bin\/)?(?:bash|dash|sh|zsh)$/
/** The options that only say that a command follows, or that start-up files are read first. */
const options = /^(?:-c|-lc|-cl|(?:-l|--login) -c)$/
const lengthMax = 131_072

/**
 * Returns the command inside, or null unless the text is a shell with exactly one literal argument: the command. An agent
 * may also give the words themselves. The result is a shell command that has not been checked yet.
 */
export function unwrapShell(command: string | readonly string[]): string | null {
  const argv = typeof command === 'string' ? literalWords(command) : command
  const script = argv?.at(-1)
  if (!argv || script === undefined || !shell.test(argv[0] ?? '') || !options.test(argv.slice(1, -1).join(' ')))
    return null
  // A shell would read a first character - or + as the start of another option.
  return /^[-+]|\0/.test(script) ? null : script
}

/** Returns the words of a text that is one simple command without any expansion or redirect, or null if it is something else. */
function literalWords(text: string): readonly string[] | null {
  if (text.length > lengthMax) return null
  const tokens = readTokens(text, 'literal')
  if (tokens instanceof RefusedSyntax) return null
  const words = tokens.flatMap(token => (token.kind === 'word' ? [token.value] : []))
  if (words.length !== tokens.length) return null
  try {
    const [segment, ...others] = treeSegments(text) ?? []
    const isSame = others.length === 0 && segment?.words.map(({ value }) => value).join('\0') === words.join('\0')
    return isSame ? words : null
  } catch {
    return null
  }
}
