import { openPostgres } from '@holdpoint/store'
import { afterEach, expect, it } from 'vitest'
import { closeGateways, type GatewayProcess, startGateway } from '../support/gateway.ts'
import { freshDatabase, hasPostgres } from '../support/postgres.ts'
import { budget } from '../support/rounds.ts'
import { checkArchive, checkSqlite } from '../support/store-fixture.ts'
import { Arena } from './race-fixture.ts'

afterEach(closeGateways)

const spanMs = 8000
const timeout = 1_800_000

async function race(gateways: readonly GatewayProcess[], what: string): Promise<void> {
  const arena = await Arena.open(gateways)
  const rounds = budget(spanMs)
  const beganAt = performance.now()
  try {
    while (rounds.next()) await arena.round()
  } finally {
    await arena.close()
  }
  const seconds = (performance.now() - beganAt) / 1000
  console.info(`${what}: ${rounds.done} rounds of 64 in ${seconds.toFixed(1)} s`, JSON.stringify(arena.tally))
  expect(arena.tally.nobody.wonByPeople).toBe(arena.tally.nobody.rounds)
}

it('64 contenders on SQLite: one wins, and every other is told who', { timeout }, async () => {
  const gateway = await startGateway({ runner: 'none' })
  await race([gateway], 'SQLite, one server')
  await gateway.stop()
  await checkSqlite(gateway.home.databaseFile)
})

if (await hasPostgres())
  it('64 contenders on PostgreSQL, through two servers: one wins, and every other is told who', { timeout }, onPostgres)

async function onPostgres(): Promise<void> {
  const database = await freshDatabase()
  const first = await startGateway({ runner: 'none', store: database.url })
  const second = await startGateway({ runner: 'none', store: database.url })
  await race([first, second], 'PostgreSQL, two servers')
  await closeGateways()
  const store = await openPostgres({ url: database.url })
  await checkArchive(store).finally(() => store.close())
  await database.drop()
}
