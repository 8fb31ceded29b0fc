/** Which method of parking works with this Claude Code. Found out once per driver, because the better method must be tested first. */

/** `markerRow`: parks on any call of the main agent by writing a row in the CLI's private transcript format; `defer`: parks on a single question or plan by the CLI's documented hook decision; `none`: never parks. */
export type ParkingMethod = 'markerRow' | 'defer' | 'none'
/** `auto`: marker rows if the self-test passes, else `defer`; `public`: only the documented `defer`; `off`: the process runs as long as a request is pending. */
export type ParkingChoice = 'auto' | 'public' | 'off'

export interface ParkingProbeOptions {
  readonly choice: ParkingChoice
  /** The self-test has passed before with this version. */
  readonly alreadyProven: boolean
  readonly test: () => Promise<boolean>
  /** Called when the self-test passes. */
  readonly onProven: () => void
}

export class ParkingProbe {
  readonly #options: ParkingProbeOptions
  #method: ParkingMethod | null
  #testing: Promise<ParkingMethod> | undefined

  constructor(options: ParkingProbeOptions) {
    this.#options = options
    const { choice, alreadyProven } = options
    this.#method = choice === 'off' ? 'none' : choice === 'public' ? 'defer' : alreadyProven ? 'markerRow' : null
  }

  /** Null until the self-test has finished. */
  get method(): ParkingMethod | null {
    return this.#method
  }

  async findMethod(): Promise<ParkingMethod> {
    if (this.#method) return this.#method
    this.#testing ??= this.#runTest()
    return this.#testing
  }

  async #runTest(): Promise<ParkingMethod> {
    // A self-test that cannot run counts as failed.
    const passed = await this.#options.test().catch(() => false)
    this.#method = passed ? 'markerRow' : 'defer'
    if (passed) this.#options.onProven()
    return this.#method
  }
}
