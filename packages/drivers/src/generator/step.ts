/** Side effects of a generator agent: each runs once and is recorded, so that a replay returns the recorded result instead of running it again. */
import { type JsonObject, limits, messageOf } from '@holdpoint/protocol'
import { jsonCopy } from './json-copy.ts'

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

/** The step failed. A replay throws the same error, so that the agent takes the same path. */
export class StepFailed extends Error {
  override readonly name = 'StepFailed'
}
/** The step had started when the agent was lost. It is never run a second time. */
export class StepUnknown extends Error {
  override readonly name = 'StepUnknown'
}

/** Runs `fn` once. Its result must be JSON; every replay returns it. */
export function* step<T>(
  name: string,
  fn: (signal: AbortSignal) => T | Promise<T>,
  options: StepOptions = {},
): Generator<StepYield, T, unknown> {
  const result = yield { ...options, type: 'step', name, run: fn }
  return result as T // the driver replies with the result of fn, fresh or recorded
}

/** The result of a step, as stored in its `tool.finished` event. */
export interface StepRecord {
  readonly ok: boolean
  readonly output?: unknown
}

/** Leaves room in the event for its other fields. */
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
  const { error, unknown } = output as { readonly error: string; readonly unknown?: boolean } // written by stepFailed or stepUnknown
  throw unknown ? new StepUnknown(error) : new StepFailed(error)
}
