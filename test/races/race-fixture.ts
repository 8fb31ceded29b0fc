/** Rounds of a race: 64 people in eight processes answer one request at once, and sometimes a deadline, a rule or the agent itself is in it too. */
import { type ChildProcess, fork } from 'node:child_process'
import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import {
  type Ask,
  type Call,
  digestText,
  formatId,
  type Request,
  type RequestId,
  type Resolution,
  type SessionId,
} from '@holdpoint/protocol'
import { expect } from 'vitest'
import type { GatewayProcess } from '../support/gateway.ts'

const processes = 8
const peoplePerProcess = 8

interface Outcome {
  readonly name: string
  readonly status: number
  readonly code: string | null
  readonly resolution: Resolution | null
}
type Third = 'nobody' | 'withdrawal' | 'rule' | 'deadline'
export type Tally = Record<Third, { rounds: number; wonByPeople: number }>

export class Arena {
  readonly #crowds: ChildProcess[]
  readonly #calls: readonly Call[]
  readonly #session: SessionId
  /** A request whose deadline is near is raced when it comes, between other rounds. */
  #due: Request | null = null
  #round = 0
  readonly tally: Tally = {
    nobody: { rounds: 0, wonByPeople: 0 },
    withdrawal: { rounds: 0, wonByPeople: 0 },
    rule: { rounds: 0, wonByPeople: 0 },
    deadline: { rounds: 0, wonByPeople: 0 },
  }

  private constructor(crowds: ChildProcess[], calls: readonly Call[], session: SessionId) {
    this.#crowds = crowds
    this.#calls = calls
    this.#session = session
  }

  /** Contenders are spread over the gateways, which share one archive. */
  static async open(gateways: readonly GatewayProcess[]): Promise<Arena> {
    const calls = gateways.map(gateway => gateway.call)
    const [call] = calls
    if (!call) throw new Error('a race needs a gateway')
    const crowds = await Promise.all(
      Array.from({ length: processes }, async (_, index) => {
        const gateway = gateways[index % gateways.length] as GatewayProcess // the index is below the length
        const names = Array.from({ length: peoplePerProcess }, (_, n) => `person ${index * peoplePerProcess + n + 1}`)
        const people = await Promise.all(
          names.map(async name => ({ name, token: (await call('addToken', { role: 'person', name })).secret })),
        )
        return fork(join(import.meta.dirname, 'contenders.mjs'), [JSON.stringify({ url: gateway.url, people })])
      }),
    )
    await call('addRule', { effect: 'deny', tool: 'ruled' })
    const { id } = await call('startSession', { driver: 'external', title: 'a race' })
    return new Arena(crowds, calls, id)
  }

  async round(): Promise<void> {
    const n = ++this.#round
    const call = this.#calls[n % this.#calls.length] as Call // the index is below the length
    if (this.#due?.deadlineAt && Date.now() >= this.#due.deadlineAt - 30) {
      const due = this.#due
      this.#due = null
      // A few ms early or late, by turns.
      const leftMs = (due.deadlineAt ?? 0) - 12 + (n % 4) * 4 - Date.now()
      if (leftMs > 0) await setTimeout(leftMs)
      return this.#check('deadline', due.id, await this.#contend(due))
    }
    if (!this.#due && n % 5 === 0)
      this.#due = await call('openRequest', { id: this.#session, key: `due ${n}`, ask: approval(n), deadlineMs: 1000 })
    if (n % 7 === 3) return this.#withRule(call, n)
    const request = await call('openRequest', { id: this.#session, key: `round ${n}`, ask: approval(n) })
    if (n % 7 !== 5) return this.#check('nobody', request.id, await this.#contend(request))
    const [outcomes] = await Promise.all([this.#contend(request), call('withdrawRequest', { id: request.id })])
    return this.#check('withdrawal', request.id, outcomes)
  }

  /** Whoever knows session, key and ask can answer before there is anything to answer: the rule is there first all the same. */
  async #withRule(call: Call, n: number): Promise<void> {
    const key = `ruled ${n}`
    const ask = approval(n, 'ruled')
    const id = formatId('req', createHash('sha256').update(`${this.#session}\0${key}`).digest())
    const digest = createHash('sha256').update(digestText(this.#session, ask)).digest('hex')
    const opening = call('openRequest', { id: this.#session, key, ask })
    const [outcomes, opened] = await Promise.all([this.#contend({ id, digest }), opening])
    expect(opened.id).toBe(id)
    const early = outcomes.filter(({ status }) => status === 404)
    await this.#check(
      'rule',
      id,
      outcomes.filter(outcome => !early.includes(outcome)),
    )
  }

  async #contend({ id, digest }: Pick<Request, 'id' | 'digest'>): Promise<Outcome[]> {
    const all = await Promise.all(
      this.#crowds.map(
        crowd =>
          new Promise<Outcome[]>((resolve, reject) => {
            crowd.once('message', (message: { outcomes?: Outcome[]; error?: string }) =>
              message.outcomes ? resolve(message.outcomes) : reject(new Error(message.error)),
            )
            crowd.send({ id, digest })
          }),
      ),
    )
    return all.flat()
  }

  async #check(third: Third, id: RequestId, outcomes: readonly Outcome[]): Promise<void> {
    const { resolution, deadlineAt } = await (this.#calls[0] as Call)('getRequest', { id }) // there is one
    if (!resolution) throw new Error(`round ${this.#round}: ${id} has no resolution`)
    const winners = outcomes.filter(({ status }) => status === 200)
    const byPerson = resolution.by === 'person'
    expect(winners.length, `round ${this.#round} (${third}): winners`).toBe(byPerson ? 1 : 0)
    if (byPerson) expect(winners[0]?.name).toBe(resolution.person)
    if (byPerson && deadlineAt !== null) expect(resolution.at).toBeLessThan(deadlineAt)
    for (const { name, status, code, resolution: heard } of outcomes) {
      if (status !== 200) expect([status, code], name).toEqual([409, 'already_resolved'])
      expect(heard, `${name} is told who won`).toEqual(resolution)
    }
    const allowed = {
      nobody: ['person'],
      withdrawal: ['person', 'agent'],
      rule: ['rule'],
      deadline: ['person', 'deadline'],
    }
    expect(allowed[third]).toContain(resolution.by)
    this.tally[third].rounds++
    if (byPerson) this.tally[third].wonByPeople++
  }

  async close(): Promise<void> {
    const ended = this.#crowds.map(crowd => new Promise(resolve => crowd.once('exit', resolve)))
    for (const crowd of this.#crowds) crowd.disconnect()
    await Promise.all(ended)
  }
}

function approval(n: number, tool = 'shell'): Ask {
  return { kind: 'approval', tool, input: { n }, title: `Round ${n}`, cwd: '/tmp', editable: false }
}
