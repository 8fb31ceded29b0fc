/** The variables of a session as people and agents see and set them. The limits of watchers are shown as variables too, so that a person can change them for the session. */
import { Fault, type Variable, type VariableValue, type WatchLimit } from '@holdpoint/protocol'
import { allowedAmount, defaultOf, variableProblem, type WatchFile } from '@holdpoint/rules'
import type { WatchFileRow, WatchStateRow } from '../rows.ts'
import type { WatchState } from './watch-state.ts'

const nameMax = 64

/** A variable that a file declares, or the limit of one of its watchers. */
export interface FoundVariable {
  readonly name: string
  readonly file: WatchFile
  readonly default: VariableValue
  readonly setByAgent: boolean
  readonly note?: string
  /** The watcher whose limit this is. */
  readonly limitOf?: string
  readonly per?: WatchLimit['per']
}

export function variablesOf(files: readonly WatchFileRow[]): readonly FoundVariable[] {
  return files.flatMap(file => [...declared(file), ...limitsOf(file)])
}

function declared(file: WatchFile): FoundVariable[] {
  return Object.entries(file.vars).map(([name, declaration]) => {
    const { setBy, note } = typeof declaration === 'object' ? declaration : {}
    const common = { name, file, default: defaultOf(declaration), setByAgent: setBy === 'agent' }
    return note === undefined ? common : { ...common, note }
  })
}

function limitsOf(file: WatchFile): FoundVariable[] {
  return file.watchers.flatMap(({ name: watcher, note, do: { limit } }) => {
    if (!limit) return []
    const name = `limit_${watcher.replaceAll('-', '_')}`.slice(0, nameMax)
    const common = { name, file, default: amountOf(limit), setByAgent: false, limitOf: watcher, per: limit.per }
    return [note === undefined ? common : { ...common, note }]
  })
}

function amountOf({ cost, tokens, turns, minutes }: WatchLimit): number {
  return cost ?? tokens ?? turns ?? minutes ?? 0
}

/** Returns a variable with its value in a session. `state` is undefined if nothing was set yet. */
export function toVariable(found: FoundVariable, state: WatchStateRow | undefined, now: number): Variable {
  const { name, file, setByAgent, note, limitOf, per } = found
  const set = state?.values[file.id]?.[name]
  // A value from before a change of the file may have another type.
  const stored =
    set && variableProblem(name, limitOf === undefined ? found.default : 0.5, set.value) === null ? set : undefined
  const allowed = limitOf === undefined ? undefined : allowedAmount(per, state?.fired[`${file.id} ${limitOf}`], now)
  // The stored value of a limit only says who set it, and when.
  const value = limitOf === undefined ? stored?.value : allowed
  return {
    name,
    value: value ?? found.default,
    default: found.default,
    setByAgent,
    ...(note === undefined ? {} : { note }),
    ...(stored ? { changedAt: stored.at, changedBy: stored.by } : {}),
    source: file.source,
  }
}

/** Sets a variable, or returns the Fault that says why it cannot be set. */
export function setFound(state: WatchState, found: FoundVariable, value: VariableValue, by: string): Fault | null {
  const { name, file, limitOf } = found
  // The default decides the type. A limit can be any number.
  const wrongType = variableProblem(name, limitOf === undefined ? found.default : 0.5, value)
  if (wrongType) return new Fault('bad_input', wrongType)
  if (limitOf !== undefined && !(Number(value) > 0))
    return new Fault('bad_input', `${name} is a limit, so it must be greater than 0`)
  // The stored value also says who set a limit, and when.
  const problem = state.setVariable(file, name, value, by)
  if (problem !== null) return new Fault('too_many', `${problem}. Set a shorter value.`)
  if (limitOf !== undefined) state.allowUpTo(file, limitOf, Number(value))
  return null
}
