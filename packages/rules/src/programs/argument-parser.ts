/** Splits the arguments of a program into options and operands by its grammar. Refuses every option that the grammar does not list. */
import { quote } from '../files/check-path.ts'
import type { Flag, Grammar, ParsedArguments } from './grammar.ts'

/** A flag with its value. */
export interface FoundValue {
  readonly flag: Flag
  readonly name: string
  readonly value: string
}

export interface ArgumentReading extends ParsedArguments {
  readonly values: readonly FoundValue[]
  /** A second reading of the arguments, for systems that take every word after the first operand as an operand; null if that makes no difference. */
  readonly withoutLateOptions: readonly string[] | null
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
  withoutLateOptions: readonly string[] | null = null
  readonly #args: readonly string[]
  readonly #grammar: Grammar
  #at = 0
  #firstOperandAt = -1

  constructor(args: readonly string[], grammar: Grammar) {
    this.#args = args
    this.#grammar = grammar
  }

  /** Returns why the arguments are refused, or null. */
  read(): string | null {
    for (let arg = this.#next(); arg !== undefined; arg = this.#next()) {
      if (looksLikeOption(arg) && this.#firstOperandAt >= 0) {
        if (this.#grammar.optionsFirst) return unknown(arg)
        if (this.#grammar.style === 'clusters') this.#noteLateOption(this.#firstOperandAt)
      }
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
    if (!looksLikeOption(arg)) {
      if (this.#firstOperandAt < 0) this.#firstOperandAt = this.#at - 1
      this.operands.push(arg)
      return null
    }
    if (/^-\d+$/.test(arg) && this.#grammar.flags.has('-#')) return this.#add('-#', arg.slice(1))
    if (arg.startsWith('--') || this.#readsWords) return this.#readLong(arg)
    return this.#readCluster(arg)
  }

  #readLong(arg: string): string | null {
    const equals = arg.indexOf('=')
    const written = equals < 0 ? arg : arg.slice(0, equals)
    // Go's programs read --run like -run, and xxd reads --c like -c.
    const name = this.#readsWords ? written.replace(/^--/, '-') : written
    const flag = this.#grammar.flags.get(name)
    if (!flag) return unknown(written)
    if (equals >= 0) return flag.value === 'none' ? unknown(arg) : this.#add(name, arg.slice(equals + 1))
    return flag.value === 'required' ? this.#addNext(name, flag) : this.#add(name, '')
  }

  #readCluster(arg: string): string | null {
    for (let at = 1; at < arg.length; at++) {
      const name = `-${arg[at]}`
      const flag = this.#grammar.flags.get(name)
      if (!flag) return unknown(at === 1 && arg.length === 2 ? arg : `${name} in ${arg}`)
      if (this.#grammar.style === 'alone' && flag.value !== 'none' && arg.length > 2)
        return `The value of ${name} must be a word of its own.`
      const attached = arg.slice(at + 1)
      if (flag.value !== 'none' && attached !== '') return this.#add(name, attached)
      if (flag.value === 'required') return this.#addNext(name, flag)
      this.#add(name, '')
    }
    return null
  }

  /** Adds the next word as the value of the flag, but refuses a word that looks like an option: it would be an option for a version of the program that knows the flag without a value, or not at all. */
  #addNext(name: string, { kind }: Flag): string | null {
    const value = this.#next()
    if (value === undefined) return `The value of ${name} is missing.`
    const isNegative = kind === 'number' && this.#grammar.style === 'clusters' && /^-\d+$/.test(value)
    if (looksLikeOption(value) && !isNegative)
      return `${quote(value)} looks like an option, not like the value of ${name}.`
    return this.#add(name, value)
  }

  get #readsWords(): boolean {
    return this.#grammar.style === 'words'
  }

  #noteLateOption(firstOperandAt: number): void {
    this.withoutLateOptions ??= [...this.#args.slice(0, firstOperandAt), '--', ...this.#args.slice(firstOperandAt)]
  }

  #add(name: string, value: string): null {
    const given = this.flags.get(name) ?? []
    this.flags.set(name, given)
    given.push(value)
    const flag = this.#grammar.flags.get(name) as Flag // every caller has checked that the grammar lists the flag
    if (flag.value === 'required' || value !== '') this.values.push({ flag, name, value })
    return null
  }
}

/** `-` alone is standard input or a value for every program. */
export function looksLikeOption(word: string): boolean {
  return word.startsWith('-') && word !== '-'
}

function unknown(option: string): string {
  return `The option ${quote(option)} is not on the list of harmless options.`
}
