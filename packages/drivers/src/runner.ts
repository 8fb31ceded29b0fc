/** The runner: holds one lease for all its sessions, runs a driver for each session, and isolates the sessions from each other's failures. It keeps running when the gateway restarts. */
import { randomUUID } from 'node:crypto'
import { setMaxListeners } from 'node:events'
import { AgentSession, type CrashPoint, pollMs, retryingCall } from '@holdpoint/client'
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

export interface RunnerOptions {
  readonly call: Call
  /** The runner's id, which stays the same across restarts. A new start voids the lease of the previous start. */
  readonly id: RunnerId
  readonly name: string
  readonly drivers: readonly Driver[]
  /** Aborting stops the runner: it parks resumable sessions, ends the others and retires. */
  readonly signal: AbortSignal
  readonly clock?: Clock
  readonly crashPoint?: CrashPoint
  /** Receives problems for the runner's log. Messages may contain text from agents, so escape them before printing. */
  readonly log?: (problem: RunnerProblem) => void
  /** The runner stops after the gateway has been unreachable for this long. */
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
    | 'turn.failed'
    | 'runner.kept'
    | 'processes.left'
  readonly session?: SessionId
  readonly message: string
}

const awayMaxDefaultMs = 10 * 60 * 1000
/** Time limit for stopping. The gateway releases the remaining sessions when the lease expires. */
const stopMaxMs = 4000
/** Pause before another attempt after a temporary failure. */
const retryPauseMs = 1000

/** Resolves when the runner has stopped, on request or because the gateway stayed unreachable. Rejects when a newer start of the same runner takes over. */
export async function runRunner(options: RunnerOptions): Promise<void> {
  const infos = await Promise.all(options.drivers.map(driver => driver.info()))
  await new RunnerLoop(options, infos).run()
}

class RunnerLoop {
  readonly #options: RunnerOptions
  #infos: readonly DriverInfo[]
  readonly #clock: Clock
  readonly #log: (problem: RunnerProblem) => void
  /** Aborts when the runner stops. From then on, the runner attaches no more sessions, and its drivers must stop. */
  readonly #stop = new AbortController()
  /** Aborts when nothing more can be written to the gateway. */
  readonly #lost = new AbortController()
  readonly #call: Call
  readonly #running = new Map<Promise<void>, SessionId>()
  /** These promises settle when the drivers have ended the processes that earlier runners have left. */
  readonly #endings: Promise<void>[] = []
  #incarnation = 0
  #cancelAwayTimer = () => {}

  constructor(options: RunnerOptions, infos: readonly DriverInfo[]) {
    this.#options = options
    this.#infos = infos
    this.#clock = options.clock ?? systemClock
    this.#log = options.log ?? (() => {})
    for (const { signal } of [this.#stop, this.#lost]) setMaxListeners(0, signal)
    const { call } = options
    this.#call = retryingCall({
      call,
      clock: this.#clock,
      signal: this.#stop.signal,
      onReply: () => this.#onGatewayReply(),
    })
  }

  async run(): Promise<void> {
    const { signal, id, name } = this.#options
    const stop = () => this.#stop.abort(new Error('the runner is stopping'))
    if (signal.aborted) return
    signal.addEventListener('abort', stop, { once: true })
    try {
      this.#onGatewayReply()
      const runner = await this.#call('announceRunner', { id, name, drivers: [...this.#infos] })
      this.#incarnation = runner.incarnation
      for (const driver of this.#options.drivers) {
        // The comment on `#reportDrivers` says why its error can be ignored.
        driver.onChange?.(() => void this.#reportDrivers().catch(() => {}))
        this.#endings.push(this.#endLeftProcesses(driver))
      }
      await Promise.all([this.#renewLease(runner), this.#attachWaitingSessions()])
    } catch (error) {
      // The error is expected if the runner was asked to stop or the gateway stayed unreachable.
      if (this.#stop.signal.aborted) return
      this.#giveUp(error)
      throw error
    } finally {
      this.#cancelAwayTimer()
      await this.#shutDown()
      signal.removeEventListener('abort', stop)
    }
  }

  async #renewLease({ startedAt, expiresAt, id, incarnation }: Runner): Promise<void> {
    // Compute the interval from two timestamps of the gateway, because its clock may differ from the runner's clock.
    const everyMs = (expiresAt - startedAt) / 3
    while (!this.#stop.signal.aborted) {
      await pause(this.#clock, everyMs, this.#stop.signal)
      await this.#tolerateServerFaults(() => this.#call('renewRunner', { id, incarnation }))
    }
  }

  /** Reports the changed drivers in an extra renewal of the lease. The caller ignores an error of this call, because a lost lease makes the next regular renewal fail too, and `run` handles that failure. */
  async #reportDrivers(): Promise<void> {
    this.#infos = await Promise.all(this.#options.drivers.map(driver => driver.info()))
    const { id } = this.#options
    await this.#call('renewRunner', { id, incarnation: this.#incarnation, drivers: [...this.#infos] })
  }

  async #endLeftProcesses(driver: Driver): Promise<void> {
    const sessionOf = async (id: SessionId) => {
      try {
        return await this.#call('getSession', { id })
      } catch (error) {
        if (error instanceof Fault && error.code === 'not_found') return null
        throw error
      }
    }
    try {
      await driver.endLeftProcesses?.({ clock: this.#clock, signal: this.#stop.signal, sessionOf })
    } catch (error) {
      this.#log({ event: 'processes.left', message: messageOf(error) })
    }
  }

  async #attachWaitingSessions(): Promise<void> {
    const who = { id: this.#options.id, incarnation: this.#incarnation }
    while (!this.#stop.signal.aborted) {
      const page = await this.#tolerateServerFaults(() => this.#call('listWork', { ...who, wait: pollMs }))
      const attached = await Promise.all((page?.items ?? []).map(session => this.#attach(session)))
      // Another runner was faster, or the sessions cannot be attached now. Pause before the next `listWork`, which would return the same sessions.
      if (attached.length > 0 && !attached.includes(true)) await pause(this.#clock, retryPauseMs, this.#stop.signal)
    }
  }

  /** Logs a 5xx fault of the gateway and returns undefined, so that the agents keep running. Rethrows any other error, which ends the runner. */
  async #tolerateServerFaults<T>(attempt: () => Promise<T>): Promise<T | undefined> {
    try {
      return await attempt()
    } catch (error) {
      if (!(error instanceof Fault && error.status >= 500)) throw error
      this.#log({ event: 'gateway.failed', message: error.message })
      await pause(this.#clock, retryPauseMs, this.#stop.signal)
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
        onTurnFailed: message => this.#log({ event: 'turn.failed', session: id, message }),
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

  /** Runs one session and catches everything its driver throws, so that the other sessions continue. */
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
      await this.#release(session, failure)
      if (session.unfinished !== null)
        this.#log({ event: 'session.unfinished', session: id, message: session.unfinished })
    } catch (error) {
      // After `#lost` has aborted, `#shutDown` reports all remaining sessions.
      if (!this.#lost.signal.aborted) this.#log({ event: 'session.kept', session: id, message: messageOf(error) })
    }
  }

  async #release(session: AgentSession, failure: string | null): Promise<void> {
    if (session.detached || this.#lost.signal.aborted) return
    const { aborted, reason } = session.signal
    if (aborted && reason instanceof Fault)
      // If a person ended the session, confirm the end. With any other fault, another runner holds the session now.
      return reason.code === 'session_ended' ? session.end({ reason: 'stopped' }) : undefined
    if (aborted) return this.#parkOrEnd(session)
    if (failure === null) return session.end({ reason: 'done' })
    const detail = (failure || 'The driver failed without a message.').slice(0, limits.reasonMax).toWellFormed()
    await session.say({ type: 'error.raised', message: detail })
    await session.end({ reason: 'failed', detail })
  }

  async #parkOrEnd(session: AgentSession): Promise<void> {
    const { id, capabilities } = session.info
    if (capabilities.includes('resumable')) return session.park()
    await session.end({ reason: 'stopped', detail: 'the runner stopped' })
    this.#log({
      event: 'session.unfinished',
      session: id,
      message: 'The runner stopped and ended this session, because its driver cannot resume it',
    })
  }

  #onGatewayReply(): void {
    this.#cancelAwayTimer()
    const awayMaxMs = this.#options.awayMaxMs ?? awayMaxDefaultMs
    this.#cancelAwayTimer = this.#clock.after(awayMaxMs, () => {
      const away = new Error(`the gateway was unreachable for ${awayMaxMs} ms`)
      this.#log({ event: 'gateway.away', message: away.message })
      this.#giveUp(away)
    })
  }

  #giveUp(error: unknown): void {
    this.#lost.abort(error)
    this.#stop.abort(error)
  }

  async #shutDown(): Promise<void> {
    const cancel = this.#clock.after(stopMaxMs, () => this.#lost.abort(new Error('stopping took too long')))
    const call = retryingCall({ call: this.#options.call, clock: this.#clock, signal: this.#lost.signal })
    try {
      await orAborted(Promise.all([...this.#running.keys(), ...this.#endings]), this.#lost.signal)
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
