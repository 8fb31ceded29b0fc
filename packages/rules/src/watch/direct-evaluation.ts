/** Turns conditions as people usually write them into functions. The library for CEL walks through the parts of a condition each time, which takes several times as long. Conditions with other parts are left to the library. */
import type { ASTNode } from '@marcbachmann/cel-js'
import { type CelFields, type RecentFacts, recentFields, type WatchFacts } from './condition-names.ts'
import { durationMs } from './condition-work.ts'

type Evaluate = (facts: WatchFacts) => unknown
/** A part of a condition. Its type is that of CEL. */
interface Part {
  readonly type: string
  readonly evaluate: Evaluate
}
/** The variable of a list function. */
interface Item {
  readonly type: string
  current: unknown
}

export interface DirectNames {
  /** The fields of each name that conditions know. */
  readonly fields: Readonly<Record<string, CelFields>>
  readonly recent: (withinMs: number) => readonly RecentFacts[]
}

/** Returns a function with the same results as the library; null if the condition has a part that is left to the library. The library must have checked the types of the condition. The function throws if a value is missing, and the library then says which. */
export function directEvaluation(ast: ASTNode, names: DirectNames): Evaluate | null {
  return new DirectCompiler(names).visit(ast)?.evaluate ?? null
}

const recentCall = 'RecentCall'
const itemTypes: Readonly<Record<string, string>> = { 'list<string>': 'string', 'list<RecentCall>': recentCall }
const scalars: ReadonlySet<string> = new Set(['bool', 'int', 'double', 'string'])
const numbers: ReadonlySet<string> = new Set(['int', 'double'])
const literalTypes: Readonly<Record<string, string>> = {
  boolean: 'bool',
  bigint: 'int',
  number: 'double',
  string: 'string',
}
const listFunctions: ReadonlySet<string> = new Set(['exists', 'all', 'filter'])

class DirectCompiler {
  readonly #names: DirectNames
  readonly #items = new Map<string, Item>()

  constructor(names: DirectNames) {
    this.#names = names
  }

  visit(node: ASTNode): Part | null {
    switch (node.op) {
      case 'value':
        return literal(node.args)
      case 'id': {
        const item = this.#items.get(node.args)
        return item ? { type: item.type, evaluate: () => item.current } : null
      }
      case '.':
        return this.#field(node.args[0], node.args[1])
      case '!_':
        return negation(this.visit(node.args))
      case '&&':
      case '||':
      case 'in':
      case '==':
      case '!=':
      case '<':
      case '<=':
      case '>':
      case '>=':
        return operation(node.op, this.visit(node.args[0]), this.visit(node.args[1]))
      case 'call':
        return this.#call(node.args[0], node.args[1])
      case 'rcall':
        return this.#method(node.args[0], node.args[1], node.args[2])
      default:
        return null
    }
  }

  #field(holder: ASTNode, name: string): Part | null {
    if (holder.op !== 'id') return null
    const item = this.#items.get(holder.args)
    const fields = item?.type === recentCall ? recentFields : this.#names.fields[holder.args]
    const type = fields && Object.hasOwn(fields, name) ? fields[name] : undefined
    if (type === undefined) return null
    if (item) return { type, evaluate: () => present((item.current as Fields)[name]) } // only items with fields have this type
    const known = holder.args as keyof WatchFacts // the library knows no other names with fields
    return { type, evaluate: facts => present((facts[known] as unknown as Fields)[name]) }
  }

  #call(name: string, args: readonly ASTNode[]): Part | null {
    const [arg] = args
    if (!arg || args.length > 1) return null
    if (name === 'size') return size(this.visit(arg))
    const withinMs = arg.op === 'value' && typeof arg.args === 'string' ? durationMs(arg.args) : null
    if (name !== 'recent' || withinMs === null) return null
    const { recent } = this.#names
    return { type: 'list<RecentCall>', evaluate: () => recent(withinMs) }
  }

  #method(name: string, receiver: ASTNode, args: readonly ASTNode[]): Part | null {
    const subject = this.visit(receiver)
    if (!subject) return null
    if (listFunctions.has(name)) return this.#each(name, subject, args)
    const [arg] = args
    if (!arg) return name === 'size' ? size(subject) : null
    const given = this.visit(arg)
    if (args.length > 1 || subject.type !== 'string' || given?.type !== 'string') return null
    const [text, part] = [subject.evaluate as Texts, given.evaluate as Texts] // their type is "string"
    if (name === 'contains') return { type: 'bool', evaluate: facts => text(facts).includes(part(facts)) }
    if (name === 'startsWith') return { type: 'bool', evaluate: facts => text(facts).startsWith(part(facts)) }
    return name === 'endsWith' ? { type: 'bool', evaluate: facts => text(facts).endsWith(part(facts)) } : null
  }

  #each(name: string, list: Part, [variable, test]: readonly ASTNode[]): Part | null {
    const type = itemTypes[list.type]
    if (type === undefined || variable?.op !== 'id' || !test) return null
    const item: Item = { type, current: undefined }
    this.#items.set(variable.args, item)
    const tested = this.visit(test)
    this.#items.delete(variable.args)
    if (tested?.type !== 'bool') return null
    const items = list.evaluate as Lists // its type is a list
    const passes = (facts: WatchFacts) => (each: unknown) => {
      item.current = each
      return tested.evaluate(facts) === true
    }
    if (name === 'filter') return { type: list.type, evaluate: facts => items(facts).filter(passes(facts)) }
    if (name === 'all') return { type: 'bool', evaluate: facts => items(facts).every(passes(facts)) }
    return { type: 'bool', evaluate: facts => items(facts).some(passes(facts)) }
  }
}

type Fields = Readonly<Record<string, unknown>>
type Texts = (facts: WatchFacts) => string
type Lists = (facts: WatchFacts) => readonly unknown[]
type Numbers = (facts: WatchFacts) => number

function present(value: unknown): unknown {
  if (value === undefined) throw new Error('a value is missing')
  return value
}

function literal(value: unknown): Part | null {
  const type = literalTypes[typeof value]
  return type === undefined ? null : { type, evaluate: () => value }
}

function negation(part: Part | null): Part | null {
  return part?.type === 'bool' ? { type: 'bool', evaluate: facts => part.evaluate(facts) !== true } : null
}

function size(part: Part | null): Part | null {
  if (!part || itemTypes[part.type] === undefined) return null
  const items = part.evaluate as Lists // its type is a list
  return { type: 'int', evaluate: facts => BigInt(items(facts).length) }
}

function operation(op: string, left: Part | null, right: Part | null): Part | null {
  const evaluate = left && right && operator(op, left, right)
  return evaluate ? { type: 'bool', evaluate } : null
}

function operator(op: string, left: Part, right: Part): Evaluate | null {
  const [a, b] = [left.evaluate, right.evaluate]
  if (op === '&&' || op === '||') {
    if (left.type !== 'bool' || right.type !== 'bool') return null
    return op === '&&'
      ? facts => a(facts) === true && b(facts) === true
      : facts => a(facts) === true || b(facts) === true
  }
  if (op === 'in') {
    if (left.type !== 'string' || right.type !== 'list<string>') return null
    const list = b as Lists // its type is a list
    return facts => list(facts).includes(a(facts))
  }
  if (op === '==' || op === '!=') {
    if (left.type !== right.type || !scalars.has(left.type)) return null
    return op === '==' ? facts => a(facts) === b(facts) : facts => a(facts) !== b(facts)
  }
  return numbers.has(left.type) && numbers.has(right.type) ? comparison(op, a as Numbers, b as Numbers) : null // JavaScript compares bigints and numbers with each other
}

function comparison(op: string, a: Numbers, b: Numbers): Evaluate {
  if (op === '<') return facts => a(facts) < b(facts)
  if (op === '<=') return facts => a(facts) <= b(facts)
  return op === '>' ? facts => a(facts) > b(facts) : facts => a(facts) >= b(facts)
}
