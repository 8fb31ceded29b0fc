/** A gateway that can be killed, over an archive that fails: commits are lost before they are kept, or their acknowledgement after. */

import { type Caller, type Gateway, openGateway, type Store } from '@holdpoint/engine'
import { type CallOptions, type Clock, Fault, type Input, type OperationName, type Output } from '@holdpoint/protocol'
import type { Chance } from './random.ts'

export interface Faults {
  /** How likely a commit is lost, its acknowledgement is lost, a read fails. */
  readonly before: number
  readonly after: number
  readonly read: number
}
const away = () => new Fault('store_unavailable', 'The archive is away (simulated)')

export class SimulatedGateway {
  readonly gateway: Gateway
  readonly #dead: Promise<never>
  readonly #die: () => void

  private constructor(gateway: Gateway, dead: Promise<never>, die: () => void) {
    this.gateway = gateway
    this.#dead = dead
    this.#die = die
  }

  static async open(store: Store, clock: Clock, chance: Chance, faults: () => Faults): Promise<SimulatedGateway> {
    let alive = true
    let reject = (_: Fault) => {}
    const dead = new Promise<never>((_, fail) => {
      reject = fail
    })
    dead.catch(() => {})
    const stops: (() => void)[] = []
    const failing = failingStore(store, chance, faults, () => alive, stops)
    const mortal: Clock = {
      now: () => clock.now(),
      after: (ms, wake) => clock.after(ms, () => alive && wake()),
    }
    const random = (count: number) => chance.bytes(count)
    const gateway = await openGateway({ store: failing, clock: mortal, random, settings: { retentionMs: 400_000 } })
    return new SimulatedGateway(gateway, dead, () => {
      alive = false
      for (const stop of stops) stop()
      reject(away())
    })
  }

  /** A call ends with its answer, or with the gateway. */
  async call<K extends OperationName>(
    caller: Caller,
    op: K,
    input: Input<K>,
    options?: CallOptions,
  ): Promise<Output<K>> {
    return (await Promise.race([this.gateway.dispatch(caller, op, input, options), this.#dead])).body
  }
  watch(...args: Parameters<Gateway['subscribe']>) {
    return Promise.race([this.gateway.subscribe(...args), this.#dead])
  }
  /** Nothing of it goes on: no timer, no commit that has not begun, no answer to anyone. */
  kill(): void {
    this.#die()
  }
}

function failingStore(
  store: Store,
  chance: Chance,
  faults: () => Faults,
  alive: () => boolean,
  stops: (() => void)[],
): Store {
  const never = new Promise<never>(() => {})
  async function read<T>(work: () => Promise<T>): Promise<T> {
    if (!alive()) return never
    if (chance.happens(faults().read)) throw away()
    const value = await work()
    return alive() ? value : never
  }
  return {
    kind: store.kind,
    async commit(change) {
      if (!alive()) return never
      const roll = chance.next()
      if (roll < faults().before) throw away()
      const result = await store.commit(change)
      if (!alive()) return never
      if (roll < faults().before + faults().after) throw away()
      return result
    },
    get: (table, id) => read(() => store.get(table, id)),
    find: (table, query) => read(() => store.find(table, query)),
    count: (table, query) => read(() => store.count(table, query)),
    head: () => read(() => store.head()),
    now: () => read(() => store.now()),
    events: query => read(() => store.events(query)),
    epochAt: seq => read(() => store.epochAt(seq)),
    onCommit(listener) {
      const stop = store.onCommit(listener)
      stops.push(stop)
      return stop
    },
    backup: file => store.backup(file),
    close: async () => {},
  }
}
