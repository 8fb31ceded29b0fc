/** Kills a real agent at random moments of its turn, and checks that no request is left that nobody can answer, that the session tells the truth, and that no process is left. */
import { setTimeout as delay } from 'node:timers/promises'
import type { Answer, Request, Session, SessionId } from '@holdpoint/protocol'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { say, shell } from '../../../../test/agents/model/script.ts'
import { Random } from '../../../../test/simulation/random.ts'
import { AgentFixture } from './agent-fixture.ts'
import { declarations } from './declarations.ts'

/** Each round kills this many sessions, all at the same time. */
const sessionsPerRound = 2
const rounds = Number(process.env.HOLDPOINT_ROUNDS ?? 1)
const firstSeed = Number(process.env.HOLDPOINT_SEED ?? Date.now() % 1_000_000)
/** A busy machine needs several times as long as an idle one. */
const settleMs = 120_000

/** What the test does in one session. The seed determines all of it, but not how fast the agent is. */
interface Plan {
  readonly seed: number
  /** When to kill the agent, as a share of the duration of a turn: once, or once more after the first kill. */
  readonly kills: readonly number[]
  /** Whether to kill only the process that the driver has started, and not the processes that this one has started. */
  readonly onlyLeader: boolean
  /** Whether the person answers only after the last kill. */
  readonly answersLate: boolean
  /** Whether the person allows the first and the second command. */
  readonly allows: readonly [boolean, boolean]
}

function planOf(seed: number): Plan {
  const random = new Random(seed)
  const first = random.next() * 1.3
  return {
    seed,
    kills: random.chance(0.3) ? [first, random.next()] : [first],
    onlyLeader: random.chance(0.3),
    answersLate: random.chance(0.4),
    allows: [random.chance(0.7), random.chance(0.7)],
  }
}

export function describeRandomKills(name: string): void {
  describe(`${name} that is killed at random moments`, () => {
    let agent: AgentFixture
    beforeAll(async () => {
      agent = await AgentFixture.of(name)
      agent.startRunner()
      agent.model.script('Your process was lost', say('I leave it.'))
    })
    afterAll(() => agent.close())

    it(`${rounds * sessionsPerRound} kills of ${name} at random moments leave no request that nobody can answer, no wrong state and no process, and no command runs twice`, {
      timeout: 300_000 + rounds * settleMs,
    }, async () => {
      const turnMs = await durationOfTurn(agent)
      for (let round = 0; round < rounds; round++) {
        const seeds = Array.from({ length: sessionsPerRound }, (_, n) => firstSeed + round * sessionsPerRound + n)
        await Promise.all(seeds.map(seed => killAndCheck(agent, planOf(seed), turnMs)))
        await agent.endTest()
      }
    })
  })
}

async function killAndCheck(agent: AgentFixture, plan: Plan, turnMs: number): Promise<void> {
  const life = new KilledSession(agent, plan)
  try {
    await life.start()
    for (const share of plan.kills) {
      await life.during(share * turnMs)
      await life.kill()
    }
    await life.settle()
    await life.checkCommands()
    await life.checkNextMessage()
  } catch (error) {
    throw new Error(`with HOLDPOINT_SEED=${plan.seed} (${JSON.stringify(plan)}): ${await life.describe()}`, {
      cause: error,
    })
  }
}

/** Measures how long a turn takes of which nobody kills the agent. */
async function durationOfTurn(agent: AgentFixture): Promise<number> {
  const startedAt = performance.now()
  const life = new KilledSession(agent, {
    seed: 0,
    kills: [],
    onlyLeader: false,
    answersLate: false,
    allows: [true, true],
  })
  await life.start()
  await life.settle()
  expect([1, 2].map(number => life.output(number))).toEqual(['ran\n', 'ran\n'])
  return performance.now() - startedAt
}

class KilledSession {
  readonly #agent: AgentFixture
  readonly #plan: Plan
  #id: SessionId | undefined

  constructor(agent: AgentFixture, plan: Plan) {
    this.#agent = agent
    this.#plan = plan
  }
  get #session(): SessionId {
    if (!this.#id) throw new Error('the session is not started')
    return this.#id
  }

  async start(): Promise<void> {
    const prompt = `work until you are killed, number ${this.#plan.seed}.`
    const command = (number: number) => shell(`echo ran >> ${this.#file(number)}`, `call_${this.#plan.seed}_${number}`)
    this.#agent.model.script(prompt, [say('I begin.'), command(1)], command(2), say('I have finished.'))
    this.#id = await this.#agent.start(prompt)
  }
  #file(number: number): string {
    return `killed-${this.#plan.seed}-${number}.txt`
  }
  output(number: number): string | null {
    return this.#agent.readFile(this.#file(number))
  }

  /** Answers requests, as the plan says, until the time is over. */
  async during(ms: number): Promise<void> {
    const endAt = performance.now() + ms
    do {
      if (!this.#plan.answersLate) await this.#answerPending()
      await delay(Math.min(20, Math.max(0, endAt - performance.now())))
    } while (performance.now() < endAt)
  }

  /** Kills the agent as soon as it has a process, unless its turn ends before, or its session is parked and the person does not answer yet. Resolves when the session no longer shows the process as running. */
  async kill(): Promise<void> {
    let killed: number | null = null
    const isOver = async () => {
      killed = this.#killNow()
      const isParked = this.#plan.answersLate && (await this.#get()).state === 'parked'
      return killed !== null || isParked || (await this.#openWork()).length === 0
    }
    await expect.poll(isOver, { interval: 20 }).toBe(true)
    const shown = async () => {
      const { process: known } = await this.#get()
      return known?.state === 'live' ? known.pid : null
    }
    if (killed !== null) await expect.poll(shown, { interval: 20 }).not.toBe(killed)
  }
  #killNow(): number | null {
    try {
      const pid = this.#agent.pidOf(this.#session)
      process.kill(this.#plan.onlyLeader ? pid : -pid, 'SIGKILL')
      return pid
    } catch {
      return null // there is no process yet, or no longer
    }
  }

  /** Waits until nothing of the turn is open. A request that waits may do so only if its answer can reach the agent. */
  async settle(): Promise<void> {
    if (this.#plan.answersLate) await expect.poll(() => this.#unanswerable(), { timeout: settleMs }).toEqual([])
    const open = async () => {
      await this.#answerPending()
      return this.#openWork()
    }
    await expect.poll(open, { timeout: settleMs }).toEqual([])
  }

  /** Returns what prevents an answer now: the requests that wait although the session is neither parked nor has a process, and a turn that goes on without a request. */
  async #unanswerable(): Promise<readonly string[]> {
    const session = await this.#get()
    const pending = (await this.#requests()).filter(({ status }) => status === 'pending')
    if (pending.length === 0) return this.#openWork()
    if (session.state === 'parked' || this.#hasProcess()) return []
    return pending.map(({ key }) => `request ${key} waits, but the session is ${session.state} and has no process`)
  }
  #hasProcess(): boolean {
    try {
      return process.kill(this.#agent.pidOf(this.#session), 0)
    } catch {
      return false
    }
  }

  async #openWork(): Promise<readonly string[]> {
    const { state, lastTurn } = await this.#get()
    const open = (await this.#requests()).filter(
      ({ status, delivery }) => status === 'pending' || delivery.state === 'waiting' || delivery.state === 'handed',
    )
    const isWorking = state === 'starting' || state === 'working' || (state !== 'ended' && lastTurn === undefined)
    return [
      ...open.map(({ key, delivery }) => `request ${key} (${delivery.state})`),
      ...(isWorking ? [`turn (${state})`] : []),
    ]
  }

  async #answerPending(): Promise<void> {
    // The agent may have withdrawn the request meanwhile.
    for (const request of await this.#requests())
      if (request.status === 'pending') await this.#agent.answer(request, this.#answerTo(request)).catch(() => {})
  }
  #answerTo({ ask }: Request): Answer {
    const [first, second] = this.#plan.allows
    const isSecond = JSON.stringify(ask).includes(this.#file(2))
    return { kind: (isSecond ? second : first) ? 'allow' : 'deny' }
  }

  /** A command runs at most once, and only if a person has allowed it. */
  async checkCommands(): Promise<void> {
    for (const [index, isAllowed] of this.#plan.allows.entries())
      expect([null, ...(isAllowed ? ['ran\n'] : [])]).toContain(this.output(index + 1))
  }

  /** A session that has not ended continues with the next message. A session that has ended says that it was lost. */
  async checkNextMessage(): Promise<void> {
    const { state, ending } = await this.#get()
    if (state === 'ended') return expect(ending?.reason).toBe('lost')
    expect(['idle', 'parked']).toContain(state)
    const prompt = `are you still there, number ${this.#plan.seed}?`
    const before = (await this.#endings()).length
    this.#agent.model.script(prompt, say('I am here.'))
    await this.#agent.asPerson('sendMessage', { id: this.#session, text: prompt })
    await expect.poll(async () => (await this.#endings()).length, { timeout: settleMs }).toBe(before + 1)
    // Gemini cannot load a conversation in the minute in which it began, and says so.
    const endings = declarations[this.#agent.name]?.untilLoadable ? ['done', 'failed'] : ['done']
    expect(endings).toContain((await this.#endings()).at(-1))
  }

  /** Returns how the turns of the session have ended. */
  async #endings(): Promise<readonly string[]> {
    const { items } = await this.#agent.asPerson('listEvents', { id: this.#session, limit: 500 })
    return items.flatMap(event => (event.type === 'turn.finished' ? [event.ending] : []))
  }

  async describe(): Promise<string> {
    const { state, process: known, lastTurn } = await this.#get()
    return `the session is ${state}, its process ${known?.state}, its last turn ${JSON.stringify(lastTurn)}; open are ${JSON.stringify(await this.#openWork())}`
  }
  #get(): Promise<Session> {
    return this.#agent.asPerson('getSession', { id: this.#session })
  }
  async #requests(): Promise<readonly Request[]> {
    return (await this.#agent.asPerson('listRequests', { session: this.#session, limit: 100 })).items
  }
}
