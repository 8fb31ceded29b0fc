/** Splits the arguments of a program into options and operands by its grammar. Refuses every option that the grammar does not list. */
import { quote } from '../files/check-path.ts'
import type { Flag, Grammar, ParsedArguments } from './grammar.ts'

/** A flag with its value, and how the value was written. */
export interface FoundValue {
  readonly flag: Flag
  readonly name: string
  readonly value: string
  /** Whether the value is a word of its own behind an operand. Some systems take such an option and its value for operands. */
  readonly mayBeOperand: boolean
}

export interface ArgumentReading extends ParsedArguments {
  readonly values: readonly FoundValue[]
}

export function parseArguments(args: readonly string[], grammar: Grammar): ArgumentReading | string {
  const reader = new ArgumentReader(args, grammar)
  return reader.read() ?? reader
}

class ArgumentReader implements ArgumentReading {
  readonly flags = new Map<string, string[]>()
  readonly operands: string[] = []
  readonly values: FoundValue[] = []
  rest: readonly string[] = []
  readonly #args: readonly string[]
  readonly #grammar: Grammar
  #at = 0

  constructor(args: readonly string[], grammar: Grammar) {
    this.#args = args
    this.#grammar = grammar
  }

  /** Returns why the arguments are refused, or null. */
  read(): string | null {
    for (let arg = this.#next(); arg !== undefined; arg = this.#next()) {
      if (arg === '--') {
        const rest = this.#args.slice(this.#at)
        if (this.#grammar.passedOn) this.rest = rest
        else this.operands.push(...rest)
        return null
      }
      const problem = this.#readArgument(arg)
      if (problem) return problem
    }
    return null
  }

  #next(): string | undefined {
    return this.#args[this.#at++]
  }

  #readArgument(arg: string): string | null {
    if (!arg.startsWith('-') || arg === '-') {
      this.operands.push(arg)
      return null
    }
    if (/^-\d+$/.test(arg) && this.#grammar.flags.has('-#')) return this.#add('-#', arg.slice(1), false)
    if (arg.startsWith('--') || this.#grammar.style === 'words') return this.#readLong(arg)
    return this.#readCluster(arg)
  }

  #readLong(arg: string): string | null {
    const equals = arg.indexOf('=')
    const written = equals < 0 ? arg : arg.slice(0, equals)
    // Go's programs read --run like -run.
    const name = this.#grammar.style === 'words' ? written.replace(/^--/, '-') : written
    const flag = this.#grammar.flags.get(name)
    if (!flag) return unknown(written)
    if (equals >= 0) return flag.value === 'none' ? unknown(arg) : this.#add(name, arg.slice(equals + 1), false)
    return flag.value === 'required' ? this.#addNext(name) : this.#add(name, '', false)
  }

  #readCluster(arg: string): string | null {
    for (let at = 1; at < arg.length; at++) {
      const name = `-${arg[at]}`
      const flag = this.#grammar.flags.get(name)
      if (!flag) return unknown(at === 1 && arg.length === 2 ? arg : `${name} in ${arg}`)
      const attached = arg.slice(at + 1)
      if (flag.value !== 'none' && attached !== '') return this.#add(name, attached, false)
      if (flag.value === 'required') return this.#addNext(name)
      this.#add(name, '', false)
    }
    return null
  }

  #addNext(name: string): string | null {
    const value = this.#next()
    if (value === undefined) return `The value of ${name} is missing.`
    return this.#add(name, value, this.#grammar.style === 'clusters' && this.operands.length > 0)
  }

  #add(name: string, value: string, mayBeOperand: boolean): null {
    const given = this.flags.get(name) ?? []
    this.flags.set(name, given)
    given.push(value)
    const flag = this.#grammar.flags.get(name) as Flag // every caller has looked the flag up
    if (flag.value === 'required' || value !== '') this.values.push({ flag, name, value, mayBeOperand })
    return null
  }
}

function unknown(option: string): string {
  return `The option ${quote(option)} is not on the list of harmless options.`
}
