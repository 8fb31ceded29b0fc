import { join } from 'node:path'
import type { Store } from '@holdpoint/engine'
import type { Call, Request, SessionId } from '@holdpoint/protocol'
import { openPostgres } from '@holdpoint/store'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { told, Witness, within } from '../support/event-recorder.ts'
import { closeGateways, type GatewayProcess, glance, startGateway } from '../support/gateway.ts'
import { freshDatabase, hasPostgres, type TestDatabase } from '../support/postgres.ts'
import { checkArchive } from '../support/store-fixture.ts'
import { withWorker } from './chain.ts'
import { isParked, timesWritten } from './verdict.ts'

interface Held {
  readonly id: SessionId
  readonly request: Request
  readonly line: string
}

if (await hasPostgres()) describe('two gateways on one PostgreSQL, a runner each', { timeout: 90_000 }, twoGateways)

function twoGateways(): void {
  let database: TestDatabase
  let a: GatewayProcess
  let b: GatewayProcess
  /** Looks at rows that nobody is shown: leases and fences. */
  let store: Store
  let witness: Witness
  let ofA: Held[]
  let ofB: Held[]

  beforeEach(async () => {
    database = await freshDatabase()
    store = await openPostgres({ url: database.url })
    a = await startGateway({ config: withWorker, store: database.url })
    b = await startGateway({ config: withWorker, store: database.url })
    witness = await Witness.over(b.url, b.token)
    while ((await b.call('listRunners', {})).items.length < 2) await glance()
    ofA = await hold(a, b)
    ofB = await hold(b, a)
  })
  afterEach(async () => {
    await witness.close()
    await closeGateways()
    await checkArchive(store)
    await store.close()
    await database.drop()
  })

  /** Two sessions that wait for an answer, with this gateway's runner: the other's is held meanwhile, so that it cannot be faster. */
  async function hold(gateway: GatewayProcess, other: GatewayProcess): Promise<Held[]> {
    const held: Held[] = []
    const rival = await other.runnerBegun()
    process.kill(rival, 'SIGSTOP')
    for (const prompt of [`${gateway.home.runnerId()} one`, `${gateway.home.runnerId()} two`]) {
      const options = { file: join(a.folder, 'lines') }
      const { id } = await gateway.call('startSession', { driver: 'worker', prompt, options })
      const { value: request } = await within(witness.seen(told(id, 'request.opened')))
      expect((await gateway.call('getSession', { id })).runner).toBe(gateway.home.runnerId())
      held.push({ id, request, line: `${prompt}.1` })
    }
    process.kill(rival, 'SIGCONT')
    return held
  }
  const leases = (held: readonly Held[]) =>
    Promise.all(
      held.map(async ({ id }) => {
        const row = await store.get('session', id)
        return { fence: row?.fence, lease: row?.lease, state: row?.state }
      }),
    )
  async function allow(call: Call, { request: { id, digest } }: Held): Promise<void> {
    await call('answerRequest', { id, digest, answer: { kind: 'allow' } })
  }
  async function finished(held: readonly Held[]): Promise<void> {
    for (const { id, request, line } of held) {
      await within(witness.seen(told(id, 'command.done')))
      expect(await b.call('getRequest', { id: request.id })).toMatchObject({ delivery: { state: 'taken' } })
      expect(timesWritten({ file: join(a.folder, 'lines'), line }), line).toBe(1)
    }
  }

  it('one gateway killed: the other answers for both, and no agent notices', async () => {
    const before = await leases([...ofA, ...ofB])
    await a.kill()
    for (const held of [...ofB, ...ofA]) await allow(b.call, held)
    await finished(ofB)
    await a.start()
    await finished(ofA)
    const after = await leases([...ofA, ...ofB])
    expect(after.map(({ fence, lease }) => ({ fence, lease }))).toEqual(
      before.map(({ fence, lease }) => ({ fence, lease })),
    )
    expect((await b.call('listRunners', {})).items.map(runner => runner.incarnation)).toEqual([1, 1])
  })

  it('one runner killed: its sessions come back, and those of the other never left', async () => {
    const before = await leases(ofB)
    await a.killRunner()
    for (const { id } of ofA) await within(witness.seen(event => event.session === id && isParked(event)))
    expect(await leases(ofB)).toEqual(before)
    for (const held of [...ofA, ...ofB]) await allow(b.call, held)
    await finished([...ofA, ...ofB])
    const after = await leases(ofB)
    expect(after.map(({ fence, lease }) => ({ fence, lease }))).toEqual(
      before.map(({ fence, lease }) => ({ fence, lease })),
    )
  })

  it('a gateway and its runner killed: what they held goes on elsewhere, the rest has noticed nothing', async () => {
    const before = await leases(ofB)
    await a.kill()
    await a.killRunner()
    for (const held of ofB) await allow(b.call, held)
    await finished(ofB)
    expect((await leases(ofB)).map(({ fence }) => fence)).toEqual(before.map(({ fence }) => fence))
    await a.start()
    for (const held of ofA) await allow(a.call, held)
    await finished(ofA)
  })
}
