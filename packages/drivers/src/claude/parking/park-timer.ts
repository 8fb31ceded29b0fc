/** How long a process is kept for a call that waits, and whether it may be let go then: only where the call can be brought back as it was. */
import type { Clock } from '@holdpoint/protocol'
import type { CliRun } from '../cli/cli-run.ts'
import type { TranscriptIndex } from '../transcript/transcript-index.ts'
import type { ParkingMethod, ParkingProbe } from './parking-method.ts'

export interface ParkTimerOptions {
  readonly clock: Clock
  readonly index: TranscriptIndex
  readonly parking: ParkingProbe
  /** How long; null: for ever. */
  readonly parkAfterMs: () => number | null
  /** Something began to wait, or ceased to; it has to stay, and why. */
  readonly tell: (note?: string) => void
}

/** More would have to be read again each time the call is brought back. */
const bytesSinceMax = 1024 * 1024

export class ParkTimer {
  readonly #options: ParkTimerOptions
  readonly #cli: CliRun
  #cancel: (() => void) | null = null
  #waits = false
  #cold = false
  /** Why it has to stay, as it was told last. */
  #told: string | null = null
  #explain: (() => void) | null = null

  constructor(cli: CliRun, options: ParkTimerOptions) {
    this.#cli = cli
    this.#options = options
  }

  /** Something began or ceased to wait. */
  changed(): void {
    if (this.#cli.calls.pending.length === 0) this.stop()
    else if (this.#waits) this.look()
    else this.#begin()
  }

  #begin(): void {
    const { clock, parking, parkAfterMs, tell } = this.#options
    const ms = parkAfterMs()
    this.#waits = true
    tell()
    if (ms === null) return
    this.#cancel = clock.after(ms, this.#cool)
    // Tried while there is time, and nothing else to do.
    void parking.find()
  }

  /** The rows have changed, or what waits: perhaps it can be let go by now. */
  look(): void {
    if (this.#cold) void this.#letGo()
  }

  stop(): void {
    this.#cancel?.()
    this.#cancel = null
    this.#explain?.()
    this.#explain = null
    this.#waits = false
    this.#cold = false
    if (this.#told !== null) this.#options.tell()
    this.#told = null
  }

  /** Why what waits could not be had again if the process went now; null where it could. */
  obstacle(way: ParkingMethod = this.#options.parking.known ?? 'row'): string | null {
    const { index } = this.#options
    const waiting = this.#cli.calls.alone()
    if ('why' in waiting) return waiting.why
    if (this.#cli.background > 0) return 'work goes on in the background'
    if (!index.open.some(call => call.id === waiting.id)) return 'it is not on record yet'
    if (index.open.length > 1) return 'another call of the same step has not been made yet'
    if (index.bytesSince > bytesSinceMax) return 'too much has been written since'
    switch (way) {
      case 'row':
        return null
      case 'none':
        return 'parking is off'
      case 'defer':
        if (!waiting.held) return 'only a question or a plan can be let go with this Claude Code'
        return index.single ? null : 'another call stands beside it in the same step'
    }
  }

  readonly #cool = () => {
    this.#cold = true
    this.look()
  }

  async #letGo(): Promise<void> {
    const way = await this.#options.parking.find()
    if (!this.#cold || this.#cli.calls.pending.length === 0) return
    if (this.obstacle(way) === null) return void (await this.#cli.end('parked'))
    // What passes in a moment is no news.
    this.#explain ??= this.#options.clock.after(passingMs, () => {
      this.#explain = null
      const why = this.obstacle(way)
      if (why === null || why === this.#told) return
      this.#told = why
      this.#options.tell(why)
    })
  }
}

/** Rows and results are seen a moment after the calls that they belong to. */
const passingMs = 1000
