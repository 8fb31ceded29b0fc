/**
 * Splits a shell command into words, operators and redirects, as far as all shells agree on them and nothing is expanded.
 * Everything else is refused. This is one of two readings of a command: `tree-segments.ts` asks a complete parser for the other.
 */
import { hasInvisible } from '@holdpoint/protocol'
import type { CommandOperator, NullRedirect } from './parsed-command.ts'

export interface WordToken {
  readonly kind: 'word'
  readonly value: string
  /** The start and the end of the word in the text, including its quotes. */
  readonly start: number
  readonly end: number
  /** Whether the word has neither quotes nor backslashes. */
  readonly isBare: boolean
}
export type CommandToken =
  | WordToken
  | { readonly kind: 'operator'; readonly operator: CommandOperator }
  | { readonly kind: 'redirect'; readonly redirects: readonly NullRedirect[] }

/** A command that is refused, with a sentence for people. */
export class RefusedSyntax {
  readonly reason: string
  constructor(reason: string) {
    this.reason = reason
  }
}

const spaces = / */y
const operators = /&&|\|\||[;|]/y
const nullRedirect = /(?:(<)|([12]?)>>?|(&)>>?) *\/dev\/null(?=[ ;|&]|$)|(2>&1|1?>&2)(?=[ ;|&]|$)/y
/** Characters that every shell takes literally at any position of a word. */
const plainCharacters = /[\w./:@%+,-]+/y
/** Characters that shells take literally inside a word, as in --name=value, HEAD~1 and HEAD^. Shells may expand these characters at the start of a word, and ~ also after = or :. */
const innerCharacters = /(?:(?<=[\w./:@%+,^~=-])=|(?<=[\w^~])[~^])/y
const singleQuoted = /'([^']*)'/y
/** A dollar sign before the closing quote, `|` or `)` starts no expansion. */
const doubleQuotedText = '(?:[^"\\\\$`!]|\\\\[^!]|\\$(?=["|)]))*'
const doubleQuoted = new RegExp(`"(${doubleQuotedText})"`, 'y')
const escaped = /\\([ -~])/y
/** Each of these, alone in a word, is the name or the last argument of the command `[`. In a longer word it starts or ends a pattern. */
const testBracket = /[[\]](?=[ ;|&]|$)/y

/** The characters that quotes may contain. `strict`: only visible ones. `literal`: also line breaks and all other characters that a shell leaves alone. */
export type QuotedText = 'strict' | 'literal'

/** Reads the tokens of a command one after another. */
export function readTokens(text: string, quotedText: QuotedText): readonly CommandToken[] | RefusedSyntax {
  const tokens: CommandToken[] = []
  for (let at = endOf(spaces, text, 0); at < text.length; at = endOf(spaces, text, at)) {
    const token = readRedirect(text, at) ?? readOperator(text, at) ?? readWord(text, at, quotedText)
    if (token instanceof RefusedSyntax) return token
    tokens.push(token)
    at = token.end
  }
  return tokens
}

function readRedirect(text: string, at: number): (CommandToken & { readonly end: number }) | null {
  const found = matchAt(nullRedirect, text, at)
  if (!found) return null
  const [, input, descriptor, both, copy] = found
  const end = at + found[0].length
  if (copy) return { kind: 'redirect', redirects: [copy === '2>&1' ? '2>&1' : '>&2'], end }
  if (input) return { kind: 'redirect', redirects: ['</dev/null'], end }
  if (both) return { kind: 'redirect', redirects: ['>/dev/null', '2>&1'], end }
  return { kind: 'redirect', redirects: [descriptor === '2' ? '2>/dev/null' : '>/dev/null'], end }
}

function readOperator(text: string, at: number): (CommandToken & { readonly end: number }) | null {
  const operator = matchAt(operators, text, at)?.[0] as CommandOperator | undefined // the pattern matches nothing else
  return operator ? { kind: 'operator', operator, end: at + operator.length } : null
}

function readWord(text: string, start: number, quotedText: QuotedText): WordToken | RefusedSyntax {
  const bracket = matchAt(testBracket, text, start)?.[0]
  if (bracket) return { kind: 'word', value: bracket, start, end: start + 1, isBare: true }
  let value = ''
  let isBare = true
  let at = start
  while (at < text.length && !/[ ;|&]/.test(text[at] as string)) {
    const piece = readPiece(text, at, isBare && at > start, quotedText)
    if (piece instanceof RefusedSyntax) return piece
    value += piece.value
    isBare &&= piece.isBare
    at += piece.length
  }
  return at === start ? refusal(text, at) : { kind: 'word', value, start, end: at, isBare }
}

interface WordPiece {
  readonly value: string
  /** The length of the piece in the text, with its quotes. */
  readonly length: number
  readonly isBare: boolean
}

function readPiece(text: string, at: number, isInner: boolean, quotedText: QuotedText): WordPiece | RefusedSyntax {
  const bare = matchAt(plainCharacters, text, at)?.[0] ?? (isInner ? matchAt(innerCharacters, text, at)?.[0] : null)
  if (bare) return { value: bare, length: bare.length, isBare: true }
  const quoted = matchAt(singleQuoted, text, at) ?? matchAt(doubleQuoted, text, at)
  const found = quoted ?? matchAt(escaped, text, at)
  if (!found) return refusal(text, at)
  const [{ length }, content = ''] = found
  if (quoted && !isQuotable(quoted[0], quotedText))
    return new RefusedSyntax(content.includes('\n') ? linesReason : characterReason)
  return { value: text[at] === '"' ? unescaped(content) : content, length, isBare: false }
}

function unescaped(text: string): string {
  return text.replace(/\\([\\"$`])/g, '$1')
}

const linesReason = 'The command has several lines.'
const characterReason = 'The command contains characters that a shell may read differently.'

function isQuotable(text: string, quotedText: QuotedText): boolean {
  // A shell joins the lines around a backslash at the end of a line.
  if (quotedText === 'literal') return !text.includes('\0') && !(text[0] === '"' && text.includes('\\\n'))
  return /^[ -~]*$/.test(text) || !hasInvisible(text)
}

/** The reasons why the character at a position is refused. */
const reasons: readonly (readonly [RegExp, string])[] = [
  [/\n/y, linesReason],
  [/\$\(|`/y, 'The command runs another command and uses its output.'],
  [/[<>]\(/y, 'The command passes the output of another command as a file.'],
  [/\$/y, 'The command expands a variable.'],
  [/[*?[\]]/y, 'The command expands a pattern to file names.'],
  [/[{}]/y, 'The command expands braces.'],
  [/~/y, 'The command expands ~ to a home folder.'],
  [/!/y, 'The command may use the history of the shell.'],
  [/[()]/y, 'The command groups other commands.'],
  [/&/y, 'The command runs something in the background.'],
  [/<</y, 'The command contains its own input.'],
  [/[<>]/y, 'The command redirects to or from a file.'],
  [/#/y, 'The command contains a comment.'],
  [/\\/y, 'The command ends with a backslash.'],
  [/'/y, 'A quotation mark is not closed.'],
]

function refusal(text: string, at: number): RefusedSyntax {
  if (text[at] === '"') return doubleQuoteRefusal(text, at)
  for (const [pattern, reason] of reasons) if (matchAt(pattern, text, at)) return new RefusedSyntax(reason)
  return new RefusedSyntax(characterReason)
}

const doubleQuotedStart = new RegExp(`"${doubleQuotedText}`, 'y')

/** Refuses a text in double quotes because of the first character that the pattern for them does not accept. */
function doubleQuoteRefusal(text: string, at: number): RefusedSyntax {
  const end = endOf(doubleQuotedStart, text, at)
  if (end < text.length && text[end] !== '\\') return refusal(text, end)
  return text[end + 1] === '!' ? refusal(text, end + 1) : new RefusedSyntax('A quotation mark is not closed.')
}

function matchAt(pattern: RegExp, text: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at
  return pattern.exec(text)
}
function endOf(pattern: RegExp, text: string, at: number): number {
  return at + (matchAt(pattern, text, at)?.[0].length ?? 0)
}
