/** Records refused attempts in the log: calls that a role may not make, revoked credentials in use, and too many wrong sign-ins. The number of entries per credential and minute is limited; further attempts are only counted. */
import { type EventBody, Fault, limits, RequestId } from '@holdpoint/protocol'
import type { Context } from './context.ts'
import type { Caller } from './gateway.ts'

/** A refused attempt, without the number of attempts that were left out. */
export type RefusedAttempt = Omit<Extract<EventBody, { type: 'attempt.refused' }>, 'type' | 'omitted'>

interface Window {
  readonly startedAt: number
  recorded: number
  omitted: number
  last: RefusedAttempt
}

const windowMs = 60_000

export class RefusedAttempts {
  readonly #ctx: Context
  /** The attempts of the last minute by credential, or by source if there is none. */
  readonly #windows = new Map<string, Window>()

  constructor(ctx: Context) {
    this.#ctx = ctx
  }

  /** Records a refused attempt, or counts it if there were too many. Never rejects: the caller must be refused even if the store cannot be written. */
  async record(attempt: RefusedAttempt): Promise<void> {
    const window = this.#windowOf(attempt)
    const total = [...this.#windows.values()].reduce((sum, { recorded }) => sum + recorded, 0)
    if (window.recorded >= limits.refusedAttemptsMax || total >= limits.refusedAttemptsTotalMax) {
      window.omitted++
      return
    }
    window.recorded++
    await this.#write(attempt)
  }

  /** Records how many attempts were left out in windows that are over. The sweep calls this. */
  async recordOmitted(): Promise<void> {
    const now = this.#ctx.clock.now()
    for (const [key, window] of this.#windows) {
      if (now - window.startedAt < windowMs) continue
      this.#windows.delete(key)
      if (window.omitted > 0) await this.#write(window.last, window.omitted)
    }
  }

  #windowOf(attempt: RefusedAttempt): Window {
    const own = attempt.token ?? attempt.by
    // Callers without a credential can have any number of sources, so the later ones share a window.
    const key = this.#windows.has(own) || this.#windows.size < limits.refusedAttemptsTotalMax ? own : 'others'
    const window = this.#windows.get(key) ?? {
      startedAt: this.#ctx.clock.now(),
      recorded: 0,
      omitted: 0,
      last: attempt,
    }
    window.last = attempt
    this.#windows.set(key, window)
    return window
  }

  /** Ignores an error of the store, because the attempt is refused in any case. */
  async #write(attempt: RefusedAttempt, omitted?: number): Promise<void> {
    const body: EventBody = { type: 'attempt.refused', ...attempt, ...(omitted === undefined ? {} : { omitted }) }
    await this.#ctx
      .commit({
        label: 'refused',
        reads: [],
        decide: change => {
          change.event(null, body)
          return { status: 200, body: {} }
        },
      })
      .catch(() => {})
  }
}

/** Describes the caller of a refused attempt. */
export function attemptBy({
  name,
  role,
  token,
  via,
}: Omit<Caller, 'id'>): Pick<RefusedAttempt, 'by' | 'role' | 'token' | 'via'> {
  return { by: name, role, token, via }
}

/** Runs a call, and records the attempt if the caller was refused. A missing row does not count, because a mistyped id looks the same. */
export async function recordingRefusals<T>(
  ctx: Context,
  caller: Caller | null,
  what: string,
  input: unknown,
  run: () => Promise<T>,
): Promise<T> {
  try {
    return await run()
  } catch (error) {
    const isRefusal = error instanceof Fault && (error.code === 'forbidden' || error.code === 'unauthenticated')
    if (caller && isRefusal)
      await ctx.refusedAttempts.record({
        what,
        code: error.code,
        ...attemptBy(caller),
        ...answeredRequest(what, input),
      })
    throw error
  }
}

/** Names the request that the caller tried to answer. */
function answeredRequest(what: string, input: unknown): Pick<RefusedAttempt, 'request'> {
  if (what !== 'answerRequest' || typeof input !== 'object' || input === null || !('id' in input)) return {}
  const id = RequestId.safeParse(input.id)
  return id.success ? { request: id.data } : {}
}
