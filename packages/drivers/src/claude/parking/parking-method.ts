/** Finds out, once per driver, which parking method works with the installed Claude Code. The preferred method, marker rows, must pass a self-test first. */

/** `markerRow` writes a row in the CLI's private transcript format, and can park on any call of the main agent. `defer` uses the CLI's documented hook decision, and can park only on a single question or plan. `none` never parks. */
export type ParkingMethod = 'markerRow' | 'defer' | 'none'
/** `auto` uses marker rows if the self-test passes, otherwise `defer`. `public` always uses `defer`. `off` keeps the process running while a request is pending. */
export type ParkingChoice = 'auto' | 'public' | 'off'

export interface ParkingProbeOptions {
  readonly choice: ParkingChoice
  /** Whether this version has already passed the self-test. */
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

  /** Null if the method depends on a self-test that has not finished. */
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
