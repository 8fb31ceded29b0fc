/** Checks and compiles one watcher of a file: its effects fit its moment, its conditions have the right types, and its matchers make sense. */
import type { JsonPath, VariableDeclaration, WatcherDraft, WatchLimit, WatchMoment } from '@holdpoint/protocol'
import { ruleProblem } from '../rule-validation.ts'
import { defaultOf, typeOf } from './condition-names.ts'
import { ConditionProblem } from './condition-work.ts'
import type { Conditions, Expression } from './conditions.ts'
import { compileTemplate, type TextTemplate } from './text-template.ts'
import { type LimitUnit, watchTexts } from './texts.ts'

export type WatchEffect = keyof WatcherDraft['do']

/** The effects that each moment can have. */
export const momentEffects: Readonly<Record<WatchMoment, readonly WatchEffect[]>> = {
  start: ['set', 'say'],
  prompt: ['set', 'say', 'deny'],
  before: ['set', 'say', 'ask', 'deny', 'limit'],
  after: ['set', 'say'],
  stop: ['set', 'say', 'ask', 'deny'],
}

export interface CompiledLimit {
  readonly unit: LimitUnit
  readonly amount: number
  readonly per: NonNullable<WatchLimit['per']>
}

export interface CompiledWatcher {
  readonly when: Expression | null
  readonly set: readonly { readonly name: string; readonly value: Expression }[]
  readonly say: TextTemplate | null
  readonly ask: TextTemplate | null
  readonly deny: TextTemplate | null
  readonly limit: CompiledLimit | null
  /** The most work that all its expressions together can take, in units. */
  readonly work: number
  readonly readsCommand: boolean
}

/** A problem of a watcher, with the path of the wrong field inside the watcher. */
export class WatcherProblem extends Error {
  readonly path: JsonPath
  readonly index: number | undefined
  constructor(path: JsonPath, message: string, index?: number) {
    super(message)
    this.path = path
    this.index = index
  }
}

/** Throws a WatcherProblem if the watcher cannot be used. */
export function compileWatcher(
  draft: WatcherDraft,
  vars: Readonly<Record<string, VariableDeclaration>>,
  conditions: Conditions,
): CompiledWatcher {
  checkEffects(draft)
  checkMatchers(draft)
  const { on, when, do: effects } = draft
  const template = (effect: 'say' | 'ask' | 'deny') => {
    const text = effects[effect]
    return text === undefined ? null : at(['do', effect], () => compileTemplate(text, conditions, on))
  }
  const compiled = {
    when: when === undefined ? null : at(['when'], () => compileCondition(when, conditions, on)),
    set: Object.entries(effects.set ?? {}).map(([name, text]) => ({
      name,
      value: at(['do', 'set', name], () => compileValue(name, text, vars, conditions, on)),
    })),
    say: template('say'),
    ask: template('ask'),
    deny: template('deny'),
    limit: effects.limit === undefined ? null : compileLimit(effects.limit),
  }
  const texts = [compiled.say, compiled.ask, compiled.deny].flatMap(text => text?.expressions ?? [])
  const expressions = [compiled.when, ...compiled.set.map(({ value }) => value), ...texts].filter(each => each !== null)
  return {
    ...compiled,
    work: expressions.reduce((sum, { work }) => sum + work, 0),
    readsCommand: expressions.some(({ uses }) => uses.has('action.command')),
  }
}

function at<T>(path: JsonPath, compile: () => T): T {
  try {
    return compile()
  } catch (error) {
    if (error instanceof ConditionProblem) throw new WatcherProblem(path, error.message, error.index)
    throw error
  }
}

function compileCondition(text: string, conditions: Conditions, moment: WatchMoment): Expression {
  const condition = conditions.compile(text, moment)
  if (condition.type !== 'bool') throw new ConditionProblem(watchTexts.wrongConditionType(condition.type), 0)
  return condition
}

function compileValue(
  name: string,
  text: string,
  vars: Readonly<Record<string, VariableDeclaration>>,
  conditions: Conditions,
  moment: WatchMoment,
): Expression {
  const declaration = Object.hasOwn(vars, name) ? vars[name] : undefined
  if (declaration === undefined) throw new WatcherProblem(['do', 'set', name], watchTexts.unknownSet(name))
  const value = conditions.compile(text, moment)
  const wanted = typeOf(defaultOf(declaration))
  if (value.type !== wanted && !(wanted === 'double' && value.type === 'int'))
    throw new ConditionProblem(watchTexts.wrongSetType(name, wanted, value.type), 0)
  return value
}

function checkEffects({ on, do: effects, times, every }: WatcherDraft): void {
  const given = (Object.keys(effects) as WatchEffect[]).filter(effect => effects[effect] !== undefined)
  const hasEffect = given.some(effect => effect !== 'set' || Object.keys(effects.set ?? {}).length > 0)
  if (!hasEffect) throw new WatcherProblem(['do'], watchTexts.noEffect)
  const possible = momentEffects[on]
  const wrong = given.find(effect => !possible.includes(effect))
  if (wrong) throw new WatcherProblem(['do', wrong], watchTexts.wrongEffect(on, wrong, possible))
  if (effects.ask !== undefined && effects.deny !== undefined)
    throw new WatcherProblem(['do', 'ask'], watchTexts.askAndDeny)
  if (on === 'start' && every !== undefined) throw new WatcherProblem(['every'], watchTexts.everyAtStart)
  if (effects.limit === undefined) return
  if (times !== undefined) throw new WatcherProblem(['times'], watchTexts.limitRepeats('times'))
  if (every !== undefined) throw new WatcherProblem(['every'], watchTexts.limitRepeats('every'))
}

/** The tool with which Claude Code asks questions, which are no calls for watchers. */
export const questionTool = 'AskUserQuestion'
const callMatchers = ['tool', 'command', 'path', 'host', 'mcp'] as const

function checkMatchers(draft: WatcherDraft): void {
  const { on, action, tool, command, path, host, mcp, scope } = draft
  const given = callMatchers.filter(matcher => draft[matcher] !== undefined)
  const [matcher = action === undefined ? undefined : ('action' as const)] = given
  if (matcher !== undefined && on !== 'before' && on !== 'after')
    throw new WatcherProblem([matcher], watchTexts.matcherWithoutCall(matcher, on))
  if (action === 'question') {
    if (on === 'after') throw new WatcherProblem(['action'], watchTexts.questionAfter)
    if (matcher !== undefined && matcher !== 'action')
      throw new WatcherProblem([matcher], watchTexts.questionWithMatcher(matcher))
  }
  if (tool?.split('|').includes('')) throw new WatcherProblem(['tool'], watchTexts.emptyTool)
  if (tool?.split('|').includes(questionTool)) throw new WatcherProblem(['tool'], watchTexts.questionTool(questionTool))
  const problem = ruleProblem({ effect: 'ask', command, path, host, mcp, scope })
  if (problem) throw new WatcherProblem(given.length > 0 ? [given.at(-1) ?? ''] : ['scope'], problem)
}

const units = ['cost', 'tokens', 'turns', 'minutes'] as const

function compileLimit(limit: WatchLimit): CompiledLimit {
  const [unit, ...others] = units.filter(each => limit[each] !== undefined)
  const amount = unit && limit[unit]
  if (unit === undefined || amount === undefined || others.length > 0)
    throw new WatcherProblem(['do', 'limit'], watchTexts.wrongLimit)
  return { unit, amount, per: limit.per ?? 'session' }
}
