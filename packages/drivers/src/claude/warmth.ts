/** How long a process is kept for a call that waits, and whether it may be let go then: only where the call can be brought back as it was. */
import type { Clock } from '../clock.ts'
import type { Cli } from './cli.ts'
import type { RowIndex } from './row-index.ts'

export interface WarmthOptions {
  readonly clock: Clock
  readonly index: RowIndex
  /** How long; null: for ever. */
  readonly warmMs: () => number | null
  /** Messages that wait behind the call. */
  readonly queued: () => number
  readonly canPark: () => Promise<boolean>
  /** It has to stay, and why. */
  readonly onStay: (why: string) => void
}

/** More would have to be read again each time the call is brought back. */
const bytesSinceMax = 1024 * 1024

export class Warmth {
  readonly #options: WarmthOptions
  readonly #cli: Cli
  #cancel: (() => void) | null = null
  #cold = false
  #said = false

  constructor(cli: Cli, options: WarmthOptions) {
    this.#cli = cli
    this.#options = options
  }

  /** Something began or ceased to wait. */
  changed(): void {
    const waits = this.#cli.calls.pending.length > 0
    const warmMs = this.#options.warmMs()
    if (!waits) this.stop()
    else if (warmMs !== null && !this.#cancel && !this.#cold)
      this.#cancel = this.#options.clock.after(warmMs, this.#cool)
    else this.look()
  }

  /** The rows have changed, or what waits: perhaps it can be let go by now. */
  look(): void {
    if (this.#cold) void this.#letGo()
  }

  stop(): void {
    this.#cancel?.()
    this.#cancel = null
    this.#cold = false
    this.#said = false
  }

  readonly #cool = () => {
    this.#cold = true
    this.look()
  }

  async #letGo(): Promise<void> {
    const why = this.#obstacle() ?? ((await this.#options.canPark()) ? null : 'this Claude Code failed the self-test')
    // Looked at again: the test may have taken seconds.
    const now = why ?? (this.#cold ? this.#obstacle() : 'it was answered')
    if (now === null) return void (await this.#cli.end())
    if (now === notYet || !this.#cold || this.#said) return
    this.#said = true
    this.#options.onStay(now)
  }

  #obstacle(): string | null {
    const { index, queued } = this.#options
    const waiting = this.#cli.calls.alone()
    if ('why' in waiting) return waiting.why
    if (queued() > 0) return 'a message waits behind it'
    if (this.#cli.background > 0) return 'work goes on in the background'
    if (!index.open.some(call => call.id === waiting.id)) return notYet
    if (index.open.length > 1) return 'another call of the same step has not been made yet'
    return index.bytesSince > bytesSinceMax ? 'too much has been written since' : null
  }
}

/** Its row will come, and with it another look. */
const notYet = 'it is not on record yet'
