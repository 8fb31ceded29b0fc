/** The grammar of `awk`: programs that only select and print fields. Awk can also run commands and write files, so only a small part of its language is accepted. */
import { flagsOf } from './grammar.ts'
import { type Program, programOf } from './grammar-check.ts'

const keywords: ReadonlySet<string> = new Set([
  ...['BEGIN', 'END', 'print', 'printf', 'if', 'else', 'for', 'in', 'while', 'next', 'exit', 'delete', 'break'],
  ...['continue', 'do'],
])
const functions: ReadonlySet<string> = new Set([
  ...['length', 'substr', 'index', 'split', 'sub', 'gsub', 'match', 'tolower', 'toupper', 'sprintf', 'int'],
  ...['sqrt', 'exp', 'log', 'sin', 'cos', 'atan2', 'rand', 'srand'],
])
const variables: ReadonlySet<string> = new Set([
  ...['NR', 'FNR', 'NF', 'FS', 'OFS', 'RS', 'ORS', 'FILENAME', 'RSTART', 'RLENGTH', 'SUBSEP'],
])
/** Names that run commands, read or write files, or are keywords or functions of some versions of awk only. */
const refusedNames: ReadonlySet<string> = new Set([
  ...['system', 'getline', 'close', 'fflush', 'function', 'func', 'nextfile', 'include', 'load', 'namespace', 'eval'],
  ...['return', 'switch', 'case', 'default', 'gensub', 'strtonum', 'asort', 'asorti', 'systime', 'mktime', 'strftime'],
  ...['and', 'or', 'xor', 'compl', 'lshift', 'rshift', 'patsplit', 'typeof', 'isarray', 'mkbool'],
])

const token =
  /[ \t]+|(\n)|(\d+(?:\.\d+)?)|("(?:[^"\\\n]|\\[^\n])*")|([A-Za-z_]\w*)|&&|\|\||[=!<>]=|\+\+|--|[-+*%]=|!~|[-+*%^!~<>=?:,;(){}$[\]]/y
/** After these tokens, a value is expected, so a slash starts a regular expression in every version of awk. */
const beforeValue: ReadonlySet<string> = new Set(['', '{', '}', ';', '(', ',', '!', '~', '!~', '&&', '||'])
/** A regular expression whose end is the same for every version of awk: no slash, bracket or backslash in a set, and no quotation mark. */
const regex = /\/(?!=)(?:[^/\\\n[\]"]|\\[^\n"]|\[\^?(?:\[:[a-z]+:\]|[^\]\\\n/["^])(?:\[:[a-z]+:\]|[^\]\\\n/["])*\])+\//y

/** Reads an awk program token by token. */
class ProgramReader {
  readonly #text: string
  #at = 0
  #depth = 0
  #isPrinting = false
  #hasDivision = false
  #last = ''
  /** Whether a slash after the last token is a division sign. */
  #isAfterOperand = false
  /** For each open parenthesis, whether it belongs to a keyword such as `if`. A slash after such a parenthesis is no division sign. */
  readonly #parentheses: boolean[] = []

  constructor(text: string) {
    this.#text = text
  }

  /** Returns whether the program only selects and prints. */
  read(): boolean {
    while (this.#at < this.#text.length)
      if (!(this.#text[this.#at] === '/' ? this.#readSlash() : this.#readToken())) return false
    return this.#depth === 0 && !(this.#hasDivision && hasQuoteBetweenSlashes(this.#text))
  }

  #readSlash(): boolean {
    if (this.#isAfterOperand) {
      this.#hasDivision = true
      this.#at += this.#text[this.#at + 1] === '=' ? 2 : 1
      this.#note('/', false)
      return true
    }
    const found = beforeValue.has(this.#last) ? this.#match(regex) : null
    if (found) this.#note('regular expression', false)
    return found !== null
  }

  #readToken(): boolean {
    const found = this.#match(token)
    if (!found) return false
    const [value, lineBreak, number, string, name] = found
    if (lineBreak) this.#isAfterOperand = false
    if (value.trim() === '') return true
    if (name !== undefined) return this.#readName(name)
    if (value === '(') this.#parentheses.push(['if', 'while', 'for'].includes(this.#last))
    const closesKeyword = value === ')' && this.#parentheses.pop() !== false
    if (value === '{') this.#depth++
    if (value === '}') this.#depth--
    if (value === '{' || value === '}' || value === ';') this.#isPrinting = false
    // After print, `>` writes a file. In parentheses it compares, but this reader does not distinguish the two.
    if (this.#isPrinting && value === '>') return false
    this.#note(
      string === undefined ? value : 'string',
      number !== undefined || value === ']' || (value === ')' && !closesKeyword),
    )
    return true
  }

  /** A name that is called must be a known function. Names in lower case that are not called are variables. */
  #readName(name: string): boolean {
    const isCalled = /^[ \t]*\(/.test(this.#text.slice(this.#at, this.#at + 100))
    if (name === 'print' || name === 'printf') this.#isPrinting = true
    const isVariable = variables.has(name) || (/^[a-z_][a-z_0-9]*$/.test(name) && !keywords.has(name))
    this.#note(name, isVariable && !functions.has(name))
    if (refusedNames.has(name)) return false
    if (keywords.has(name)) return true
    // `length` is the only function that every version of awk knows without parentheses.
    return functions.has(name) ? isCalled || name === 'length' : isVariable && !isCalled
  }

  #note(last: string, isAfterOperand: boolean): void {
    this.#last = last
    this.#isAfterOperand = isAfterOperand
  }

  #match(pattern: RegExp): RegExpExecArray | null {
    pattern.lastIndex = this.#at
    const found = pattern.exec(this.#text)
    if (found) this.#at += found[0].length
    return found
  }
}

/** If a slash could divide or start a regular expression, a quotation mark after it could start a string or belong to that expression. Without such marks, every reading of the program finds the same strings. */
function hasQuoteBetweenSlashes(text: string): boolean {
  return text
    .split('/')
    .slice(1, -1)
    .some(part => part.includes('"'))
}

export function isPrintingProgram(text: string): boolean {
  return new ProgramReader(text).read()
}

export const awk: Program = programOf({
  group: 'only-reads',
  style: 'clusters',
  flags: flagsOf('-F=text -v=text'),
  // An operand such as `FS=x` sets a variable instead of naming a file, which is harmless.
  operands: { first: ['text'], others: 'file' },
  refuses: ({ operands: [program] }) =>
    program !== undefined && isPrintingProgram(program) ? null : 'The awk program does more than print.',
})
