/** Parks the process of a pending request after the session's `parkAfterMs`, if the call can be resumed. */
import type { Clock } from '@holdpoint/protocol'
import type { CliRun } from '../cli/cli-run.ts'
import { notParkable } from '../messages.ts'
import type { TranscriptIndex } from '../transcript/transcript-index.ts'
import type { ParkingMethod, ParkingProbe } from './parking-method.ts'

export interface ClaudeParkTimerOptions {
  readonly clock: Clock
  readonly index: TranscriptIndex
  readonly parkingProbe: ParkingProbe
  /** How long a request is pending before its process is parked; null means never. */
  readonly parkAfterMs: () => number | null
  /** Called without a reason when a request becomes pending and when a reported reason no longer applies. Called with a reason if the process should be parked now but cannot be. */
  readonly onChange: (reason?: string) => void
}

/** Limit for `bytesSinceCall`. The CLI reads all these bytes again each time it resumes the call. */
const bytesSinceCallMax = 1024 * 1024
/** Delay before a reason is reported. Transcript rows and results arrive shortly after their calls, so some reasons disappear within this time. */
const reportAfterMs = 1000

export class ClaudeParkTimer {
  readonly #options: ClaudeParkTimerOptions
  readonly #cli: CliRun
  #cancelTimer: (() => void) | null = null
  #isWaiting = false
  #isDue = false
  /** The last reported reason, or null if no reason was reported since the last `stop`. */
  #reportedReason: string | null = null
  #cancelReport: (() => void) | null = null

  constructor(cli: CliRun, options: ClaudeParkTimerOptions) {
    this.#cli = cli
    this.#options = options
  }

  onCallsChanged(): void {
    if (this.#cli.calls.pendingKeys.length === 0) this.stop()
    else if (this.#isWaiting) this.parkIfDue()
    else this.#start()
  }

  #start(): void {
    const { clock, parkingProbe, parkAfterMs, onChange } = this.#options
    const ms = parkAfterMs()
    this.#isWaiting = true
    onChange()
    if (ms === null) return
    this.#cancelTimer = clock.after(ms, this.#onDue)
    // Start the self-test now, so that its result is available when the timer fires.
    void parkingProbe.findMethod()
  }

  /** Call this when the transcript or the calls have changed, because the pending call may have become resumable. */
  parkIfDue(): void {
    if (this.#isDue) void this.#park()
  }

  stop(): void {
    this.#cancelTimer?.()
    this.#cancelTimer = null
    this.#cancelReport?.()
    this.#cancelReport = null
    this.#isWaiting = false
    this.#isDue = false
    if (this.#reportedReason !== null) this.#options.onChange()
    this.#reportedReason = null
  }

  /** Returns why the pending call could not be resumed if the process ended now, or null if it could be resumed. */
  whyNotParkable(method: ParkingMethod = this.#options.parkingProbe.method ?? 'markerRow'): string | null {
    const { index } = this.#options
    const call = this.#cli.calls.soleCall()
    if ('reason' in call) return call.reason
    if (this.#cli.backgroundTasks > 0) return notParkable.background
    if (!index.openCalls.some(({ id }) => id === call.id)) return notParkable.notRecorded
    if (index.openCalls.length > 1) return notParkable.siblingOpen
    if (index.bytesSinceCall > bytesSinceCallMax) return notParkable.tooMuchWritten
    switch (method) {
      case 'markerRow':
        return null
      case 'none':
        return notParkable.off
      case 'defer':
        if (!call.isHeld) return notParkable.onlyQuestions
        return index.hasSingleCall ? null : notParkable.siblingInStep
    }
  }

  readonly #onDue = () => {
    this.#isDue = true
    this.parkIfDue()
  }

  async #park(): Promise<void> {
    const method = await this.#options.parkingProbe.findMethod()
    if (!this.#isDue || this.#cli.calls.pendingKeys.length === 0) return
    if (this.whyNotParkable(method) === null) return void (await this.#cli.end('parked'))
    this.#cancelReport ??= this.#options.clock.after(reportAfterMs, () => {
      this.#cancelReport = null
      const reason = this.whyNotParkable(method)
      if (reason === null || reason === this.#reportedReason) return
      this.#reportedReason = reason
      this.#options.onChange(reason)
    })
  }
}
