/** Decides when the process of a waiting call is parked: after the session's `parkAfterMs`, and only if the call can be asked again. Idle sessions are parked by the idle timer in session-timers.ts and by `parkIdle` in loop-actions.ts. */
import type { Clock } from '@holdpoint/protocol'

export interface ParkTimerOptions {
  readonly clock: Clock
  /** How long a request may be pending before its process is parked; null means that the process is never parked. */
  readonly parkAfterMs: () => number | null
  /** Returns whether a request is pending. A call whose request is still being opened does not count, because nobody could answer it if the process were parked at that moment. */
  readonly hasPendingRequests: () => boolean
  /** Resolves when `whyNotParkable` is able to decide. */
  readonly prepare: () => Promise<unknown>
  /** Returns why the process cannot be parked, or null if it can. */
  readonly whyNotParkable: () => string | null
  readonly park: () => void
  /** Called without a reason when a request has been pending for a moment and when a reported reason no longer applies. Called with a reason if the process should be parked now but cannot be. */
  readonly onChange: (reason?: string) => void
}

/** Delay before the process or a reason is reported. Transcript rows and results arrive shortly after their calls, so some reasons disappear within this time. A rule or a person who answers at once does not have to wait until a report is stored. */
const reportAfterMs = 1000

export class ParkTimer {
  readonly #options: ParkTimerOptions
  #cancelTimer: (() => void) | null = null
  #isWaiting = false
  #isDue = false
  /** The last reported reason, or null if no reason was reported since the last `stop`. */
  #reportedReason: string | null = null
  #cancelReport: (() => void) | null = null
  #cancelFirstReport: (() => void) | null = null

  constructor(options: ParkTimerOptions) {
    this.#options = options
  }

  /** Call this when the waiting calls have changed, or when a call may have become resumable. */
  update(): void {
    if (!this.#options.hasPendingRequests()) this.stop()
    else if (this.#isWaiting) this.parkIfDue()
    else this.#start()
  }

  /** Call this when `parkAfterMs` has changed. */
  restart(): void {
    this.stop()
    this.update()
  }

  #start(): void {
    const { clock, prepare, parkAfterMs, onChange } = this.#options
    const ms = parkAfterMs()
    this.#isWaiting = true
    this.#cancelFirstReport = clock.after(reportAfterMs, () => onChange(this.#reportedReason ?? undefined))
    if (ms === null) return
    this.#cancelTimer = clock.after(ms, () => {
      this.#isDue = true
      this.parkIfDue()
    })
    // Prepare now, so that the result is available when the timer fires.
    void prepare()
  }

  parkIfDue(): void {
    if (this.#isDue) void this.#park()
  }

  stop(): void {
    this.#cancelTimer?.()
    this.#cancelTimer = null
    this.#cancelFirstReport?.()
    this.#cancelFirstReport = null
    this.#cancelReport?.()
    this.#cancelReport = null
    this.#isWaiting = false
    this.#isDue = false
    if (this.#reportedReason !== null) this.#options.onChange()
    this.#reportedReason = null
  }

  async #park(): Promise<void> {
    const { clock, prepare, hasPendingRequests, whyNotParkable, park, onChange } = this.#options
    await prepare()
    if (!this.#isDue || !hasPendingRequests()) return
    if (whyNotParkable() === null) return park()
    this.#cancelReport ??= clock.after(reportAfterMs, () => {
      this.#cancelReport = null
      const reason = whyNotParkable()
      if (reason === null || reason === this.#reportedReason) return
      this.#reportedReason = reason
      onChange(reason)
    })
  }
}
