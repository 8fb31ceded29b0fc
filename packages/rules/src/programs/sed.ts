/** The grammar of `sed`: scripts that only print. A script can also write files (`w`) and run commands (`e`), so every command of it is checked. */

import type { CallSite } from '../site.ts'
import { parseArguments } from './argument-parser.ts'
import { flagsOf } from './grammar.ts'
import { type ArgumentCheck, checkGrammar, type Program, refuse } from './grammar-check.ts'

/** Inside brackets, some versions of sed take a delimiter literally and others do not, so brackets must not contain one. */
const expression = String.raw`/(?:[^/\\\n[]|\\[^\n]|\[\^?\]?[^\]/\\\n]*\])*/I?`
const address = new RegExp(String.raw`^(?:\d+(?:~\d+)?|\$|${expression})`)
const secondAddress = new RegExp(String.raw`^ *, *(?:[+~]?\d+|\$|${expression})`)
/** A substitution with the usual delimiters. The flags e and w, which run a command and write a file, are not among the flags. */
const substitution =
  /^s([/|#,@:!])(?:(?!\1)[^\\\n[]|\\[^\n]|\[\^?\]?(?:(?!\1)[^\]\\\n])*\])*\1(?:(?!\1)[^\\\n]|\\[^\n])*\1[gpiI0-9]*/

/** Returns whether a script consists only of commands that print or leave out lines. */
export function isPrintingScript(script: string): boolean {
  let rest = script.trim()
  while (rest !== '') {
    const first = address.exec(rest)?.[0] ?? ''
    rest = rest.slice(first.length)
    if (first !== '') rest = rest.slice(secondAddress.exec(rest)?.[0].length ?? 0)
    rest = rest.replace(/^ *! */, '').trimStart()
    const command = substitution.exec(rest)?.[0] ?? /^(?:[pdD=lnN]|q(?: *\d+)?)/.exec(rest)?.[0]
    if (command === undefined) return false
    rest = rest.slice(command.length).replace(/^ */, '')
    if (rest !== '' && !/^[;\n]/.test(rest)) return false
    rest = rest.replace(/^[;\n\s]+/, '')
  }
  return true
}

const flags = flagsOf(
  '-n -E -r -s -u -z -e=text --quiet --silent --expression=text --regexp-extended --separate --posix',
)
const grammar = { group: 'only-reads', style: 'clusters', flags, operands: { others: 'file' } } as const

export const sed: Program = {
  check(args: readonly string[], site: CallSite): ArgumentCheck {
    const parsed = parseArguments(args, grammar)
    if (typeof parsed === 'string') return refuse(parsed)
    const scripts = [...(parsed.flags.get('-e') ?? []), ...(parsed.flags.get('--expression') ?? [])]
    const isFirst = scripts.length === 0
    if (isFirst) scripts.push(parsed.operands[0] ?? '')
    if (!scripts.every(isPrintingScript)) return refuse('The script of sed does more than print lines.')
    return checkGrammar(args, { ...grammar, operands: { first: isFirst ? ['text'] : [], others: 'file' } }, site)
  },
}
