/** The grammar of `awk`: programs that only select and print fields. Awk can also run commands and write files, so only a small part of its language is accepted. */
import type { CallSite } from '../site.ts'
import { parseArguments } from './argument-parser.ts'
import { flagsOf } from './grammar.ts'
import { type ArgumentCheck, checkGrammar, type Program, refuse } from './grammar-check.ts'

const flags = flagsOf('-F=text -v=text')
const grammar = { group: 'only-reads', style: 'clusters', flags, operands: { others: 'file' } } as const

/** Names that only compute. `system`, `getline`, `close`, ENVIRON, ARGV, `@include` and functions of the user are not among them. */
const names: ReadonlySet<string> = new Set([
  ...['BEGIN', 'END', 'NR', 'FNR', 'NF', 'FS', 'OFS', 'RS', 'ORS', 'FILENAME', 'RSTART', 'RLENGTH', 'SUBSEP'],
  ...['print', 'printf', 'if', 'else', 'for', 'in', 'while', 'next', 'exit', 'delete', 'break', 'continue', 'do'],
  ...['length', 'substr', 'index', 'split', 'sub', 'gsub', 'match', 'tolower', 'toupper', 'sprintf', 'int'],
])
const token =
  /\s+|(\d+(?:\.\d+)?)|("(?:[^"\\\n]|\\[^\n])*")|([A-Za-z_]\w*)|(&&|\|\||[=!<>]=|\+\+|--|[-+*%/]=|!~|[-+*%^!~<>=?:,;(){}$[\]/])/y

/** Returns whether an awk program only selects and prints. */
export function isPrintingProgram(text: string): boolean {
  let depth = 0
  let isPrinting = false
  let last = ''
  for (let at = 0; at < text.length; ) {
    const regex = startsRegex(last) ? regexAt(text, at) : null
    token.lastIndex = at
    const found = regex ? null : token.exec(text)
    if (!regex && !found) return false
    const value = regex ?? (found?.[0] as string)
    at += value.length
    // A line break does not end the statement after a comma, so it does not end printing here.
    if (found && value.trim() === '') continue
    if (found?.[3] && !isHarmlessName(value, text, at)) return false
    if (value === '{') depth++
    if (value === '}') depth--
    if (value === '{' || value === '}' || value === ';') isPrinting = false
    if (value === 'print' || value === 'printf') isPrinting = true
    // After print, `>` writes a file. In parentheses it compares, but then the shape of the whole is hard to follow.
    if (isPrinting && value === '>') return false
    last = value
  }
  return depth === 0
}

/** A name that is called must be on the list; other names are variables. */
function isHarmlessName(name: string, text: string, end: number): boolean {
  if (names.has(name)) return true
  return /^[a-z_][a-z_0-9]*$/.test(name) && !reserved.has(name) && !/^\s*\(/.test(text.slice(end, end + 100))
}
const reserved: ReadonlySet<string> = new Set([
  'system',
  'getline',
  'close',
  'fflush',
  'function',
  'func',
  'nextfile',
  'include',
  'load',
  'namespace',
])

/** A slash is a division after a value, and starts an expression to search for elsewhere. */
function startsRegex(last: string): boolean {
  return last === '' || /^(?:[(,{};!~&|]|&&|\|\||!~)$/.test(last)
}
const regexPattern = /\/(?:[^/\\\n[\]]|\\[^\n]|\[(?:[^\]\\\n/]|\\[^\n])+\])*\//y
function regexAt(text: string, at: number): string | null {
  regexPattern.lastIndex = at
  return regexPattern.exec(text)?.[0] ?? null
}

export const awk: Program = {
  check(args: readonly string[], site: CallSite): ArgumentCheck {
    const parsed = parseArguments(args, grammar)
    if (typeof parsed === 'string') return refuse(parsed)
    const [program] = parsed.operands
    if (program === undefined || !isPrintingProgram(program)) return refuse('The program of awk does more than print.')
    // An operand such as `FS=x` sets a variable instead of naming a file, which is harmless.
    return checkGrammar(args, { ...grammar, operands: { first: ['text'], others: 'file' } }, site)
  },
}
