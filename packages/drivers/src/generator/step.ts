/** Steps: side effects of a generator agent that run once. A replay returns the recorded result of a step instead of running it again. */

import { jsonCopy } from '@holdpoint/client'
import { type JsonObject, limits, messageOf, type VariableValue } from '@holdpoint/protocol'

export interface StepOptions {
  readonly input?: JsonObject
  readonly title?: string
  readonly agentPath?: readonly string[]
}
export interface StepYield extends StepOptions {
  readonly type: 'step'
  readonly name: string
  readonly run: (signal: AbortSignal) => unknown
}
export interface VariableYield {
  readonly type: 'variable'
  readonly name: string
  readonly value: VariableValue
}

/** Thrown when a step fails. A replay throws the same error, so that the agent takes the same path. */
export class StepFailed extends Error {
  override readonly name = 'StepFailed'
}
/** Thrown in a replay if the agent was lost while the step ran. The step is not run a second time. */
export class StepUnknown extends Error {
  override readonly name = 'StepUnknown'
}

/** Runs `fn` once and returns its result, which must be JSON. A replay returns the recorded result. */
export function* step<T>(
  name: string,
  fn: (signal: AbortSignal) => T | Promise<T>,
  options: StepOptions = {},
): Generator<StepYield, T, unknown> {
  const result = yield { ...options, type: 'step', name, run: fn }
  return result as T // the driver replies with the new or recorded result of `fn`
}

/** Sets a variable of the session that a file with watchers declares as the agent's. Throws `StepFailed` if no file declares this variable. A replay does not set the variable again. */
export function* setVariable(name: string, value: VariableValue): Generator<VariableYield, void, unknown> {
  yield { type: 'variable', name, value }
}

/** The result of a step, as stored in its `tool.finished` event. */
export interface StepRecord {
  readonly ok: boolean
  readonly output?: unknown
}

/** Limit for the result, which leaves space for the other fields of the event. */
const resultMaxBytes = limits.blockMaxBytes / 2

export function stepDone(result: unknown): StepRecord {
  if (result === undefined) return { ok: true }
  const output = jsonCopy(result, 'the result of a step')
  if (Buffer.byteLength(JSON.stringify(output)) > resultMaxBytes)
    throw new Error(`the result of a step is larger than ${resultMaxBytes} bytes; return less`)
  return { ok: true, output }
}
export function stepFailed(error: unknown): StepRecord {
  return { ok: false, output: { error: messageOf(error) } }
}
export function stepUnknown(name: string): StepRecord {
  const error = `"${name}" had started and may have run; its outcome is unknown`
  return { ok: false, output: { error, unknown: true } }
}

/** Returns the recorded result, or throws the recorded failure. */
export function readStep({ ok, output }: StepRecord): unknown {
  if (ok) return output
  const { error, unknown } = output as { readonly error: string; readonly unknown?: boolean } // only `stepFailed` and `stepUnknown` write the output of a failed step
  throw unknown ? new StepUnknown(error) : new StepFailed(error)
}
