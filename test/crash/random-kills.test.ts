import { join } from 'node:path'
import type { Answer, Event, Request, SessionId } from '@holdpoint/protocol'
import { afterAll, expect, it } from 'vitest'
import { EventRecorder, isEvent, withTimeout } from '../support/event-recorder.ts'
import { closeGateways, GatewayProcess } from '../support/gateway.ts'
import { checkSqlite } from '../support/store-check.ts'
import { withWorker } from './crash-sequence.ts'
import { sessionLog, timesWritten } from './delivery-check.ts'

afterAll(closeGateways)

/** `npm run crash` kills twice as often. */
const rounds = process.env.HOLDPOINT_ROUNDS ? 12 * Number(process.env.HOLDPOINT_ROUNDS) : 6
const sessionCount = 6
const asksPerTurn = 3

/** Returns a function that generates random integers from the seed. A failing run reports its seed. */
function seededRandom(seed: number): (below: number) => number {
  let state = seed
  return below => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}

/** Answers every request, about two thirds of them with allow, and remembers the acknowledged answers. */
class Answerer {
  readonly acknowledged = new Map<string, Request>()
  readonly #running = new Set<Promise<void>>()
  readonly #gateway: GatewayProcess
  #position = 0

  constructor(gateway: GatewayProcess) {
    this.#gateway = gateway
  }
  answerNew(events: readonly Event[]): void {
    for (const event of events.slice(this.#position)) {
      if (event.type !== 'request.opened') continue
      const answering = this.#answer(event.value).finally(() => this.#running.delete(answering))
      this.#running.add(answering)
    }
    this.#position = events.length
  }
  async #answer({ id, digest }: Request): Promise<void> {
    const answer: Answer = /[0-9a-l]$/.test(id) ? { kind: 'allow' } : { kind: 'deny', reason: 'no' }
    this.acknowledged.set(id, await this.#gateway.call('answerRequest', { id, digest, answer }))
  }
  async done(): Promise<void> {
    await Promise.all(this.#running)
  }
}

it(`${rounds} kills at random moments during ${sessionCount} sessions lose no acknowledged answer`, {
  // A busy machine needs several times as long as an idle one.
  timeout: 240_000 + rounds * 10_000,
}, async () => {
  const seed = Number(process.env.HOLDPOINT_SEED ?? Date.now() % 1_000_000)
  const random = seededRandom(seed)
  const gateway = new GatewayProcess({ config: withWorker })
  await gateway.start()
  const recorder = await EventRecorder.connect(gateway.url, gateway.token)
  const answerer = new Answerer(gateway)
  const file = join(gateway.folder, 'lines')
  const options = { file, asks: asksPerTurn }
  const sessions: SessionId[] = []
  for (let n = 1; n <= sessionCount; n++)
    sessions.push((await gateway.call('startSession', { driver: 'worker', prompt: `s${n} m0`, options })).id)
  try {
    let from = 0
    for (let round = 1; round <= rounds; round++) {
      const until = from + 5 + random(60)
      while (recorder.events.length < until) {
        answerer.answerNew(recorder.events)
        const events = recorder.events.length
        await withTimeout(recorder.waitFor(() => true, events))
      }
      await killProcesses(gateway, ['gateway', 'runner', 'both'][random(3)] as string) // `random(3)` is 0, 1 or 2, so the element exists
      for (const [n, id] of sessions.entries()) await gateway.call('sendMessage', { id, text: `s${n + 1} m${round}` })
      from = recorder.events.length
    }
    const messages = sessionCount * (rounds + 1)
    const done = () => recorder.events.filter(event => event.type === 'command.done').length
    while (done() < messages) {
      answerer.answerNew(recorder.events)
      await withTimeout(recorder.waitFor(() => true, recorder.events.length))
    }
    await answerer.done()
    expect(answerer.acknowledged.size).toBe(messages * asksPerTurn)
    const unknown = await checkAllDeliveries(gateway, recorder, sessions, answerer, file)
    console.info(`random kills: ${rounds} kills, ${messages * asksPerTurn} answers, ${unknown} unknown`)
    await recorder.close()
    await gateway.stop()
    await checkSqlite(gateway.home.databaseFile)
  } catch (error) {
    throw new Error(`with HOLDPOINT_SEED=${seed}`, { cause: error })
  }
})

async function killProcesses(gateway: GatewayProcess, victims: string): Promise<void> {
  if (victims !== 'gateway') await gateway.killRunner()
  if (victims === 'runner') return
  await gateway.kill()
  await gateway.start()
}

async function checkAllDeliveries(
  gateway: GatewayProcess,
  recorder: EventRecorder,
  sessions: readonly SessionId[],
  { acknowledged }: Answerer,
  file: string,
): Promise<number> {
  let unknown = 0
  for (const session of sessions) {
    const log = await sessionLog(gateway.call, recorder, session)
    for (const { value } of log.filter(isEvent(session, 'request.opened'))) {
      const { resolution, delivery, ask, key } = await gateway.call('getRequest', { id: value.id })
      expect(resolution, 'an acknowledged answer does not change').toEqual(acknowledged.get(value.id)?.resolution)
      if (ask.kind !== 'approval') throw new Error('this agent only asks for approvals')
      const times = timesWritten({ file, line: String(ask.input.line) })
      if (delivery.state === 'unknown') unknown++
      if (resolution?.answer?.kind !== 'allow') {
        expect([delivery.state, times]).toEqual(['taken', 0])
        continue
      }
      const step = stepOf(log, key)
      expect(delivery.state, `${value.id} is taken if its action has started`).toBe(step ? 'taken' : 'unknown')
      if (step === 'done') expect(times).toBe(1)
      else expect(times).toBeLessThanOrEqual(step ? 1 : 0)
    }
  }
  return unknown
}

/** Returns the result of an action from the log. The block number of an action is one higher than that of its ask. */
function stepOf(log: readonly Event[], key: string): 'done' | 'unknown' | null {
  const [turn, slot] = key.split('.')
  const block = `${turn}.${Number(slot) + 1}`
  const finished = log.find(event => event.type === 'tool.finished' && event.block === block)
  return finished?.type === 'tool.finished' ? (finished.ok ? 'done' : 'unknown') : null
}
