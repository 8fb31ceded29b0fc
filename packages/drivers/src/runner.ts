/** The runner: one lease for all its sessions, a driver for each, and a wall between them. It outlives the gateway's restarts. */

import { randomUUID } from 'node:crypto'
import { setMaxListeners } from 'node:events'
import {
  type Call,
  type Clock,
  type DriverInfo,
  Fault,
  limits,
  messageOf,
  orAborted,
  pause,
  type Runner,
  type RunnerId,
  type Session,
  type SessionId,
  systemClock,
} from '@holdpoint/protocol'
import type { Driver } from './driver.ts'
import { AgentSession } from './session/agent-session.ts'
import { type CrashPoint, pollMs } from './session/open-request.ts'
import { retryingCall } from './session/retrying-call.ts'

export interface RunnerOptions {
  readonly call: Call
  /** Stays the same over restarts: the newest start of it voids the others. */
  readonly id: RunnerId
  readonly name: string
  readonly drivers: readonly Driver[]
  /** Asks the runner to stop: it parks what it can, ends the rest and retires. */
  readonly signal: AbortSignal
  readonly clock?: Clock
  readonly crashPoint?: CrashPoint
  /** Told of what people who keep the runner should know; the words are an agent's or a gateway's, as they came. */
  readonly log?: (trouble: RunnerProblem) => void
  /** A gateway that stays away longer is not waited for. */
  readonly awayMaxMs?: number
}

export interface RunnerProblem {
  readonly event:
    | 'gateway.failed'
    | 'gateway.away'
    | 'session.refused'
    | 'session.failed'
    | 'session.kept'
    | 'session.unfinished'
    | 'runner.kept'
  readonly session?: SessionId
  readonly message: string
}

const awayMaxDefaultMs = 10 * 60 * 1000
/** How long stopping may take before the rest is left to the gateway. */
const stopMaxMs = 4000
/** Between attempts at something that failed without a reason to give up. */
const restMs = 1000

/** Resolves when it was told to stop or the gateway stayed away; rejects when another start of it took over. */
export async function runRunner(options: RunnerOptions): Promise<void> {
  const infos = await Promise.all(options.drivers.map(driver => driver.info()))
  await new RunnerLoop(options, infos).run()
}

class RunnerLoop {
  readonly #options: RunnerOptions
  #infos: readonly DriverInfo[]
  readonly #clock: Clock
  readonly #log: (trouble: RunnerProblem) => void
  /** No more work is taken; sessions are asked to let go. */
  readonly #stop = new AbortController()
  /** Nothing can be written any more. */
  readonly #lost = new AbortController()
  readonly #call: Call
  readonly #running = new Map<Promise<void>, SessionId>()
  #incarnation = 0
  #unwatch = () => {}

  constructor(options: RunnerOptions, infos: readonly DriverInfo[]) {
    this.#options = options
    this.#infos = infos
    this.#clock = options.clock ?? systemClock
    this.#log = options.log ?? (() => {})
    for (const { signal } of [this.#stop, this.#lost]) setMaxListeners(0, signal)
    const { call } = options
    this.#call = retryingCall({ call, clock: this.#clock, signal: this.#stop.signal, onHeard: () => this.#heard() })
  }

  async run(): Promise<void> {
    const { signal, id, name } = this.#options
    const stop = () => this.#stop.abort(new Error('the runner stops'))
    if (signal.aborted) return
    signal.addEventListener('abort', stop, { once: true })
    try {
      this.#heard()
      const runner = await this.#call('announceRunner', { id, name, drivers: [...this.#infos] })
      this.#incarnation = runner.incarnation
      for (const driver of this.#options.drivers) driver.onChange?.(() => void this.#tellDrivers().catch(() => {}))
      await Promise.all([this.#keepLease(runner), this.#work()])
    } catch (error) {
      // Stopped, or the gateway stayed away: that is no error.
      if (this.#stop.signal.aborted) return
      this.#lose(error)
      throw error
    } finally {
      this.#unwatch()
      await this.#leave()
      signal.removeEventListener('abort', stop)
    }
  }

  async #keepLease({ startedAt, expiresAt, id, incarnation }: Runner): Promise<void> {
    // Both instants are the gateway's: its clock and ours need not agree.
    const everyMs = (expiresAt - startedAt) / 3
    while (!this.#stop.signal.aborted) {
      await pause(this.#clock, everyMs, this.#stop.signal)
      await this.#patiently(() => this.#call('renewRunner', { id, incarnation }))
    }
  }

  /** What it can run has changed: said at once, not at the next renewal. Where it cannot be said the lease is in trouble too, and that is met there. */
  async #tellDrivers(): Promise<void> {
    this.#infos = await Promise.all(this.#options.drivers.map(driver => driver.info()))
    const { id } = this.#options
    await this.#call('renewRunner', { id, incarnation: this.#incarnation, drivers: [...this.#infos] })
  }

  async #work(): Promise<void> {
    const who = { id: this.#options.id, incarnation: this.#incarnation }
    while (!this.#stop.signal.aborted) {
      const page = await this.#patiently(() => this.#call('listWork', { ...who, wait: pollMs }))
      const begun = await Promise.all((page?.items ?? []).map(session => this.#attach(session)))
      // Someone else was faster, or it cannot be had now: not to be asked for without a breath.
      if (begun.length > 0 && !begun.includes(true)) await pause(this.#clock, restMs, this.#stop.signal)
    }
  }

  /** A gateway in trouble is no reason to let agents die; being told to go is. */
  async #patiently<T>(attempt: () => Promise<T>): Promise<T | undefined> {
    try {
      return await attempt()
    } catch (error) {
      if (!(error instanceof Fault && error.status >= 500)) throw error
      this.#log({ event: 'gateway.failed', message: error.message })
      await pause(this.#clock, restMs, this.#stop.signal)
      return undefined
    }
  }

  async #attach({ id, driver: name }: Session): Promise<boolean> {
    const at = this.#infos.findIndex(info => info.name === name)
    const driver = this.#options.drivers[at]
    if (!driver) return false
    const who = { runner: this.#options.id, incarnation: this.#incarnation }
    try {
      const attached = await this.#call('attachSession', { id, ...who }, { idempotencyKey: randomUUID() })
      const session = new AgentSession({
        ...attached,
        call: this.#options.call,
        clock: this.#clock,
        stop: this.#stop.signal,
        lost: this.#lost.signal,
        ...(this.#options.crashPoint ? { crashPoint: this.#options.crashPoint } : {}),
      })
      const driven = this.#drive(driver, session).finally(() => this.#running.delete(driven))
      this.#running.set(driven, id)
      return true
    } catch (error) {
      if (!(error instanceof Fault)) throw error
      this.#log({ event: 'session.refused', session: id, message: error.message })
      return false
    }
  }

  /** The wall around one session: whatever its driver does, the others go on. */
  async #drive(driver: Driver, session: AgentSession): Promise<void> {
    const { id } = session.info
    let failure: string | null = null
    try {
      await driver.run(session)
    } catch (error) {
      failure = messageOf(error)
      if (!session.signal.aborted) this.#log({ event: 'session.failed', session: id, message: failure })
    }
    try {
      await this.#letGo(session, failure)
      if (session.unfinished !== null)
        this.#log({ event: 'session.unfinished', session: id, message: session.unfinished })
    } catch (error) {
      // Once nothing can be written any more, whoever stops the runner tells of all of them.
      if (!this.#lost.signal.aborted) this.#log({ event: 'session.kept', session: id, message: messageOf(error) })
    }
  }

  async #letGo(session: AgentSession, failure: string | null): Promise<void> {
    if (session.detached || this.#lost.signal.aborted) return
    const { aborted, reason } = session.signal
    if (aborted && reason instanceof Fault)
      // Ended under it: giving it back closes the book. Fenced: it is someone else's now.
      return reason.code === 'session_ended' ? session.end({ reason: 'stopped' }) : undefined
    if (aborted) return this.#giveBack(session)
    if (failure === null) return session.end({ reason: 'done' })
    const detail = (failure || 'its driver failed').slice(0, limits.reasonMax)
    await session.say({ type: 'error.raised', message: detail })
    await session.end({ reason: 'failed', detail })
  }

  async #giveBack(session: AgentSession): Promise<void> {
    const { id, capabilities } = session.info
    if (capabilities.includes('resumable')) return session.park()
    await session.end({ reason: 'stopped', detail: 'its runner stopped' })
    this.#log({ event: 'session.unfinished', session: id, message: 'Its driver cannot resume it: it has ended' })
  }

  #heard(): void {
    this.#unwatch()
    const awayMaxMs = this.#options.awayMaxMs ?? awayMaxDefaultMs
    this.#unwatch = this.#clock.after(awayMaxMs, () => {
      const away = new Error(`the gateway has been away for ${awayMaxMs} ms`)
      this.#log({ event: 'gateway.away', message: away.message })
      this.#lose(away)
    })
  }

  #lose(error: unknown): void {
    this.#lost.abort(error)
    this.#stop.abort(error)
  }

  async #leave(): Promise<void> {
    const cancel = this.#clock.after(stopMaxMs, () => this.#lost.abort(new Error('stopping took too long')))
    const call = retryingCall({ call: this.#options.call, clock: this.#clock, signal: this.#lost.signal })
    try {
      await orAborted(Promise.all(this.#running.keys()), this.#lost.signal)
      if (this.#incarnation > 0) await call('retireRunner', { id: this.#options.id, incarnation: this.#incarnation })
    } catch (error) {
      const message = messageOf(error)
      this.#log({ event: 'runner.kept', message })
      for (const session of this.#running.values()) this.#log({ event: 'session.kept', session, message })
    } finally {
      cancel()
    }
  }
}
