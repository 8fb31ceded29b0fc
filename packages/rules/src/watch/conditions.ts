/** Compiles the conditions of one file once, so that evaluating them is quick and needs no further checks. Conditions are written in CEL. */
import type { VariableDeclaration, WatchMoment } from '@holdpoint/protocol'
import { type ASTNode, TypeError as CelTypeError, Environment, EvaluationError, ParseError } from '@marcbachmann/cel-js'
import {
  type CelFields,
  defaultOf,
  type KnownName,
  knownNames,
  RecentFacts,
  recentFields,
  typeOf,
  VariableFacts,
  type WatchFacts,
} from './condition-names.ts'
import { ConditionProblem, durationMs, inspect } from './condition-work.ts'
import { watchTexts } from './texts.ts'

/** A compiled condition, or a compiled value of `set`. */
export interface Expression {
  readonly type: string
  /** The names that it reads, such as `action.command`, each with its first place. */
  readonly uses: ReadonlyMap<string, number>
  /** The most work that it can take, in units. */
  readonly work: number
  /** Throws if the value cannot be computed, for example because a list is shorter than expected. */
  evaluate(facts: WatchFacts): unknown
}

type Recent = (withinMs: number) => readonly RecentFacts[]

const everyName: Readonly<Record<string, Pick<KnownName, 'moments'>>> = { ...knownNames, vars: {} }
const nodesMax = 500
const depthMax = 40

const baseEnvironment = createBaseEnvironment()

function createBaseEnvironment(): Environment {
  const environment = new Environment({
    unlistedVariablesAreDyn: false,
    limits: { maxAstNodes: nodesMax, maxDepth: depthMax, maxListElements: 200 },
  })
  for (const [name, { type, ctor, fields }] of Object.entries(knownNames))
    environment.registerType(type, { ctor, fields }).registerVariable(name, type)
  return environment.registerType('RecentCall', { ctor: RecentFacts, fields: recentFields })
}

export class Conditions {
  readonly #environment: Environment
  readonly #names: Readonly<Record<string, CelFields>>
  #recent: Recent = () => []

  constructor(vars: Readonly<Record<string, VariableDeclaration>>) {
    const fields = Object.fromEntries(Object.entries(vars).map(([name, value]) => [name, typeOf(defaultOf(value))]))
    const others = Object.entries(knownNames).map(([name, known]) => [name, known.fields] as const)
    this.#names = { ...Object.fromEntries(others), vars: fields }
    this.#environment = baseEnvironment
      .clone()
      .registerType('Vars', { ctor: VariableFacts, fields })
      .registerVariable('vars', 'Vars')
      .registerFunction('recent(string): list<RecentCall>', (text: string) => this.#recent(durationMs(text) ?? 0), {
        async: false,
      })
  }

  /** Sets what `recent` returns in the evaluations that follow. */
  lookBackWith(recent: Recent): void {
    this.#recent = recent
  }

  /** Throws a ConditionProblem if the condition is not valid at this moment of watchers. */
  compile(text: string, moment: WatchMoment): Expression {
    const run = this.#parse(text)
    const { uses, work } = inspect(run.ast, knownSet)
    for (const [name, place] of uses) {
      const moments = everyName[name]?.moments
      if (moments && !moments.includes(moment))
        throw new ConditionProblem(watchTexts.notKnownThen(name, moments), place)
    }
    const { valid, type, error } = run.check()
    if (!valid || type === undefined) throw this.#problemOf(error)
    return { type, uses, work, evaluate: facts => run(facts) }
  }

  #parse(text: string): ReturnType<Environment['parse']> {
    try {
      return this.#environment.parse(text)
    } catch (error) {
      throw this.#problemOf(error)
    }
  }

  #problemOf(error: unknown): Error {
    if (error instanceof ParseError) {
      const text = error.code === 'invalid_macro_argument' ? watchTexts.itemName : watchTexts.notCel(error.summary)
      return new ConditionProblem(text, error.range?.start ?? 0)
    }
    if (!(error instanceof CelTypeError)) return error instanceof Error ? error : new Error(String(error))
    return new ConditionProblem(this.#typeProblem(error), error.range?.start ?? 0)
  }

  #typeProblem({ code, summary, node }: CelTypeError): string {
    if (code === 'unknown_variable') return watchTexts.unknownName(afterColon(summary), Object.keys(everyName))
    if (code === 'no_such_key') {
      const name = afterColon(summary)
      const holder = holderOf(node)
      const fields = holder === null ? recentFields : (this.#names[holder] ?? recentFields)
      return holder === 'vars'
        ? watchTexts.unknownVariable(name, Object.keys(fields))
        : watchTexts.unknownField(holder === null ? name : `${holder}.${name}`, Object.keys(fields))
    }
    if (code === 'no_such_overload') return watchTexts.wrongTypes(afterColon(summary))
    return watchTexts.wrongCondition(summary)
  }
}

const knownSet: ReadonlySet<string> = new Set(Object.keys(everyName))

function afterColon(summary: string): string {
  return summary.slice(summary.indexOf(':') + 1).trim()
}

/** Returns the name whose field is read, or null if it is not one of the names that conditions know. */
function holderOf(node: CelTypeError['node']): string | null {
  const holder = node?.op === '.' && Array.isArray(node.args) ? (node.args[0] as ASTNode) : null
  return holder?.op === 'id' && knownSet.has(holder.args) ? holder.args : null
}

/** Returns why an expression could not be evaluated, in a few words. */
export function evaluationProblem(error: unknown): string {
  if (error instanceof EvaluationError) return error.summary
  return error instanceof Error ? error.message : String(error)
}
