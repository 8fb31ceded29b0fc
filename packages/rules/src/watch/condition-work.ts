/** Estimates how much work a condition can be, and refuses what conditions may not use. A file that nobody has trusted must not keep the gateway busy, so the work is limited before anything is evaluated. */
import { limits } from '@holdpoint/protocol'
import type { ASTNode } from '@marcbachmann/cel-js'
import { watchTexts } from './texts.ts'

/** The length of a shell command that conditions can read. If a command is longer, a condition that reads it cannot be evaluated. */
export const readCommandMax = 16 * 1024
/** The part of a message that conditions can read. */
export const readPromptMax = 16 * 1024

/** One unit takes at most about 50 ns. */
export const conditionWorkMax = 100_000
export const fileWorkMax = 500_000

/** A problem of a condition, with the place of the wrong character. */
export class ConditionProblem extends Error {
  readonly index: number
  constructor(message: string, index: number) {
    super(message)
    this.index = index
  }
}

const stringFunctions = new Set(['contains', 'startsWith', 'endsWith', 'lowerAscii', 'upperAscii', 'trim', 'size'])
/** The functions that look at each item of a list. The library has more, such as `map`, with which a short condition can build a very large value. */
const listFunctions = new Set(['exists', 'all', 'exists_one', 'filter'])
const functions = new Set(['size', 'int', 'double', 'string', 'bool', 'recent'])

/** A search for a longer text can take time in proportion to the product of both lengths. */
const searchedTextMax = 250

/** Returns what a condition reads, and its work in units. Each name that it reads comes with its field, such as `action.command`, and with its first place. Throws a ConditionProblem. */
export function inspect(
  ast: ASTNode,
  known: ReadonlySet<string>,
): { readonly uses: ReadonlyMap<string, number>; readonly work: number } {
  const inspection = new Inspection(known)
  const { work } = inspection.visit(ast)
  if (work > conditionWorkMax) throw new ConditionProblem(watchTexts.tooMuchWork, 0)
  return { uses: inspection.uses, work }
}

/** What is known about a part of a condition before it is evaluated. */
interface Estimate {
  readonly work: number
  /** The largest number of characters, if the value is a text or a list of texts. */
  readonly text: number
  /** The largest number of items, if the value is a list. */
  readonly items: number
}
const none: Estimate = { work: 1, text: 0, items: 0 }

class Inspection {
  readonly uses = new Map<string, number>()
  readonly #known: ReadonlySet<string>
  /** The variables of the surrounding list functions. */
  readonly #items = new Map<string, Estimate>()

  constructor(known: ReadonlySet<string>) {
    this.#known = known
  }

  visit(node: ASTNode): Estimate {
    switch (node.op) {
      case 'value':
        return { ...none, text: typeof node.args === 'string' ? node.args.length : 0 }
      case 'id':
        return this.#id(node.args, node.start)
      case '.':
        return this.#field(node.args[0], node.args[1])
      case '[]':
        return this.#index(node.args[0], node.args[1])
      case 'call':
        return this.#call(node.args[0], node.args[1], node)
      case 'rcall':
        return this.#method(node.args[0], node.args[1], node.args[2], node)
      case 'list':
        return this.#list(node.args)
      case '!_':
      case '-_':
        return plus(this.visit(node.args))
      case '?:':
        return either(this.visit(node.args[0]), this.visit(node.args[1]), this.visit(node.args[2]))
      case 'map':
      case '.?':
      case '[?]':
        throw new ConditionProblem(watchTexts.notAllowed(node.op === 'map' ? '{…}' : node.op), node.start)
      default:
        return this.#operator(node.op, node.args[0], node.args[1])
    }
  }

  /** An object such as `action` can only be used with a field, because the limits of a field are known by the name of its object. */
  #id(name: string, place: number): Estimate {
    if (this.#known.has(name)) throw new ConditionProblem(watchTexts.withoutField(name), place)
    this.#use(name, place)
    return this.#items.get(name) ?? none
  }

  #use(name: string, place: number): void {
    if (!this.uses.has(name)) this.uses.set(name, place)
  }

  #field(holder: ASTNode, name: string): Estimate {
    const isKnown = holder.op === 'id' && this.#known.has(holder.args)
    const { work } = isKnown ? none : this.visit(holder)
    if (isKnown) this.#use(holder.args, holder.start)
    const path = holder.op === 'id' ? `${holder.args}.${name}` : name
    this.#use(path, holder.start)
    return { work: work + 1, text: textMax[path] ?? limits.pathMax, items: itemsMax[path] ?? 0 }
  }

  #index(holder: ASTNode, index: ASTNode): Estimate {
    if (index.op !== 'value') throw new ConditionProblem(watchTexts.indexNotLiteral, index.start)
    if (typeof index.args === 'string') return this.#field(holder, index.args)
    return plus(this.visit(holder))
  }

  #call(name: string, args: readonly ASTNode[], node: ASTNode): Estimate {
    if (!functions.has(name)) throw new ConditionProblem(watchTexts.unknownFunction(name), node.start)
    const [given = none] = args.map(arg => this.visit(arg))
    if (name !== 'recent') return { work: given.work + 1 + given.text / 20, text: given.text || 40, items: 0 }
    const [arg] = args
    if (arg?.op !== 'value' || typeof arg.args !== 'string' || durationMs(arg.args) === null)
      throw new ConditionProblem(watchTexts.recentNotLiteral, arg?.start ?? node.start)
    return { work: limits.recentCallsMax, text: limits.nameMax, items: limits.recentCallsMax }
  }

  #method(name: string, receiver: ASTNode, args: readonly ASTNode[], node: ASTNode): Estimate {
    if (name === 'matches') throw new ConditionProblem(watchTexts.noRegularExpressions, methodStart(node, receiver))
    if (listFunctions.has(name)) return this.#each(receiver, args)
    if (!stringFunctions.has(name))
      throw new ConditionProblem(watchTexts.unknownFunction(name), methodStart(node, receiver))
    const subject = this.visit(receiver)
    const [arg] = args
    const given = arg ? this.visit(arg) : none
    const work = subject.work + given.work + 1 + methodWork(name, subject, given, arg)
    // Upper case can need up to three characters for one.
    return { work, text: subject.text * 3, items: 0 }
  }

  #each(receiver: ASTNode, [item, test]: readonly ASTNode[]): Estimate {
    const list = this.visit(receiver)
    if (item?.op !== 'id' || !test) throw new ConditionProblem(watchTexts.itemName, item?.start ?? receiver.end)
    if (this.#known.has(item.args) || this.#items.has(item.args))
      throw new ConditionProblem(watchTexts.itemNameTaken(item.args), item.start)
    if (list.items === 0 && receiver.op !== 'list') throw new ConditionProblem(watchTexts.notAList, receiver.start)
    this.#items.set(item.args, { work: 1, text: list.text, items: 0 })
    const { work } = this.visit(test)
    this.#items.delete(item.args)
    return { work: list.work + list.items * (work + 2), text: list.text, items: list.items }
  }

  #list(nodes: readonly ASTNode[]): Estimate {
    const parts = nodes.map(node => {
      const part = this.visit(node)
      if (node.op === 'list' || part.items > 0) throw new ConditionProblem(watchTexts.listInList, node.start)
      return part
    })
    const work = parts.reduce((sum, part) => sum + part.work, 1)
    return { work, text: Math.max(0, ...parts.map(({ text }) => text)), items: parts.length }
  }

  #operator(op: string, leftNode: ASTNode, rightNode: ASTNode): Estimate {
    const left = this.visit(leftNode)
    const right = this.visit(rightNode)
    const compared = Math.min(left.text, right.text) / charactersPerUnit
    const work = left.work + right.work + 1 + compared * Math.max(1, left.items, right.items) + left.items + right.items
    if (op !== '+') return { work, text: 0, items: 0 }
    return {
      work: work + (left.text + right.text) / charactersPerUnit,
      text: left.text + right.text,
      items: left.items + right.items,
    }
  }
}

/** Comparing, joining or converting texts takes about one unit for this many characters. */
const charactersPerUnit = 500

function methodWork(name: string, subject: Estimate, given: Estimate, arg: ASTNode | undefined): number {
  if (name === 'contains') return searchWork(subject, arg)
  if (name === 'startsWith' || name === 'endsWith') return Math.min(subject.text, given.text) / charactersPerUnit
  // The other methods look at each character on its own.
  return subject.text / 20
}

/** Facts about V8: a search takes up to 12 ns for each character of the text if the searched text is shorter than 7 characters, and less than 2 ns if it is longer, up to 250 characters. */
function searchWork({ text }: Estimate, arg: ASTNode | undefined): number {
  if (arg?.op !== 'value' || typeof arg.args !== 'string' || arg.args.length > searchedTextMax)
    throw new ConditionProblem(watchTexts.searchedText(searchedTextMax), arg?.start ?? 0)
  return arg.args.length < 7 ? text / 4 : text / 25
}

function methodStart(node: ASTNode, receiver: ASTNode): number {
  return Math.min(receiver.end + 1, node.end)
}

function plus(part: Estimate): Estimate {
  return { ...part, work: part.work + 1 }
}
function either(condition: Estimate, left: Estimate, right: Estimate): Estimate {
  return {
    work: condition.work + left.work + right.work + 1,
    text: Math.max(left.text, right.text),
    items: Math.max(left.items, right.items),
  }
}

/** For texts that are not limited like a path: their largest number of characters. */
const textMax: Readonly<Record<string, number>> = {
  'action.command': readCommandMax,
  'prompt.text': readPromptMax,
  'result.text': limits.resultTextMax,
  'session.driver': limits.nameMax,
  'action.kind': limits.nameMax,
  'action.tool': limits.nameMax,
  'action.digest': limits.nameMax,
  'risk.level': limits.nameMax,
  'risk.touches': limits.nameMax,
}
const itemsMax: Readonly<Record<string, number>> = {
  'action.paths': limits.actionPathsMax,
  'session.agentPath': limits.agentPathMax,
  'risk.touches': 20,
}

const unitMs: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 }

/** Returns the milliseconds of a duration such as 10m, or null. */
export function durationMs(text: string): number | null {
  const match = /^(\d{1,4})([smhd])$/.exec(text)
  return match ? Number(match[1]) * (unitMs[match[2] ?? ''] ?? 0) : null
}
