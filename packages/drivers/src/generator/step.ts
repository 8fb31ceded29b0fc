/** Side effects of a generator agent: done once and kept, so that a replay returns what was recorded instead of doing it again. */
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

/** It failed, live or on record: the same error either way, or a replay would take another path. */
export class StepFailed extends Error {
  override readonly name = 'StepFailed'
}
/** It had begun when the agent was lost. It is never run a second time. */
export class StepUnknown extends Error {
  override readonly name = 'StepUnknown'
}

/** Runs `fn` once. Its result must be JSON; it is what every replay returns. */
export function* step<T>(
  name: string,
  fn: (signal: AbortSignal) => T | Promise<T>,
  options: StepOptions = {},
): Generator<StepYield, T, unknown> {
  const result = yield { ...options, type: 'step', name, run: fn }
  return result as T // the driver replies with what fn returned, now or when it ran
}

/** What a tool.finished holds of a step. */
export interface StepRecord {
  readonly ok: boolean
  readonly output?: unknown
}

/** Fits one event with room for what stands around it. */
const resultMaxBytes = limits.blockMaxBytes / 2

export function stepDone(result: unknown): StepRecord {
  if (result === undefined) return { ok: true }
  const output = jsonCopy(result, 'the result of a step')
  if (Buffer.byteLength(JSON.stringify(output)) > resultMaxBytes)
    throw new Error(`the result of a step is larger than ${resultMaxBytes} bytes; return less of it`)
  return { ok: true, output }
}
export function stepFailed(error: unknown): StepRecord {
  return { ok: false, output: { error: messageOf(error) } }
}
export function stepUnknown(name: string): StepRecord {
  const error = `"${name}" had begun and may have run; its outcome is unknown`
  return { ok: false, output: { error, unknown: true } }
}

/** The recorded result, or the recorded failure thrown. */
export function readStep({ ok, output }: StepRecord): unknown {
  if (ok) return output
  const { error, unknown } = output as { readonly error: string; readonly unknown?: boolean } // written by the two functions above
  throw unknown ? new StepUnknown(error) : new StepFailed(error)
}
