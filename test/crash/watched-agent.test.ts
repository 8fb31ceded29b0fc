/** Tests that each effect of a watcher happens once, in a gateway that is killed with SIGKILL between a moment and its effects, and on two gateways with one PostgreSQL. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Call, SessionId } from '@holdpoint/protocol'
import { afterAll, describe, expect, it } from 'vitest'
import { EventRecorder, isEvent, withTimeout } from '../support/event-recorder.ts'
import { closeGateways, GatewayProcess, startGateway } from '../support/gateway.ts'
import { freshDatabase, hasPostgres } from '../support/postgres.ts'
import { withWorker } from './crash-sequence.ts'
import { timesWritten } from './delivery-check.ts'

afterAll(closeGateways)

const counted = ['start', 'prompt', 'before', 'after'] as const
const count = (on: string) => ({ name: `count-${on}`, on, do: { set: { [on]: `vars.${on} + 1` } } })
/** The worker asks, writes a line and stops. It is sent back to work once, and does the same again. */
const watchers = {
  vars: Object.fromEntries(counted.map(on => [on, 0])),
  watch: [...counted.map(count), { name: 'again', on: 'stop', times: 1, do: { say: 'once more' } }],
}
const expected = { start: 1, prompt: 1, before: 2, after: 2 }

function writeWatchers({ home }: GatewayProcess): void {
  writeFileSync(home.rulesFile, JSON.stringify(watchers))
}

/** Lets the agent write its lines, and returns the session. */
async function runWorker(call: Call, recorder: EventRecorder, folder: string): Promise<SessionId> {
  const options = { file: join(folder, 'lines') }
  const { id } = await call('startSession', { driver: 'worker', prompt: 'a line', options })
  for (const key of ['t1.2', 't2.2']) {
    const isOpened = isEvent(id, 'request.opened')
    await recorder.waitFor(event => isOpened(event) && event.value.key === key)
    const opened = recorder.events.filter(isOpened).find(({ value }) => value.key === key)
    if (!opened) throw new Error(`the request ${key} was not opened`)
    const { value } = opened
    await call('answerRequest', { id: value.id, digest: value.digest, answer: { kind: 'allow' } })
  }
  await recorder.waitFor(() => recorder.events.filter(isEvent(id, 'command.done')).length === 2)
  return id
}

async function expectOnce(call: Call, recorder: EventRecorder, id: SessionId): Promise<void> {
  const { items } = await call('listVariables', { id })
  expect(Object.fromEntries(items.map(({ name, value }) => [name, value]))).toEqual(expected)
  const fired = recorder.events.filter(isEvent(id, 'watch.fired')).map(({ watcher }) => watcher.name)
  expect(fired.filter(name => name === 'again')).toHaveLength(1)
  expect(fired).toHaveLength(Object.values(expected).reduce((sum, value) => sum + value) + 1)
}

const points = [
  'written:moment',
  'committed:moment',
  'replying:reportMoment',
  'written:open',
  'committed:open',
  'written:appendEvents#3',
  'committed:appendEvents#3',
  'committed:appendEvents#5',
]
/** `npm run crash` kills at all points, and `npm test` at every third point. Which points these are differs from run to run. */
const first = Math.floor(Math.random() * 3)
const sample = points.filter((_, index) => process.env.HOLDPOINT_ROUNDS !== undefined || index % 3 === first)

describe('watchers and kill -9', { timeout: 300_000 }, () => {
  it.each(sample)('each effect of a watcher happens once if gateway and runner are killed at %s', async point => {
    const gateway = new GatewayProcess({ config: withWorker })
    writeWatchers(gateway)
    await gateway.start({ HOLDPOINT_CRASH_AT: `begun:start,${point}` })
    const recorder = await EventRecorder.connect(gateway.url, gateway.token)
    const crashed = gateway.exited.then(async exit => {
      expect(exit.signal).toBe('SIGKILL')
      await gateway.killRunner()
      await gateway.start()
    })
    const id = await withTimeout(runWorker(gateway.call, recorder, gateway.folder))
    await crashed
    await expectOnce(gateway.call, recorder, id)
    expect(timesWritten({ file: join(gateway.folder, 'lines'), line: 'a line.1' })).toBe(1)
    await recorder.close()
    await gateway.close()
  })
})

if (await hasPostgres())
  describe('watchers on two gateways with one PostgreSQL', { timeout: 120_000 }, () => {
    it('each effect of a watcher happens once if one gateway is killed while the other continues', async () => {
      const database = await freshDatabase()
      const a = await startGateway({ config: withWorker, store: database.url })
      const b = await startGateway({ runner: 'none', store: database.url })
      writeWatchers(a)
      const recorder = await EventRecorder.connect(b.url, b.token)
      const running = runWorker(b.call, recorder, a.folder)
      await recorder.waitFor(event => event.type === 'request.opened')
      await a.kill()
      await a.start()
      await expectOnce(b.call, recorder, await withTimeout(running))
      await recorder.close()
      await closeGateways()
      await database.drop()
    })
  })
