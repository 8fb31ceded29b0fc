/** Proves which programs a shell starts for a command, or says why that is not certain. Allow rules rely on it. */
import { commandProblem } from './command-name.ts'
import { type CommandToken, RefusedSyntax, readTokens, type WordToken } from './command-tokens.ts'
import {
  type CommandOperator,
  type CommandSegment,
  type NullRedirect,
  type ParsedCommand,
  provableLimits,
  unproven,
} from './parsed-command.ts'
import { isSameReading } from './same-reading.ts'
import { treeSegments } from './tree-segments.ts'

interface ReadSegment {
  readonly words: WordToken[]
  readonly operator: CommandOperator | null
  readonly redirects: NullRedirect[]
}

export function parseCommand(text: string): ParsedCommand {
  if (text.length > provableLimits.characters) return unproven('The command is too long to check.')
  const tokens = readTokens(text, 'strict')
  if (tokens instanceof RefusedSyntax) return unproven(tokens.reason)
  const read = readSegments(tokens)
  if (typeof read === 'string') return unproven(read)
  const segments = read.map(({ words, operator, redirects }) => ({
    argv: normalArgv(words.map(({ value }) => value)),
    operator,
    redirects,
  }))
  const problem = segmentsProblem(segments)
  if (problem !== null) return unproven(problem)
  return agrees(read, text)
    ? { provable: true, segments }
    : unproven('It is not certain how a shell reads the command.')
}

/** Returns the segments, or a sentence for people if the tokens are not a sequence of simple commands. */
function readSegments(tokens: readonly CommandToken[]): readonly ReadSegment[] | string {
  const segments: ReadSegment[] = [{ words: [], operator: null, redirects: [] }]
  let words = 0
  for (const token of tokens) {
    const segment = segments.at(-1) as ReadSegment // the list is never empty
    if (token.kind === 'operator') {
      if (segment.words.length === 0) return `A command is missing before ${token.operator}.`
      if (segments.push({ words: [], operator: token.operator, redirects: [] }) > provableLimits.segments)
        return 'The command has too many parts to check.'
    } else if (token.kind === 'redirect') {
      if (segment.words.length === 0) return 'The command starts with a redirect.'
      segment.redirects.push(...token.redirects)
    } else {
      if (++words > provableLimits.words) return 'The command has too many words to check.'
      const problem = wordProblem(token, segment.words)
      if (problem) return problem
      segment.words.push(token)
    }
  }
  const last = segments.at(-1)
  if (last?.words.length !== 0) return segments
  return last.operator === null ? 'The command is empty.' : `A command is missing after ${last.operator}.`
}

function wordProblem({ value, isBare }: WordToken, before: readonly WordToken[]): string | null {
  if (before.length === 0) return isBare ? null : (commandProblem([value]) ?? 'The name of the program is in quotes.')
  const isBracket = isBare && (value === '[' || (value === ']' && before[0]?.value !== '['))
  return isBracket ? 'The command expands a pattern to file names.' : null
}

/** Returns whether the second parser reads the same as the first one. */
function agrees(segments: readonly ReadSegment[], text: string): boolean {
  try {
    return isSameReading(treeSegments(text), segments)
  } catch {
    return false
  }
}

/** Rewrites `cd sub` to `cd ./sub`, because a shell looks for the folder of `cd sub` in CDPATH first. */
function normalArgv(argv: readonly string[]): readonly string[] {
  const [name, path, ...rest] = argv
  if (name !== 'cd' || !path || /^[-+]|^\.{0,2}(?:\/|$)/.test(path)) return argv
  return [name, `./${path}`, ...rest]
}

function segmentsProblem(segments: readonly CommandSegment[]): string | null {
  let folderChanges = 0
  for (const [index, { argv, operator }] of segments.entries()) {
    const problem = commandProblem(argv)
    if (problem) return problem
    if (argv[0] !== 'cd') continue
    if (operator === '|' || segments[index + 1]?.operator === '|')
      return 'The command changes the folder in a pipeline, which shells do differently.'
    if (++folderChanges > provableLimits.folderChanges) return 'The command changes the folder too often.'
  }
  return null
}
