/** Test fixture for drivers: a real gateway with an in-memory store, calls as a person, runner or agent, and runners that can be killed. */
import { randomBytes } from 'node:crypto'
import { type Caller, callAs, type Gateway, type GatewayOptions, openGateway, type Settings } from '@holdpoint/engine'
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
import { openMemory, type TimeSource } from '@holdpoint/store'
import { type Driver, runRunner } from '../src/index.ts'
import type { RunnerProblem } from '../src/runner.ts'

export const runnerId = formatId('run', new Uint8Array(20))
export const personCaller: Caller = { role: 'owner', id: 'per_ada', name: 'ada', token: 'tok_person', via: 'api' }
export const runnerCaller: Caller = { role: 'runner', id: runnerId, name: 'runner', token: 'tok_runner', via: 'api' }
export const agentCaller: Caller = { role: 'agent', id: 'tok_agent', name: 'agent', token: 'tok_agent', via: 'api' }

export type EventOf<T extends EventType> = Extract<Event, { readonly type: T }>

export interface RunnerFixtureOptions {
  readonly clock?: Clock & TimeSource
  readonly settings?: Partial<Settings>
  readonly dataFolder?: GatewayOptions['dataFolder']
  /** The machine of the gateway, for rules and watchers in files. */
  readonly machine?: GatewayOptions['machine']
}

export interface RunningRunner {
  /** Simulates SIGKILL: everything that the runner has not committed is lost. */
  kill(): void
  /** Simulates SIGTERM. */
  stop(): Promise<void>
  readonly finished: Promise<void>
}

interface OpenedGateway {
  readonly store: Awaited<ReturnType<typeof openMemory>>
  readonly gateway: Gateway
  readonly options: RunnerFixtureOptions
}

export async function openGatewayInMemory(options: RunnerFixtureOptions): Promise<OpenedGateway> {
  const clock = options.clock ? { clock: options.clock } : {}
  const store = await openMemory(clock)
  const { settings, dataFolder, machine } = options
  const gateway = await openGateway({
    store,
    ...clock,
    ...(settings && { settings }),
    ...(dataFolder && { dataFolder }),
    ...(machine && { machine }),
  })
  return { store, gateway, options }
}

export class RunnerFixture {
  readonly events: Event[] = []
  /** The lines that the runners wrote to their log. */
  readonly problems: RunnerProblem[] = []
  gateway: Gateway
  readonly #store: Awaited<ReturnType<typeof openMemory>>
  readonly #options: RunnerFixtureOptions
  readonly #listeners = new Set<() => void>()
  readonly #runners = new Set<RunningRunner>()

  protected constructor({ store, gateway, options }: OpenedGateway) {
    this.#store = store
    this.gateway = gateway
    this.#options = options
  }

  static async open(options: RunnerFixtureOptions = {}): Promise<RunnerFixture> {
    const fixture = new RunnerFixture(await openGatewayInMemory(options))
    await fixture.subscribe()
    return fixture
  }

  protected async subscribe(): Promise<void> {
    const frame = ({ json, cursor }: { readonly json: string; readonly cursor: string | null }) => {
      if (cursor === null) return
      this.events.push(JSON.parse(json).event)
      for (const listener of this.#listeners) listener()
    }
    await this.gateway.subscribe(personCaller, {}, { frame })
  }

  /** Closes the gateway and opens another one on the same store. */
  async restartGateway(between: () => Promise<void> = async () => {}): Promise<void> {
    await this.gateway.close()
    await between()
    const { clock, settings, machine } = this.#options
    this.gateway = await openGateway({
      store: this.#store,
      ...(clock ? { clock } : {}),
      ...(settings ? { settings } : {}),
      ...(machine ? { machine } : {}),
    })
    await this.subscribe()
  }

  asPerson: Call = (op, input, options) => callAs(this.gateway, personCaller)(op, input, options)
  asRunner: Call = (op, input, options) => callAs(this.gateway, runnerCaller)(op, input, options)
  asAgent: Call = (op, input, options) => callAs(this.gateway, agentCaller)(op, input, options)

  startRunner(drivers: readonly Driver[], options: Partial<Parameters<typeof runRunner>[0]> = {}): RunningRunner {
    const controller = new AbortController()
    const killableCall = killable(options.call ?? this.asRunner)
    const { clock } = this.#options
    const finished = runRunner({
      log: problem => this.problems.push(problem),
      id: runnerId,
      name: 'test runner',
      drivers,
      signal: controller.signal,
      ...(clock ? { clock } : {}),
      ...options,
      call: killableCall.call,
    })
    finished.catch(() => {})
    const running: RunningRunner = {
      finished,
      kill: () => {
        killableCall.kill()
        controller.abort()
        this.#runners.delete(running)
      },
      stop: () => {
        controller.abort()
        return finished
      },
    }
    this.#runners.add(running)
    return running
  }

  /** Waits until a runner offers the driver, then starts a session with it. */
  async startSession(driver: string, more: Omit<Input<'startSession'>, 'driver'> = {}): Promise<SessionId> {
    for (;;) {
      const { items } = await this.asPerson('listDrivers', {})
      if (items.some(item => item.name === driver)) break
      await new Promise(resolve => setImmediate(resolve))
    }
    return (await this.asPerson('startSession', { driver, prompt: 'go', ...more })).id
  }

  /** Resolves with the first event of this type, past or future, that matches. */
  async waitForEvent<T extends EventType>(
    type: T,
    matches: (event: EventOf<T>) => boolean = () => true,
  ): Promise<EventOf<T>> {
    const find = () =>
      this.events.find((event): event is EventOf<T> => event.type === type && matches(event as EventOf<T>))
    return this.waitFor(find)
  }

  /** Calls `find` now and after every event until it returns a value. */
  waitFor<T>(find: () => T | undefined): Promise<T> {
    return new Promise(resolve => {
      const listener = () => {
        const found = find()
        if (found === undefined) return
        this.#listeners.delete(listener)
        resolve(found)
      }
      this.#listeners.add(listener)
      listener()
    })
  }

  async waitForRequest(key: string, session?: SessionId): Promise<Request> {
    const matches = (event: EventOf<'request.opened'>) =>
      event.value.key === key && (session === undefined || event.session === session)
    return (await this.waitForEvent('request.opened', matches)).value
  }

  async answer(request: Request, answer: Answer): Promise<Request> {
    return this.asPerson('answerRequest', { id: request.id, digest: request.digest, answer })
  }

  /** Answers all pending and future requests until the returned function is called. */
  answerAll(choose: (request: Request) => Answer): () => void {
    const answered = new Set<RequestId>()
    const listener = () => {
      for (const event of this.events) {
        if (event.type !== 'request.opened' || answered.has(event.value.id)) continue
        answered.add(event.value.id)
        void this.answer(event.value, choose(event.value)).catch(() => {})
      }
    }
    this.#listeners.add(listener)
    listener()
    return () => this.#listeners.delete(listener)
  }

  /** Resolves with the end of the nth turn. */
  waitForTurnEnd(nth = 1): Promise<EventOf<'turn.finished'>> {
    return this.waitFor(() => this.eventsOf('turn.finished')[nth - 1])
  }

  eventsOf<T extends EventType>(type: T): EventOf<T>[] {
    return this.events.filter((event): event is EventOf<T> => event.type === type)
  }

  /** Waits until a message to the session was refused, and returns the reason. */
  async refusal(id: SessionId): Promise<string | undefined> {
    return (await this.waitForEvent('command.done', event => event.session === id && !event.outcome.ok)).outcome.reason
  }

  /** Returns the agent's messages as a reader of the log sees them: a later event replaces an earlier event with the same block id. */
  agentTexts(): string[] {
    const blocks = new Map<string, string>()
    for (const event of this.eventsOf('message.added')) blocks.set(event.block, event.text)
    return [...blocks.values()]
  }

  async close(): Promise<void> {
    await Promise.all([...this.#runners].map(asRunner => asRunner.stop().catch(() => {})))
    await this.gateway.close()
  }
}

/** Wraps a call so that it can simulate a crash: after `kill`, neither new nor running calls ever settle. */
export function killable(call: Call): { readonly call: Call; readonly kill: () => void } {
  let killed = false
  const never = new Promise<never>(() => {})
  return {
    kill: () => {
      killed = true
    },
    call: async (op, input, options) => {
      if (killed) return never
      try {
        const output = await call(op, input, options)
        return killed ? await never : output
      } catch (error) {
        if (killed) return never
        throw error
      }
    },
  }
}

const writeOperations: ReadonlySet<OperationName> = new Set([
  'attachSession',
  'takeCommand',
  'appendEvents',
  'openRequest',
  'reportDelivery',
  'finishCommand',
])

/** Wraps a call so that it simulates a crash at the nth write, either before the write reaches the gateway or after the write is committed. */
export function crashAtWrite(call: Call, nth: number, when: 'before' | 'after', onCrash: () => void): Call {
  let count = 0
  const never = new Promise<never>(() => {})
  return async (op, input, options) => {
    if (!writeOperations.has(op)) return call(op, input, options)
    count++
    if (count < nth) return call(op, input, options)
    if (count === nth) {
      if (when === 'after') await call(op, input, options)
      onCrash()
    }
    return never
  }
}

/** A clock that moves only when a test advances it. It is never set back, so it is also its own monotonic clock. */
export class ManualClock implements Clock, TimeSource {
  #now = 1_700_000_000_000
  readonly #timers = new Set<{ readonly at: number; readonly wake: () => void }>()

  now(): number {
    return this.#now
  }
  monotonic(): number {
    return this.#now
  }

  after(ms: number, wake: () => void): () => void {
    const timer = { at: this.#now + ms, wake }
    this.#timers.add(timer)
    return () => this.#timers.delete(timer)
  }

  /** Advances the clock by at most `stepMs` at a time, and lets timers and promises run in between. */
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
