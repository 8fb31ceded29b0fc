/** A gateway that can be killed, on a store with injected faults: a lost commit, a commit whose acknowledgment is lost, or a failed read. */

import { type Caller, type Gateway, openGateway, type Store } from '@holdpoint/engine'
import { type CallOptions, type Clock, Fault, type Input, type OperationName, type Output } from '@holdpoint/protocol'
import type { Random } from './random.ts'

/** The probabilities that a commit is lost, that only its acknowledgment is lost, and that a read fails. */
export interface FaultRates {
  readonly commitLost: number
  readonly replyLost: number
  readonly readFails: number
}
const storeUnavailable = () => new Fault('store_unavailable', 'The store is unavailable (simulated)')

export class SimulatedGateway {
  readonly gateway: Gateway
  readonly #killed: Promise<never>
  readonly #onKill: () => void

  private constructor(gateway: Gateway, killed: Promise<never>, onKill: () => void) {
    this.gateway = gateway
    this.#killed = killed
    this.#onKill = onKill
  }

  static async open(
    store: Store,
    clock: Clock,
    random: Random,
    faultRates: () => FaultRates,
  ): Promise<SimulatedGateway> {
    let alive = true
    let reject = (_: Fault) => {}
    const killed = new Promise<never>((_, fail) => {
      reject = fail
    })
    killed.catch(() => {})
    const stops: (() => void)[] = []
    const failing = failingStore(store, random, faultRates, () => alive, stops)
    const stoppableClock: Clock = {
      now: () => clock.now(),
      monotonic: () => clock.monotonic(),
      after: (ms, wake) => clock.after(ms, () => alive && wake()),
    }
    const randomBytes = (count: number) => random.bytes(count)
    const gateway = await openGateway({
      store: failing,
      clock: stoppableClock,
      random: randomBytes,
      settings: { retentionMs: 400_000 },
    })
    return new SimulatedGateway(gateway, killed, () => {
      alive = false
      for (const stop of stops) stop()
      reject(storeUnavailable())
    })
  }

  /** Resolves with the reply, or rejects if the gateway is killed first. */
  async call<K extends OperationName>(
    caller: Caller,
    op: K,
    input: Input<K>,
    options?: CallOptions,
  ): Promise<Output<K>> {
    return (await Promise.race([this.gateway.dispatch(caller, op, input, options), this.#killed])).body
  }
  subscribe(...args: Parameters<Gateway['subscribe']>) {
    return Promise.race([this.gateway.subscribe(...args), this.#killed])
  }
  /** Stops everything at once: timers, commits that have not started, and replies. */
  kill(): void {
    this.#onKill()
  }
}

function failingStore(
  store: Store,
  random: Random,
  faultRates: () => FaultRates,
  alive: () => boolean,
  stops: (() => void)[],
): Store {
  const never = new Promise<never>(() => {})
  async function read<T>(work: () => Promise<T>): Promise<T> {
    if (!alive()) return never
    if (random.chance(faultRates().readFails)) throw storeUnavailable()
    const value = await work()
    return alive() ? value : never
  }
  return {
    kind: store.kind,
    async commit(change) {
      if (!alive()) return never
      const roll = random.next()
      if (roll < faultRates().commitLost) throw storeUnavailable()
      const result = await store.commit(change)
      if (!alive()) return never
      if (roll < faultRates().commitLost + faultRates().replyLost) throw storeUnavailable()
      return result
    },
    get: (table, id) => read(() => store.get(table, id)),
    find: (table, query) => read(() => store.find(table, query)),
    count: (table, query) => read(() => store.count(table, query)),
    head: () => read(() => store.head()),
    now: () => read(() => store.now()),
    takeClockJumps: () => store.takeClockJumps(),
    events: query => read(() => store.events(query)),
    epochAt: seq => read(() => store.epochAt(seq)),
    bodyHashAt: seq => read(() => store.bodyHashAt(seq)),
    keys: store.keys,
    onCommit(listener) {
      const stop = store.onCommit(listener)
      stops.push(stop)
      return stop
    },
    backup: file => store.backup(file),
    close: async () => {},
  }
}
