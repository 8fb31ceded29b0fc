/** Measures for how long calls block the event loop of a gateway process, with the probe that runs in that process. */
import { once } from 'node:events'
import { connect } from 'node:net'
import { join } from 'node:path'
import { faultStatus } from '@holdpoint/protocol'

/** The options of Node with which a gateway measures itself. Its environment must name PROBE_SOCKET. */
export const probeArguments = ['--single-threaded', '--import', join(import.meta.dirname, 'event-loop-probe.mjs')]

/** The longest time for which other clients may have to wait. */
const blockedMaxMs = 50
/** How often a call that seems to take too long is measured. */
const attemptsMax = 8
/** How long the reference work of the probe takes on an idle machine with two cores. */
const idleReferenceMs = 2.3

/** A reply of the gateway. */
export interface Sent {
  readonly status: number
  readonly body: string
}

interface Measured {
  readonly name: string
  readonly ms: number
  readonly status: number
}

export class BlockedTimes {
  readonly #probe: string
  readonly #onTooMany: () => Promise<void>
  readonly #enoughMs: number
  readonly #measured: Measured[] = []
  #checked = 0

  /** `enoughMs` is the time below which a call is not measured again. `onTooMany` is called after a reply that a limit was reached, and the call is then repeated. */
  constructor(probe: string, onTooMany: () => Promise<void>, enoughMs = blockedMaxMs) {
    this.#probe = probe
    this.#onTooMany = onTooMany
    this.#enoughMs = enoughMs
  }

  /** Measures a call. A call that takes long is measured again, because garbage collection and compiling may have disturbed it, and the shortest time counts. */
  async measure<T>(name: string, prepare: () => Promise<T>, work: (prepared: T) => Promise<Sent>): Promise<void> {
    let ms = Number.POSITIVE_INFINITY
    let status = 0
    for (let attempt = 0; attempt < attemptsMax && ms >= this.#enoughMs; attempt++) {
      const prepared = await prepare()
      const found = await this.#blockedMs(async () => {
        status = (await work(prepared)).status
      })
      if (status === faultStatus.too_many) await this.#onTooMany()
      else ms = Math.min(ms, found)
    }
    this.#measured.push({ name, ms, status })
  }

  /** Returns what was too slow or failed since the last call of this method. */
  problems(): readonly string[] {
    const unchecked = this.#measured.slice(this.#checked)
    this.#checked = this.#measured.length
    return unchecked.flatMap(({ name, ms, status }) => {
      if (status >= 500) return [`${name}: status ${status}`]
      return ms < blockedMaxMs ? [] : [`${name}: blocked for ${ms.toFixed(0)} ms (status ${status})`]
    })
  }

  /** Returns the calls that took longest, each in a line. */
  longest(count: number): string {
    const sorted = this.#measured.toSorted((a, b) => b.ms - a.ms).slice(0, count)
    return sorted
      .map(({ name, ms, status }) => `${ms.toFixed(1).padStart(6)} ms  ${name} (status ${status})`)
      .join('\n')
  }

  /** Returns the longest time for which the gateway was blocked during the work, in milliseconds of CPU time. On a machine that is slow or busy, the time is reduced in proportion to the time of the reference work. */
  async #blockedMs(work: () => Promise<unknown>): Promise<number> {
    const socket = connect(this.#probe)
    await once(socket, 'data')
    let answer = ''
    socket.on('data', chunk => {
      answer += chunk
    })
    await work()
    socket.end()
    await once(socket, 'close')
    const [longest = Number.NaN, reference = Number.NaN] = answer.split(' ').map(Number)
    return longest / Math.max(1, reference / idleReferenceMs)
  }
}
