import { join } from 'node:path'
import type { Store } from '@holdpoint/engine'
import type { Call, Request, SessionId } from '@holdpoint/protocol'
import { openPostgres } from '@holdpoint/store'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { EventRecorder, isEvent, withTimeout } from '../support/event-recorder.ts'
import { closeGateways, type GatewayProcess, shortPause, startGateway } from '../support/gateway.ts'
import { freshDatabase, hasPostgres, type TestDatabase } from '../support/postgres.ts'
import { checkStore } from '../support/store-check.ts'
import { withWorker } from './crash-sequence.ts'
import { isParked, timesWritten } from './delivery-check.ts'

interface PendingSession {
  readonly id: SessionId
  readonly request: Request
  readonly line: string
}

if (await hasPostgres())
  describe('two gateways on one PostgreSQL with a runner each', { timeout: 90_000 }, twoGatewaysSuite)

function twoGatewaysSuite(): void {
  let database: TestDatabase
  let a: GatewayProcess
  let b: GatewayProcess
  /** The tests read leases and fences from the store, because the API does not show them. */
  let store: Store
  let recorder: EventRecorder
  let ofA: PendingSession[]
  let ofB: PendingSession[]

  beforeEach(async () => {
    database = await freshDatabase()
    store = await openPostgres({ url: database.url })
    a = await startGateway({ config: withWorker, store: database.url })
    b = await startGateway({ config: withWorker, store: database.url })
    recorder = await EventRecorder.connect(b.url, b.token)
    while ((await b.call('listRunners', {})).items.length < 2) await shortPause()
    ofA = await startPending(a, b)
    ofB = await startPending(b, a)
  })
  afterEach(async () => {
    await recorder.close()
    await closeGateways()
    await checkStore(store)
    await store.close()
    await database.drop()
  })

  /** Starts two sessions with pending requests on this gateway's runner. The other runner is stopped during that time, so that it cannot attach them. */
  async function startPending(gateway: GatewayProcess, other: GatewayProcess): Promise<PendingSession[]> {
    const sessions: PendingSession[] = []
    const otherRunner = await other.runnerStarted()
    process.kill(otherRunner, 'SIGSTOP')
    for (const prompt of [`${gateway.home.runnerId()} one`, `${gateway.home.runnerId()} two`]) {
      const options = { file: join(a.folder, 'lines') }
      const { id } = await gateway.call('startSession', { driver: 'worker', prompt, options })
      const { value: request } = await withTimeout(recorder.waitFor(isEvent(id, 'request.opened')))
      expect((await gateway.call('getSession', { id })).runner).toBe(gateway.home.runnerId())
      sessions.push({ id, request, line: `${prompt}.1` })
    }
    process.kill(otherRunner, 'SIGCONT')
    return sessions
  }
  const leases = (sessions: readonly PendingSession[]) =>
    Promise.all(
      sessions.map(async ({ id }) => {
        const row = await store.get('session', id)
        return { fence: row?.fence, lease: row?.lease, state: row?.state }
      }),
    )
  async function allow(call: Call, { request: { id, digest } }: PendingSession): Promise<void> {
    await call('answerRequest', { id, digest, answer: { kind: 'allow' } })
  }
  async function expectFinished(sessions: readonly PendingSession[]): Promise<void> {
    for (const { id, request, line } of sessions) {
      await withTimeout(recorder.waitFor(isEvent(id, 'command.done')))
      expect(await b.call('getRequest', { id: request.id })).toMatchObject({ delivery: { state: 'taken' } })
      expect(timesWritten({ file: join(a.folder, 'lines'), line }), line).toBe(1)
    }
  }

  it('if one gateway is killed, the other accepts answers for the sessions of both, and no lease changes', async () => {
    const before = await leases([...ofA, ...ofB])
    await a.kill()
    for (const session of [...ofB, ...ofA]) await allow(b.call, session)
    await expectFinished(ofB)
    await a.start()
    await expectFinished(ofA)
    const after = await leases([...ofA, ...ofB])
    expect(after.map(({ fence, lease }) => ({ fence, lease }))).toEqual(
      before.map(({ fence, lease }) => ({ fence, lease })),
    )
    expect((await b.call('listRunners', {})).items.map(runner => runner.incarnation)).toEqual([1, 1])
  })

  it('if one runner is killed, its sessions are resumed, and the sessions of the other runner are not affected', async () => {
    const before = await leases(ofB)
    await a.killRunner()
    for (const { id } of ofA) await withTimeout(recorder.waitFor(event => event.session === id && isParked(event)))
    expect(await leases(ofB)).toEqual(before)
    for (const session of [...ofA, ...ofB]) await allow(b.call, session)
    await expectFinished([...ofA, ...ofB])
    const after = await leases(ofB)
    expect(after.map(({ fence, lease }) => ({ fence, lease }))).toEqual(
      before.map(({ fence, lease }) => ({ fence, lease })),
    )
  })

  it('if a gateway and its runner are killed, their sessions continue after a restart, and the other sessions are not affected', async () => {
    const before = await leases(ofB)
    await a.kill()
    await a.killRunner()
    for (const session of ofB) await allow(b.call, session)
    await expectFinished(ofB)
    expect((await leases(ofB)).map(({ fence }) => fence)).toEqual(before.map(({ fence }) => fence))
    await a.start()
    for (const session of ofA) await allow(a.call, session)
    await expectFinished(ofA)
  })
}
