/** Simulates people, runners with agents, gateways and time from one seed, and checks the invariants after every step. */
import { createHash } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import type { Caller, Store } from '@holdpoint/engine'
import { type Answer, type Call, formatId, parseCursor, type Request, type Resolution } from '@holdpoint/protocol'
import { openMemory, verifyChain } from '@holdpoint/store'
import { ManualClock, runPendingWork } from '../../packages/engine/test/manual-clock.ts'
import { checkRows, type Reader } from './invariants.ts'
import { Random } from './random.ts'
import { ReplayedLog } from './replayed-log.ts'
import { type FaultRates, SimulatedGateway } from './simulated-gateway.ts'
import { codeOf, drivers, type PerformedAction, runnerCaller, SimulatedRunner } from './simulated-runner.ts'

const people: readonly Caller[] = ['ada', 'bob', 'cyd'].map(name => ({
  role: 'person',
  id: `per_${name}`,
  name,
  token: `tok_${name}`,
  via: 'api',
}))
const noFaults: FaultRates = { commitLost: 0, replyLost: 0, readFails: 0 }
const someFaults: FaultRates = { commitLost: 0.03, replyLost: 0.03, readFails: 0.005 }

export interface SimulationReport {
  readonly seed: number
  readonly trace: readonly string[]
  readonly actions: number
  readonly requests: number
}

export async function simulate(seed: number, steps: number): Promise<SimulationReport> {
  // Long work of a gateway lets other work run after a few milliseconds. The speed of the machine must not change a simulation.
  const { now } = performance
  performance.now = () => 0
  const simulation = await Simulation.create(seed)
  try {
    for (let i = 0; i < steps; i++) await simulation.step()
    await simulation.settleAndCheck()
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    const replay = `SEED=${seed} STEPS=${steps} npx vitest run test/simulation`
    throw new Error(`${message}\nreplay: ${replay}\n${simulation.trace.slice(-25).join('\n')}`, { cause: error })
  } finally {
    performance.now = now
  }
  return {
    seed,
    trace: simulation.trace,
    actions: simulation.actions.length,
    requests: simulation.replayed.requests.size,
  }
}

class Simulation {
  readonly trace: string[] = []
  readonly actions: PerformedAction[] = []
  readonly replayed = new ReplayedLog()
  readonly #random: Random
  readonly #clock: ManualClock
  readonly #store: Store
  readonly #gateways: SimulatedGateway[] = []
  readonly #runners: SimulatedRunner[] = []
  readonly #readers: Reader[] = []
  /** Resolutions that were acknowledged to a person. */
  readonly #acknowledged = new Map<Request['id'], Resolution>()
  /** The allows that people have sent, each as a string of the request id, a space and the person. */
  readonly #intendedAllows = new Set<string>()
  #faultRates = someFaults
  /** Runners that were replaced but still run. */
  #replacedRunners: SimulatedRunner[] = []
  #step = 0
  #readerError: string | undefined

  private constructor(random: Random, clock: ManualClock, store: Store) {
    this.#random = random
    this.#clock = clock
    this.#store = store
  }

  static async create(seed: number): Promise<Simulation> {
    const clock = new ManualClock()
    const simulation = new Simulation(new Random(seed), clock, await openMemory({ clock, epoch: 'sim' }))
    for (let i = 0; i < 2; i++) await simulation.#openGateway(i)
    for (let i = 0; i < 2; i++) {
      simulation.#runners.push(simulation.#newRunner(i))
      simulation.#readers.push({ cursor: null, lastSeq: 0, connecting: false })
    }
    return simulation
  }

  /** Runs one or a few actions concurrently, then checks the invariants. */
  async step(): Promise<void> {
    this.#step++
    const concurrency = this.#random.chance(0.3) ? 1 + this.#random.below(4) : 1
    await Promise.all(Array.from({ length: concurrency }, () => this.#runRandomAction()))
    await runPendingWork()
    await this.#checkInvariants()
  }

  /** Stops injecting faults and answers everything: every acknowledged answer must then be delivered or accounted for (G5). */
  async settleAndCheck(): Promise<void> {
    this.#faultRates = noFaults
    for (let i = 0; i < 100 || (this.#undelivered().length > 0 && i < 2000); i++) {
      this.#step++
      for (const request of this.replayed.requests.values())
        if (request.status === 'pending' && this.#random.chance(0.5))
          await this.#runAndTrace('person', () => this.#answer(request))
      for (const [i, runner] of this.#runners.entries()) {
        await this.#runAndTrace('runner', () => runner.step())
        // A runner that was superseded stops, and its supervisor starts it again.
        if (runner.superseded) this.#runners[i] = this.#newRunner(i)
      }
      await this.#clock.advance(100)
      await this.#checkInvariants()
    }
    const undelivered = this.#undelivered().map(({ id }) => id)
    if (undelivered.length > 0)
      throw new Error(`answered, but neither delivered nor accounted for: ${undelivered.join(', ')} (G5)`)
    const chain = await verifyChain(this.#store)
    if (!chain.ok) throw new Error(`the hash chain is broken at seq ${chain.seq}: ${chain.reason}`)
    this.trace.push((await this.#store.head()).hash)
  }

  #undelivered(): Request[] {
    return [...this.replayed.requests.values()].filter(
      ({ session, status, delivery }) =>
        this.replayed.sessions.get(session)?.state !== 'ended' && status === 'resolved' && delivery.state === 'waiting',
    )
  }

  async #runRandomAction(): Promise<void> {
    const { name, run } = this.#random.pickWeighted<{ name: string; run: () => Promise<string> }>([
      [40, { name: 'runner', run: async () => this.#stepRunner() }],
      [25, { name: 'person', run: () => this.#actAsPerson() }],
      [10, { name: 'time', run: () => this.#advanceTime() }],
      [4, { name: 'watcher', run: () => this.#reconnectReader() }],
      [1.5, { name: 'gateway', run: () => this.#killGateway() }],
      [2, { name: 'crash', run: () => this.#killRunner() }],
    ])
    await this.#runAndTrace(name, run)
  }
  async #runAndTrace(name: string, run: () => Promise<string>): Promise<void> {
    const result = await run().catch(codeOf)
    this.trace.push(`${this.#step} ${name}: ${result}`)
  }

  async #advanceTime(): Promise<string> {
    const ms = this.#random.pickWeighted([
      [16, 50 + this.#random.below(450)],
      [3, 500 + this.#random.below(5_000)],
      [1, 20_000],
    ])
    if (this.#random.chance(0.05)) this.#clock.jump(-this.#random.below(10_000))
    await this.#clock.advance(ms)
    return `${ms} ms`
  }
  async #stepRunner(): Promise<string> {
    const replaced = this.#replacedRunners.filter(runner => !runner.superseded)
    return (await this.#random.pick([...this.#runners, ...replaced])?.step()) ?? ''
  }
  #newRunner(i: number): SimulatedRunner {
    const act = (request: Request, text: string) => this.#onAction(request, text)
    const id = formatId('run', new Uint8Array(20).fill(i))
    return new SimulatedRunner(id, this.#callAs(runnerCaller(id)), this.#random, act)
  }
  /** Replaces a runner. The old runner has either crashed, or was only unreachable and keeps running. */
  async #killRunner(): Promise<string> {
    const i = this.#random.below(this.#runners.length)
    const old = this.#runners[i] as SimulatedRunner
    const keepsRunning = this.#random.chance(0.5)
    if (keepsRunning)
      this.#replacedRunners = [...this.#replacedRunners, old].filter(runner => !runner.superseded).slice(-3)
    this.#runners[i] = this.#newRunner(i)
    return `runner ${i} ${keepsRunning ? 'was replaced but keeps running' : 'crashed'}`
  }
  async #killGateway(): Promise<string> {
    const i = this.#random.below(this.#gateways.length)
    this.#gateways[i]?.kill()
    await this.#openGateway(i)
    return `gateway ${i} was killed and restarted`
  }
  async #openGateway(i: number): Promise<void> {
    for (;;)
      try {
        this.#gateways[i] = await SimulatedGateway.open(this.#store, this.#clock, this.#random, () => this.#faultRates)
        return
      } catch (fault) {
        codeOf(fault)
      }
  }
  #callAs(caller: Caller): Call {
    return (op, input, options) =>
      (this.#random.pick(this.#gateways) as SimulatedGateway).call(caller, op, input, options)
  }

  async #actAsPerson(): Promise<string> {
    const caller = this.#random.pick(people) as Caller
    const call = this.#callAs(caller)
    // Only the owner may add rules that allow something and remove rules of others.
    const callAsOwner = this.#callAs({ ...caller, role: 'owner' })
    const sessions = [...this.replayed.sessions.values()]
    const session = this.#random.pick(sessions)
    const running = sessions.filter(({ state }) => state !== 'ended')
    const pending = [...this.replayed.requests.values()].filter(request => request.status === 'pending')
    // In a fifth of the cases, pick from all requests, so that people also answer requests that are already resolved.
    const request = this.#random.pick(this.#random.chance(0.8) ? pending : [...this.replayed.requests.values()])
    const idempotent = { idempotencyKey: `${caller.name}-${this.#random.below(1e9)}` }
    const id = session?.id
    const start = { driver: this.#random.pick(drivers)?.name ?? '', prompt: 'go' }
    const rule = { tool: 'Bash', command: `run ${this.#random.below(10)}`, scope: { cwd: '/' } }
    const effect = this.#random.chance(0.5) ? 'allow' : 'deny'
    const [name, act] = this.#random.pickWeighted<readonly [string, () => Promise<unknown>]>([
      [
        // A person replaces sessions that have ended. Otherwise, a seed that loses all sessions early would test little.
        running.length < 6 ? 6 : 0.5,
        ['starts a session', () => this.#retryOnce(() => call('startSession', start, idempotent))],
      ],
      [14, ['answers', async () => request && this.#answer(request, caller)]],
      [3, ['saves a draft', async () => request && call('putDraft', { id: request.id, draft: 'perhaps' })]],
      [1, ['interrupts', async () => id && call('interruptSession', { id })]],
      [0.5, ['ends a session', async () => id && call('endSession', { id })]],
      [
        3,
        [
          'sends a message',
          async () => id && this.#retryOnce(() => call('sendMessage', { id, text: 'and then' }, idempotent)),
        ],
      ],
      [
        0.5,
        ['patches a session', async () => id && call('patchSession', { id, title: `t${this.#step}`, mode: 'plan' })],
      ],
      [0.5, ['deletes a session', async () => session?.state === 'ended' && id && call('deleteSession', { id })]],
      [0.2, ['stops everything', () => call('stopEverything', {})]],
      [0.5, ['adds a rule', () => callAsOwner('addRule', { effect, ...rule })]],
      [0.5, ['removes a rule', () => this.#removeRule(callAsOwner)]],
    ])
    return `${caller.name} ${name}: ${(await act()) ? 'done' : 'nothing to do'}`
  }
  /** Retries a failed call with the same key, as a client does. The gateway must not run the call twice. */
  async #retryOnce<T>(call: () => Promise<T>): Promise<T> {
    return call().catch(() => call())
  }
  async #removeRule(call: Call): Promise<unknown> {
    const rule = this.#random.pick([...this.replayed.rules.values()])
    return rule && call('removeRule', { id: rule.id })
  }

  async #answer(request: Request, caller = this.#random.pick(people) as Caller): Promise<string> {
    const kind = this.#random.chance(0.6) ? 'allow' : 'deny'
    const answers = { kind: 'answers', answers: [{ id: 'q', chosen: [], other: 'hush' }] } satisfies Answer
    const answer: Answer = request.ask.kind === 'approval' ? { kind } : answers
    if (kind === 'allow') this.#intendedAllows.add(`${request.id} ${caller.name}`)
    const input = { id: request.id, digest: request.digest, answer }
    const { resolution } = await this.#callAs(caller)('answerRequest', input)
    if (!resolution) throw new Error(`${request.id} was answered without a resolution`)
    const before = this.#acknowledged.get(request.id)
    if (before && !isDeepStrictEqual(before, resolution))
      throw new Error(`${request.id} was acknowledged twice with different resolutions (I3)`)
    this.#acknowledged.set(request.id, resolution)
    return `${caller.name} answered ${request.id}: ${answer.kind}`
  }

  /** Checks I2 when an agent performs an action. */
  #onAction(request: Request, text: string): void {
    const digest = createHash('sha256').update(text).digest('hex')
    const stored = this.replayed.requests.get(request.id)
    if (stored?.resolution?.answer?.kind !== 'allow')
      throw new Error(`${request.id} was acted on without a stored allow (I2)`)
    if (stored.digest !== digest)
      throw new Error(`${request.id}: another input was allowed than the one that ran (I2, G7)`)
    if (this.actions.some(action => action.request === request.id))
      throw new Error(`${request.id} was acted on twice (I2)`)
    this.actions.push({ request: request.id, digestText: text, step: this.#step })
  }

  /** Reconnects a reader, which resumes at its cursor and must not miss an event (G3). */
  async #reconnectReader(): Promise<string> {
    const reader = this.#random.pick(this.#readers.filter(({ connecting }) => !connecting))
    if (!reader) return 'all readers are connecting'
    reader.connecting = true
    reader.stop?.()
    return this.#readFrom(reader).finally(() => {
      reader.connecting = false
    })
  }
  async #readFrom(reader: Reader): Promise<string> {
    const gateway = this.#random.pick(this.#gateways) as SimulatedGateway
    const buffered: string[] = []
    let onCursor = (cursor: string) => void buffered.push(cursor)
    const frame = ({ cursor }: { readonly cursor: string | null }) => cursor !== null && onCursor(cursor)
    const { hello, missed, stop } = await gateway.subscribe(
      people[0] as Caller,
      reader.cursor ? { after: reader.cursor } : {},
      { frame },
    )
    if (hello.resume === 'gap') Object.assign(reader, { cursor: hello.cursor, lastSeq: parseCursor(hello.cursor).seq })
    reader.stop = stop
    onCursor = cursor => {
      const { seq } = parseCursor(cursor)
      if (reader.stop !== stop) return
      if (seq !== reader.lastSeq + 1) this.#readerError ??= `a reader at seq ${reader.lastSeq} got ${seq} (G3)`
      Object.assign(reader, { lastSeq: seq, cursor })
    }
    for (const cursor of [...missed.map(event => event.cursor ?? ''), ...buffered]) onCursor(cursor)
    return `reads from ${hello.cursor} (${hello.resume})`
  }

  async #checkInvariants(): Promise<void> {
    if (this.#readerError) throw new Error(this.#readerError)
    for (const event of await this.#store.events({ after: this.replayed.seq, limit: 100_000 }))
      this.replayed.apply(event)
    await checkRows(this.#store, this.replayed)
    for (const [id, acknowledged] of this.#acknowledged) {
      const stored = this.replayed.requests.get(id)
      if (stored && !isDeepStrictEqual(stored.resolution, acknowledged))
        throw new Error(`the acknowledged resolution of ${id} has changed (I3)`)
    }
    for (const { id, resolution, deadlineAt, onDeadline } of this.replayed.requests.values()) {
      const late = deadlineAt !== null && onDeadline === 'deny' && resolution !== null && resolution.at >= deadlineAt
      if (late && resolution.by !== 'deadline') throw new Error(`${id} was resolved after its deadline (G1)`)
      if (resolution?.answer?.kind !== 'allow') continue
      const intended =
        resolution.by === 'rule' ||
        (resolution.by === 'person' && this.#intendedAllows.has(`${id} ${resolution.person}`))
      if (!intended) throw new Error(`${id} was allowed by nobody (I5)`)
    }
  }
}
