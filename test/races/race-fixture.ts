/** Races 64 people in eight processes to answer one request, in some rounds together with its deadline, a rule or a withdrawal. */
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

const processCount = 8
const peoplePerProcess = 8

interface Outcome {
  readonly name: string
  readonly status: number
  readonly code: string | null
  readonly resolution: Resolution | null
}
type OtherContender = 'nobody' | 'withdrawal' | 'rule' | 'deadline'
export type Tally = Record<OtherContender, { rounds: number; wonByPeople: number }>

export class AnswerRace {
  readonly #processes: ChildProcess[]
  readonly #calls: readonly Call[]
  readonly #session: SessionId
  /** A request whose deadline is still to come. Other rounds run in the meantime, and people race to answer this request when its deadline comes. */
  #due: Request | null = null
  #round = 0
  readonly tally: Tally = {
    nobody: { rounds: 0, wonByPeople: 0 },
    withdrawal: { rounds: 0, wonByPeople: 0 },
    rule: { rounds: 0, wonByPeople: 0 },
    deadline: { rounds: 0, wonByPeople: 0 },
  }

  private constructor(processes: ChildProcess[], calls: readonly Call[], session: SessionId) {
    this.#processes = processes
    this.#calls = calls
    this.#session = session
  }

  /** Distributes the processes over the gateways, which share one store. */
  static async open(gateways: readonly GatewayProcess[]): Promise<AnswerRace> {
    const calls = gateways.map(gateway => gateway.call)
    const [call] = calls
    if (!call) throw new Error('a race needs a gateway')
    const children = await Promise.all(
      Array.from({ length: processCount }, async (_, index) => {
        const gateway = gateways[index % gateways.length] as GatewayProcess // the index is below the length
        const names = Array.from({ length: peoplePerProcess }, (_, n) => `person ${index * peoplePerProcess + n + 1}`)
        const people = await Promise.all(
          names.map(async name => ({ name, token: (await call('addToken', { role: 'person', name })).secret })),
        )
        return fork(join(import.meta.dirname, 'answering-people.mjs'), [JSON.stringify({ url: gateway.url, people })])
      }),
    )
    await call('addRule', { effect: 'deny', tool: 'ruled' })
    const { id } = await call('startSession', { driver: 'external', title: 'a race' })
    return new AnswerRace(children, calls, id)
  }

  async round(): Promise<void> {
    const n = ++this.#round
    const call = this.#calls[n % this.#calls.length] as Call // the index is below the length
    if (this.#due?.deadlineAt && Date.now() >= this.#due.deadlineAt - 30) {
      const due = this.#due
      this.#due = null
      // Start 12, 8, 4 or 0 ms before the deadline, in turn.
      const leftMs = (due.deadlineAt ?? 0) - 12 + (n % 4) * 4 - Date.now()
      if (leftMs > 0) await setTimeout(leftMs)
      return this.#check('deadline', due.id, await this.#answerAll(due))
    }
    if (!this.#due && n % 5 === 0)
      this.#due = await call('openRequest', { id: this.#session, key: `due ${n}`, ask: approval(n), deadlineMs: 1000 })
    if (n % 7 === 3) return this.#raceWithRule(call, n)
    const request = await call('openRequest', { id: this.#session, key: `round ${n}`, ask: approval(n) })
    if (n % 7 !== 5) return this.#check('nobody', request.id, await this.#answerAll(request))
    const [outcomes] = await Promise.all([this.#answerAll(request), call('withdrawRequest', { id: request.id })])
    return this.#check('withdrawal', request.id, outcomes)
  }

  /** Races people against a rule. People can compute the id and the digest and answer before the request exists, but the rule must still win. */
  async #raceWithRule(call: Call, n: number): Promise<void> {
    const key = `ruled ${n}`
    const ask = approval(n, 'ruled')
    const id = formatId('req', createHash('sha256').update(`${this.#session}\0${key}`).digest())
    const digest = createHash('sha256').update(digestText(this.#session, ask)).digest('hex')
    const opening = call('openRequest', { id: this.#session, key, ask })
    const [outcomes, opened] = await Promise.all([this.#answerAll({ id, digest }), opening])
    expect(opened.id).toBe(id)
    const tooEarly = outcomes.filter(({ status }) => status === 404)
    await this.#check(
      'rule',
      id,
      outcomes.filter(outcome => !tooEarly.includes(outcome)),
    )
  }

  async #answerAll({ id, digest }: Pick<Request, 'id' | 'digest'>): Promise<Outcome[]> {
    const all = await Promise.all(
      this.#processes.map(
        child =>
          new Promise<Outcome[]>((resolve, reject) => {
            child.once('message', (message: { outcomes?: Outcome[]; error?: string }) =>
              message.outcomes ? resolve(message.outcomes) : reject(new Error(message.error)),
            )
            child.send({ id, digest })
          }),
      ),
    )
    return all.flat()
  }

  async #check(other: OtherContender, id: RequestId, outcomes: readonly Outcome[]): Promise<void> {
    const { resolution, deadlineAt } = await (this.#calls[0] as Call)('getRequest', { id }) // there is at least one gateway
    if (!resolution) throw new Error(`round ${this.#round}: ${id} has no resolution`)
    const winners = outcomes.filter(({ status }) => status === 200)
    const byPerson = resolution.by === 'person'
    expect(winners.length, `round ${this.#round} (${other}): winners`).toBe(byPerson ? 1 : 0)
    if (byPerson) expect(winners[0]?.name).toBe(resolution.person)
    if (byPerson && deadlineAt !== null) expect(resolution.at).toBeLessThan(deadlineAt)
    for (const { name, status, code, resolution: reported } of outcomes) {
      if (status !== 200) expect([status, code], name).toEqual([409, 'already_resolved'])
      expect(reported, `${name} is told who won`).toEqual(resolution)
    }
    const possible = {
      nobody: ['person'],
      withdrawal: ['person', 'agent'],
      rule: ['rule'],
      deadline: ['person', 'deadline'],
    }
    expect(possible[other]).toContain(resolution.by)
    this.tally[other].rounds++
    if (byPerson) this.tally[other].wonByPeople++
  }

  async close(): Promise<void> {
    const ended = this.#processes.map(child => new Promise(resolve => child.once('exit', resolve)))
    for (const child of this.#processes) child.disconnect()
    await Promise.all(ended)
  }
}

function approval(n: number, tool = 'shell'): Ask {
  return { kind: 'approval', tool, input: { n }, title: `Round ${n}`, cwd: '/tmp', editable: false }
}
