/** A stage for agents: the real gateway on the memory store, people who answer, runners that can be killed. */
import { randomBytes } from 'node:crypto'
import { type Caller, callAs, type Gateway, openGateway, type Settings } from '@holdpoint/engine'
import {
  type Answer,
  type Call,
  type Clock,
  type Event,
  type EventType,
  formatId,
  type Input,
  type OperationName,
  type Request,
  type RequestId,
  type SessionId,
} from '@holdpoint/protocol'
import { openMemory } from '@holdpoint/store'
import { type Driver, runRunner } from '../src/index.ts'

export const personCaller: Caller = { role: 'person', name: 'ada', token: 'tok_person', via: 'test' }
export const runnerCaller: Caller = { role: 'runner', name: 'runner', token: 'tok_runner', via: 'test' }
export const agentCaller: Caller = { role: 'agent', name: 'agent', token: 'tok_agent', via: 'test' }
export const runnerId = formatId('run', new Uint8Array(20))

export type EventOf<T extends EventType> = Extract<Event, { readonly type: T }>

export interface StageOptions {
  readonly clock?: Clock
  readonly settings?: Partial<Settings>
}

export interface RunningRunner {
  /** As kill -9: whatever it has not committed is gone. */
  kill(): void
  /** As SIGTERM. */
  stop(): Promise<void>
  readonly over: Promise<void>
}

export class RunnerFixture {
  readonly events: Event[] = []
  gateway: Gateway
  readonly #store: Awaited<ReturnType<typeof openMemory>>
  readonly #options: StageOptions
  readonly #looking = new Set<() => void>()
  readonly #runners = new Set<RunningRunner>()

  private constructor(store: Awaited<ReturnType<typeof openMemory>>, gateway: Gateway, options: StageOptions) {
    this.#store = store
    this.gateway = gateway
    this.#options = options
  }

  static async open(options: StageOptions = {}): Promise<RunnerFixture> {
    const clock = options.clock ? { clock: options.clock } : {}
    const store = await openMemory(clock)
    const gateway = await openGateway({ store, ...clock, ...(options.settings ? { settings: options.settings } : {}) })
    const stage = new RunnerFixture(store, gateway, options)
    await stage.#watch()
    return stage
  }

  async #watch(): Promise<void> {
    const frame = ({ json, cursor }: { readonly json: string; readonly cursor: string | null }) => {
      if (cursor === null) return
      this.events.push(JSON.parse(json).event)
      for (const look of this.#looking) look()
    }
    await this.gateway.subscribe(personCaller, {}, { frame })
  }

  /** The gateway goes and comes back on the same archive. */
  async restart(between: () => Promise<void> = async () => {}): Promise<void> {
    await this.gateway.close()
    await between()
    const { clock, settings } = this.#options
    this.gateway = await openGateway({
      store: this.#store,
      ...(clock ? { clock } : {}),
      ...(settings ? { settings } : {}),
    })
    await this.#watch()
  }

  person: Call = (op, input, options) => callAs(this.gateway, personCaller)(op, input, options)
  runner: Call = (op, input, options) => callAs(this.gateway, runnerCaller)(op, input, options)
  agent: Call = (op, input, options) => callAs(this.gateway, agentCaller)(op, input, options)

  run(drivers: readonly Driver[], options: Partial<Parameters<typeof runRunner>[0]> = {}): RunningRunner {
    const controller = new AbortController()
    const mortal = killable(options.call ?? this.runner)
    const { clock } = this.#options
    const over = runRunner({
      id: runnerId,
      name: 'stage',
      drivers,
      signal: controller.signal,
      ...(clock ? { clock } : {}),
      ...options,
      call: mortal.call,
    })
    over.catch(() => {})
    const running: RunningRunner = {
      over,
      kill: () => {
        mortal.kill()
        controller.abort()
        this.#runners.delete(running)
      },
      stop: () => {
        controller.abort()
        return over
      },
    }
    this.#runners.add(running)
    return running
  }

  /** Starts a session once its driver is offered. */
  async start(driver: string, more: Omit<Input<'startSession'>, 'driver'> = {}): Promise<SessionId> {
    for (;;) {
      const { items } = await this.person('listDrivers', {})
      if (items.some(item => item.name === driver)) break
      await new Promise(resolve => setImmediate(resolve))
    }
    return (await this.person('startSession', { driver, prompt: 'go', ...more })).id
  }

  /** The first event, past or to come, that the test means. */
  async seen<T extends EventType>(type: T, fits: (event: EventOf<T>) => boolean = () => true): Promise<EventOf<T>> {
    const find = () =>
      this.events.find((event): event is EventOf<T> => event.type === type && fits(event as EventOf<T>))
    return this.until(find)
  }

  until<T>(find: () => T | undefined): Promise<T> {
    return new Promise(resolve => {
      const look = () => {
        const found = find()
        if (found === undefined) return
        this.#looking.delete(look)
        resolve(found)
      }
      this.#looking.add(look)
      look()
    })
  }

  async asked(key: string, session?: SessionId): Promise<Request> {
    const fits = (event: EventOf<'request.opened'>) =>
      event.value.key === key && (session === undefined || event.session === session)
    return (await this.seen('request.opened', fits)).value
  }

  async answer(request: Request, answer: Answer): Promise<Request> {
    return this.person('answerRequest', { id: request.id, digest: request.digest, answer })
  }

  /** Answers everything that is asked from now on. */
  answerAll(choose: (request: Request) => Answer): () => void {
    const done = new Set<RequestId>()
    const look = () => {
      for (const event of this.events) {
        if (event.type !== 'request.opened' || done.has(event.value.id)) continue
        done.add(event.value.id)
        void this.answer(event.value, choose(event.value)).catch(() => {})
      }
    }
    this.#looking.add(look)
    look()
    return () => this.#looking.delete(look)
  }

  turnOver(count = 1): Promise<EventOf<'turn.finished'>> {
    return this.until(() => this.log('turn.finished')[count - 1])
  }

  log<T extends EventType>(type: T): EventOf<T>[] {
    return this.events.filter((event): event is EventOf<T> => event.type === type)
  }

  /** What the agent said, as a reader of the log sees it: a later block of the same id replaces the earlier. */
  texts(): string[] {
    const blocks = new Map<string, string>()
    for (const event of this.log('message.added')) blocks.set(event.block, event.text)
    return [...blocks.values()]
  }

  async close(): Promise<void> {
    await Promise.all([...this.#runners].map(runner => runner.stop().catch(() => {})))
    await this.gateway.close()
  }
}

/** A call that can be cut for good, as death cuts it: what was under way is never heard of again. */
export function killable(call: Call): { readonly call: Call; readonly kill: () => void } {
  let dead = false
  const forever = new Promise<never>(() => {})
  return {
    kill: () => {
      dead = true
    },
    call: async (op, input, options) => {
      if (dead) return forever
      try {
        const output = await call(op, input, options)
        return dead ? await forever : output
      } catch (error) {
        if (dead) return forever
        throw error
      }
    },
  }
}

const writes: ReadonlySet<OperationName> = new Set([
  'attachSession',
  'takeCommand',
  'appendEvents',
  'openRequest',
  'reportDelivery',
  'finishCommand',
])

/** Dies at the n-th write: before it reaches the gateway, or after it was committed. */
export function dyingAt(call: Call, nth: number, when: 'before' | 'after', onDeath: () => void): Call {
  let count = 0
  const forever = new Promise<never>(() => {})
  return async (op, input, options) => {
    if (!writes.has(op)) return call(op, input, options)
    count++
    if (count < nth) return call(op, input, options)
    if (count === nth) {
      if (when === 'after') await call(op, input, options)
      onDeath()
    }
    return forever
  }
}

/** Time that stands until a test moves it. */
export class ManualClock implements Clock {
  #now = 1_700_000_000_000
  readonly #timers = new Set<{ readonly at: number; readonly wake: () => void }>()

  now(): number {
    return this.#now
  }

  after(ms: number, wake: () => void): () => void {
    const timer = { at: this.#now + ms, wake }
    this.#timers.add(timer)
    return () => this.#timers.delete(timer)
  }

  /** Moves on in small steps, and lets everything that wakes up do its work in between. */
  async advance(ms: number, stepMs = 1000): Promise<void> {
    for (let left = ms; left > 0; left -= stepMs) {
      this.#now += Math.min(stepMs, left)
      for (const timer of [...this.#timers]) {
        if (timer.at > this.#now || !this.#timers.delete(timer)) continue
        timer.wake()
      }
      for (let i = 0; i < 3; i++) await new Promise(resolve => setImmediate(resolve))
    }
  }
}

export function randomRunnerId() {
  return formatId('run', randomBytes(20))
}
