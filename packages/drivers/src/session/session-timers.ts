/** The timers of the session loop that lead to a stop: the idle timer of the session, and the stop timer of a turn that a person has interrupted. */
import type { Clock } from '@holdpoint/protocol'
import type { LoopEvent } from './loop-state.ts'

export interface SessionTimersOptions {
  readonly clock: Clock
  /** How long the session may be idle before it is parked; null means that it is never parked. */
  readonly idleParkMs: () => number | null
  readonly dispatch: (event: LoopEvent) => void
}

/** How long the agent may take to stop a turn before its process is ended. */
const interruptMaxMs = 5000

export class SessionTimers {
  readonly #options: SessionTimersOptions
  #cancelIdle = () => {}

  constructor(options: SessionTimersOptions) {
    this.#options = options
  }

  startIdle(): void {
    this.#cancelIdle()
    const { clock, dispatch } = this.#options
    const idleParkMs = this.#options.idleParkMs()
    if (idleParkMs !== null) this.#cancelIdle = clock.after(idleParkMs, () => dispatch({ type: 'idleTimer' }))
  }
  stopIdle(): void {
    this.#cancelIdle()
  }

  /** Starts the stop timer of a turn, which ends with the turn. */
  startStop(finished: Promise<void> = Promise.resolve()): void {
    const { clock, dispatch } = this.#options
    void finished.then(clock.after(interruptMaxMs, () => dispatch({ type: 'stopTimer' })))
  }
}
