import { join } from 'node:path'
import type { Answer, Event, Request, SessionId } from '@holdpoint/protocol'
import { afterAll, expect, it } from 'vitest'
import { told, Witness, within } from '../support/event-recorder.ts'
import { closeGateways, GatewayProcess } from '../support/gateway.ts'
import { checkSqlite } from '../support/store-fixture.ts'
import { withWorker } from './chain.ts'
import { logOf, timesWritten } from './verdict.ts'

afterAll(closeGateways)

const rounds = 12 * Number(process.env.HOLDPOINT_ROUNDS ?? 1)
const crowd = 6
const asks = 3

/** Numbers that a seed decides: a run that fails says which. */
function dice(seed: number): (below: number) => number {
  let state = seed
  return below => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}

/** Answers whatever is asked, two of three with allow, and keeps what was acknowledged. */
class Answerer {
  readonly acknowledged = new Map<string, Request>()
  readonly #under = new Set<Promise<void>>()
  readonly #gateway: GatewayProcess
  #at = 0

  constructor(gateway: GatewayProcess) {
    this.#gateway = gateway
  }
  hear(events: readonly Event[]): void {
    for (const event of events.slice(this.#at)) {
      if (event.type !== 'request.opened') continue
      const answered = this.#answer(event.value).finally(() => this.#under.delete(answered))
      this.#under.add(answered)
    }
    this.#at = events.length
  }
  async #answer({ id, digest }: Request): Promise<void> {
    const answer: Answer = /[0-9a-l]$/.test(id) ? { kind: 'allow' } : { kind: 'deny', reason: 'no' }
    this.acknowledged.set(id, await this.#gateway.call('answerRequest', { id, digest, answer }))
  }
  async done(): Promise<void> {
    await Promise.all(this.#under)
  }
}

it(`${rounds} kills at random moments, under the load of ${crowd} sessions`, {
  timeout: 60_000 + rounds * 10_000,
}, async () => {
  const seed = Number(process.env.HOLDPOINT_SEED ?? Date.now() % 1_000_000)
  const roll = dice(seed)
  const gateway = new GatewayProcess({ config: withWorker })
  await gateway.start()
  const witness = await Witness.over(gateway.url, gateway.token)
  const answerer = new Answerer(gateway)
  const file = join(gateway.folder, 'lines')
  const options = { file, asks }
  const sessions: SessionId[] = []
  for (let n = 1; n <= crowd; n++)
    sessions.push((await gateway.call('startSession', { driver: 'worker', prompt: `s${n} m0`, options })).id)
  try {
    let from = 0
    for (let round = 1; round <= rounds; round++) {
      const until = from + 5 + roll(60)
      while (witness.events.length < until) {
        answerer.hear(witness.events)
        const events = witness.events.length
        await within(witness.seen(() => true, events))
      }
      await strike(gateway, ['gateway', 'runner', 'both'][roll(3)] as string) // one of the three
      for (const [n, id] of sessions.entries()) await gateway.call('sendMessage', { id, text: `s${n + 1} m${round}` })
      from = witness.events.length
    }
    const messages = crowd * (rounds + 1)
    const done = () => witness.events.filter(event => event.type === 'command.done').length
    while (done() < messages) {
      answerer.hear(witness.events)
      await within(witness.seen(() => true, witness.events.length))
    }
    await answerer.done()
    expect(answerer.acknowledged.size).toBe(messages * asks)
    const unknown = await judgeAll(gateway, witness, sessions, answerer, file)
    console.info(`storm: ${rounds} kills, ${messages * asks} answers, ${unknown} unknown`)
    await witness.close()
    await gateway.stop()
    await checkSqlite(gateway.home.databaseFile)
  } catch (error) {
    throw new Error(`with HOLDPOINT_SEED=${seed}`, { cause: error })
  }
})

async function strike(gateway: GatewayProcess, victims: string): Promise<void> {
  if (victims !== 'gateway') await gateway.killRunner()
  if (victims === 'runner') return
  await gateway.kill()
  await gateway.start()
}

async function judgeAll(
  gateway: GatewayProcess,
  witness: Witness,
  sessions: readonly SessionId[],
  { acknowledged }: Answerer,
  file: string,
): Promise<number> {
  let unknown = 0
  for (const session of sessions) {
    const log = await logOf(gateway.call, witness, session)
    for (const { value } of log.filter(told(session, 'request.opened'))) {
      const { resolution, delivery, ask, key } = await gateway.call('getRequest', { id: value.id })
      expect(resolution, 'an acknowledged answer is kept as it was').toEqual(acknowledged.get(value.id)?.resolution)
      if (ask.kind !== 'approval') throw new Error('it asks for approval only')
      const times = timesWritten({ file, line: String(ask.input.line) })
      if (delivery.state === 'unknown') unknown++
      if (resolution?.answer?.kind !== 'allow') {
        expect([delivery.state, times]).toEqual(['taken', 0])
        continue
      }
      const step = stepOf(log, key)
      expect(delivery.state, `${value.id} is taken where its action was begun`).toBe(step ? 'taken' : 'unknown')
      if (step === 'done') expect(times).toBe(1)
      else expect(times).toBeLessThanOrEqual(step ? 1 : 0)
    }
  }
  return unknown
}

/** The action stands right behind its ask. */
function stepOf(log: readonly Event[], key: string): 'done' | 'in doubt' | null {
  const [turn, slot] = key.split('.')
  const block = `${turn}.${Number(slot) + 1}`
  const finished = log.find(event => event.type === 'tool.finished' && event.block === block)
  return finished?.type === 'tool.finished' ? (finished.ok ? 'done' : 'in doubt') : null
}
