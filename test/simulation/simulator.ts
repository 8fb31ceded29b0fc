/** A whole world from one seed: people, runners with their agents, gateways and time, and what must hold after every step. */
import { createHash } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import type { Caller, Store } from '@holdpoint/engine'
import { type Answer, type Call, formatId, parseCursor, type Request, type Resolution } from '@holdpoint/protocol'
import { openMemory, verifyChain } from '@holdpoint/store'
import { ManualClock, runPendingWork } from '../../packages/engine/test/manual-clock.ts'
import { Fold } from './fold.ts'
import { type Faults, SimulatedGateway } from './gateway.ts'
import { checkRows, type Seen } from './invariants.ts'
import { Chance } from './random.ts'
import { type Action, codeOf, drivers, Runner, runnerCaller } from './runner.ts'

const people: readonly Caller[] = ['ada', 'bob', 'cyd'].map(name => ({
  role: 'person',
  name,
  token: `tok_${name}`,
  via: 'api',
}))
const calm: Faults = { before: 0, after: 0, read: 0 }
const stormy: Faults = { before: 0.03, after: 0.03, read: 0.005 }

export interface Report {
  readonly seed: number
  readonly trace: readonly string[]
  readonly actions: number
  readonly requests: number
}

export async function simulate(seed: number, steps: number): Promise<Report> {
  const world = await World.make(seed)
  try {
    for (let i = 0; i < steps; i++) await world.step()
    await world.calmDown()
  } catch (error) {
    const said = error instanceof Error ? error.message : String(error)
    const replay = `SEED=${seed} STEPS=${steps} npx vitest run test/simulation`
    throw new Error(`${said}\nreplay: ${replay}\n${world.trace.slice(-25).join('\n')}`, { cause: error })
  }
  return { seed, trace: world.trace, actions: world.actions.length, requests: world.fold.requests.size }
}

class World {
  readonly trace: string[] = []
  readonly actions: Action[] = []
  readonly fold = new Fold()
  readonly #chance: Chance
  readonly #clock: ManualClock
  readonly #store: Store
  readonly #gateways: SimulatedGateway[] = []
  readonly #runners: Runner[] = []
  readonly #watchers: Seen[] = []
  /** What was acknowledged to a person, and what anybody ever meant to say. */
  readonly #acknowledged = new Map<Request['id'], Resolution>()
  readonly #meant = new Set<string>()
  #faults = stormy
  #ghosts: Runner[] = []
  #step = 0
  #broken: string | undefined

  private constructor(chance: Chance, clock: ManualClock, store: Store) {
    this.#chance = chance
    this.#clock = clock
    this.#store = store
  }

  static async make(seed: number): Promise<World> {
    const clock = new ManualClock()
    const world = new World(new Chance(seed), clock, await openMemory({ clock, epoch: 'sim' }))
    for (let i = 0; i < 2; i++) await world.#openGateway(i)
    for (let i = 0; i < 2; i++) {
      world.#runners.push(world.#newRunner(i))
      world.#watchers.push({ cursor: null, last: 0, busy: false })
    }
    return world
  }

  /** One or a few things at the same moment; then everything is checked. */
  async step(): Promise<void> {
    this.#step++
    const together = this.#chance.happens(0.3) ? 1 + this.#chance.below(4) : 1
    await Promise.all(Array.from({ length: together }, () => this.#happen()))
    await runPendingWork()
    await this.#check()
  }

  /** The storm is over and people answer: whatever was acknowledged must have been delivered, or be accounted for. */
  async calmDown(): Promise<void> {
    this.#faults = calm
    for (let i = 0; i < 100 || (this.#undelivered().length > 0 && i < 2000); i++) {
      this.#step++
      for (const request of this.fold.requests.values())
        if (request.status === 'pending' && this.#chance.happens(0.5))
          await this.#note('answers', () => this.#answer(request))
      for (const runner of this.#runners) await this.#note('runner', () => runner.step())
      await this.#clock.advance(100)
      await this.#check()
    }
    const left = this.#undelivered().map(({ id }) => id)
    if (left.length > 0) throw new Error(`answered, and never delivered nor accounted for: ${left.join(', ')} (G5)`)
    const chain = await verifyChain(this.#store)
    if (!chain.ok) throw new Error(`the chain is broken at ${chain.seq}: ${chain.reason}`)
    this.trace.push((await this.#store.head()).hash)
  }

  #undelivered(): Request[] {
    return [...this.fold.requests.values()].filter(
      ({ session, status, delivery }) =>
        this.fold.sessions.get(session)?.state !== 'ended' && status === 'resolved' && delivery.state === 'waiting',
    )
  }

  async #happen(): Promise<void> {
    const { name, run } = this.#chance.weigh<{ name: string; run: () => Promise<string> }>([
      [40, { name: 'runner', run: async () => this.#stepOfRunner() }],
      [25, { name: 'person', run: () => this.#person() }],
      [10, { name: 'time', run: () => this.#time() }],
      [4, { name: 'watcher', run: () => this.#watch() }],
      [1.5, { name: 'gateway', run: () => this.#killGateway() }],
      [2, { name: 'crash', run: () => this.#killRunner() }],
    ])
    await this.#note(name, run)
  }
  async #note(name: string, run: () => Promise<string>): Promise<void> {
    const said = await run().catch(codeOf)
    this.trace.push(`${this.#step} ${name}: ${said}`)
  }

  async #time(): Promise<string> {
    const ms = this.#chance.weigh([
      [16, 50 + this.#chance.below(450)],
      [3, 500 + this.#chance.below(5_000)],
      [1, 20_000],
    ])
    if (this.#chance.happens(0.05)) this.#clock.jump(-this.#chance.below(10_000))
    await this.#clock.advance(ms)
    return `${ms} ms`
  }
  async #stepOfRunner(): Promise<string> {
    const ghosts = this.#ghosts.filter(ghost => !ghost.superseded)
    return (await this.#chance.pick([...this.#runners, ...ghosts])?.step()) ?? ''
  }
  #newRunner(i: number): Runner {
    const act = (request: Request, text: string) => this.#acted(request, text)
    return new Runner(formatId('run', new Uint8Array(20).fill(i)), this.#callAs(runnerCaller), this.#chance, act)
  }
  /** It crashes; or it only seems to, and goes on while its successor has begun. */
  async #killRunner(): Promise<string> {
    const i = this.#chance.below(this.#runners.length)
    const lost = this.#runners[i] as Runner
    const goesOn = this.#chance.happens(0.5)
    if (goesOn) this.#ghosts = [...this.#ghosts, lost].filter(ghost => !ghost.superseded).slice(-3)
    this.#runners[i] = this.#newRunner(i)
    return `runner ${i} ${goesOn ? 'was thought dead' : 'crashed'}`
  }
  async #killGateway(): Promise<string> {
    const i = this.#chance.below(this.#gateways.length)
    this.#gateways[i]?.kill()
    await this.#openGateway(i)
    return `gateway ${i} was killed and opened again`
  }
  async #openGateway(i: number): Promise<void> {
    for (;;)
      try {
        this.#gateways[i] = await SimulatedGateway.open(this.#store, this.#clock, this.#chance, () => this.#faults)
        return
      } catch (fault) {
        codeOf(fault)
      }
  }
  #callAs(caller: Caller): Call {
    return (op, input, options) =>
      (this.#chance.pick(this.#gateways) as SimulatedGateway).call(caller, op, input, options)
  }

  async #person(): Promise<string> {
    const caller = this.#chance.pick(people) as Caller
    const call = this.#callAs(caller)
    const sessions = [...this.fold.sessions.values()]
    const session = this.#chance.pick(sessions)
    const pending = [...this.fold.requests.values()].filter(request => request.status === 'pending')
    // Some press a button that is no longer right.
    const request = this.#chance.pick(this.#chance.happens(0.8) ? pending : [...this.fold.requests.values()])
    const once = { idempotencyKey: `${caller.name}-${this.#chance.below(1e9)}` }
    const id = session?.id
    const start = { driver: this.#chance.pick(drivers)?.name ?? '', prompt: 'go' }
    const rule = { tool: 'Bash', command: `run ${this.#chance.below(10)}`, scope: { cwd: '/' } }
    const effect = this.#chance.happens(0.5) ? 'allow' : 'deny'
    const [name, act] = this.#chance.weigh<readonly [string, () => Promise<unknown>]>([
      [sessions.length < 6 ? 6 : 0.5, ['starts', () => this.#twice(() => call('startSession', start, once))]],
      [14, ['answers', async () => request && this.#answer(request, caller)]],
      [3, ['drafts', async () => request && call('putDraft', { id: request.id, draft: 'perhaps' })]],
      [1, ['interrupts', async () => id && call('interruptSession', { id })]],
      [0.5, ['ends', async () => id && call('endSession', { id })]],
      [3, ['says', async () => id && this.#twice(() => call('sendMessage', { id, text: 'and then' }, once))]],
      [0.5, ['changes', async () => id && call('patchSession', { id, title: `t${this.#step}`, mode: 'plan' })]],
      [0.5, ['deletes', async () => session?.state === 'ended' && id && call('deleteSession', { id })]],
      [0.2, ['stops everything', () => call('stopEverything', {})]],
      [0.5, ['adds a rule', () => call('addRule', { effect, ...rule })]],
      [0.5, ['removes a rule', () => this.#removeRule(call)]],
    ])
    return `${caller.name} ${name}: ${(await act()) ? 'done' : 'nothing to do'}`
  }
  /** A client that heard nothing tries again with the same key: it must not happen twice. */
  async #twice<T>(call: () => Promise<T>): Promise<T> {
    return call().catch(() => call())
  }
  async #removeRule(call: Call): Promise<unknown> {
    const rule = this.#chance.pick([...this.fold.rules.values()])
    return rule && call('removeRule', { id: rule.id })
  }

  async #answer(request: Request, caller = this.#chance.pick(people) as Caller): Promise<string> {
    const kind = this.#chance.happens(0.6) ? 'allow' : 'deny'
    const answers = { kind: 'answers', answers: [{ id: 'q', chosen: [], other: 'hush' }] } satisfies Answer
    const answer: Answer = request.ask.kind === 'approval' ? { kind } : answers
    if (kind === 'allow') this.#meant.add(`${request.id} ${caller.name}`)
    const input = { id: request.id, digest: request.digest, answer }
    const { resolution } = await this.#callAs(caller)('answerRequest', input)
    if (!resolution) throw new Error(`${request.id} was answered without a resolution`)
    const before = this.#acknowledged.get(request.id)
    if (before && !isDeepStrictEqual(before, resolution))
      throw new Error(`${request.id} was acknowledged twice, differently (I3)`)
    this.#acknowledged.set(request.id, resolution)
    return `${caller.name} said ${answer.kind} to ${request.id}`
  }

  /** The moment of truth: the agent does what it was allowed to. */
  #acted(request: Request, text: string): void {
    const digest = createHash('sha256').update(text).digest('hex')
    const kept = this.fold.requests.get(request.id)
    if (kept?.resolution?.answer?.kind !== 'allow')
      throw new Error(`${request.id} was acted on without an allow on record (I2)`)
    if (kept.digest !== digest) throw new Error(`${request.id} allowed something else than what ran (I2, G7)`)
    if (this.actions.some(action => action.request === request.id))
      throw new Error(`${request.id} was acted on twice (I2)`)
    this.actions.push({ request: request.id, digestText: text, step: this.#step })
  }

  /** A reader that comes and goes: it resumes where it was, and must never find that it has missed something. */
  async #watch(): Promise<string> {
    const seen = this.#chance.pick(this.#watchers.filter(reader => !reader.busy))
    if (!seen) return 'every reader is about to'
    seen.busy = true
    seen.stop?.()
    return this.#readOn(seen).finally(() => {
      seen.busy = false
    })
  }
  async #readOn(seen: Seen): Promise<string> {
    const gateway = this.#chance.pick(this.#gateways) as SimulatedGateway
    const early: string[] = []
    let follow = (cursor: string) => void early.push(cursor)
    const frame = ({ cursor }: { readonly cursor: string | null }) => cursor !== null && follow(cursor)
    const { hello, missed, stop } = await gateway.watch(
      people[0] as Caller,
      seen.cursor ? { after: seen.cursor } : {},
      { frame },
    )
    if (hello.resume === 'gap') Object.assign(seen, { cursor: hello.cursor, last: parseCursor(hello.cursor).seq })
    seen.stop = stop
    follow = cursor => {
      const { seq } = parseCursor(cursor)
      if (seen.stop !== stop) return
      if (seq !== seen.last + 1) this.#broken ??= `a reader that had seen ${seen.last} got ${seq} (G3)`
      Object.assign(seen, { last: seq, cursor })
    }
    for (const cursor of [...missed.map(missing => missing.cursor ?? ''), ...early]) follow(cursor)
    return `reads from ${hello.cursor} (${hello.resume})`
  }

  async #check(): Promise<void> {
    if (this.#broken) throw new Error(this.#broken)
    for (const event of await this.#store.events({ after: this.fold.seq, limit: 100_000 })) this.fold.take(event)
    await checkRows(this.#store, this.fold)
    for (const [id, said] of this.#acknowledged) {
      const kept = this.fold.requests.get(id)
      if (kept && !isDeepStrictEqual(kept.resolution, said))
        throw new Error(`${id} was acknowledged, and is now otherwise (I3)`)
    }
    for (const { id, resolution, deadlineAt, onDeadline } of this.fold.requests.values()) {
      const late = deadlineAt !== null && onDeadline === 'deny' && resolution !== null && resolution.at >= deadlineAt
      if (late && resolution.by !== 'deadline') throw new Error(`${id} was resolved after its deadline (G1)`)
      if (resolution?.answer?.kind !== 'allow') continue
      const meant =
        resolution.by === 'rule' || (resolution.by === 'person' && this.#meant.has(`${id} ${resolution.person}`))
      if (!meant) throw new Error(`${id} was allowed by nobody (I5)`)
    }
  }
}
