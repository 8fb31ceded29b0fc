/** By which way a waiting call can be let go here: found out once per driver, since the better one has to be tried first. */

/** `row`: any call of the main agent's, by a row of the CLI's private form; `defer`: a question or a plan that stands alone, by what the CLI documents; `none`: no call. */
export type ParkingMethod = 'row' | 'defer' | 'none'
/** `auto`: the private form where the self-test has shown that it works, else the documented one; `public`: only that; `off`: a process is kept for as long as a call waits. */
export type ParkingChoice = 'auto' | 'public' | 'off'

export interface ParkingProbeOptions {
  readonly choice: ParkingChoice
  /** It has been shown before. */
  readonly shown: boolean
  readonly test: () => Promise<boolean>
  /** The test has shown that it works. */
  readonly onShown: () => void
}

export class ParkingProbe {
  readonly #options: ParkingProbeOptions
  #known: ParkingMethod | null
  #finding: Promise<ParkingMethod> | undefined

  constructor(options: ParkingProbeOptions) {
    this.#options = options
    const { choice, shown } = options
    this.#known = choice === 'off' ? 'none' : choice === 'public' ? 'defer' : shown ? 'row' : null
  }

  /** Null as long as it has not been found out. */
  get known(): ParkingMethod | null {
    return this.#known
  }

  async find(): Promise<ParkingMethod> {
    if (this.#known) return this.#known
    this.#finding ??= this.#try()
    return this.#finding
  }

  async #try(): Promise<ParkingMethod> {
    // What cannot be tried is not relied on.
    const works = await this.#options.test().catch(() => false)
    this.#known = works ? 'row' : 'defer'
    if (works) this.#options.onShown()
    return this.#known
  }
}
