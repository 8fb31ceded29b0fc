import { openPostgres } from '@holdpoint/store'
import { afterEach, expect, it } from 'vitest'
import { closeGateways, type GatewayProcess, startGateway } from '../support/gateway.ts'
import { freshDatabase, hasPostgres } from '../support/postgres.ts'
import { startRounds } from '../support/rounds.ts'
import { checkSqlite, checkStore } from '../support/store-check.ts'
import { AnswerRace } from './race-fixture.ts'

afterEach(closeGateways)

const raceMs = 3000
const timeout = 1_800_000

async function race(gateways: readonly GatewayProcess[], label: string): Promise<void> {
  const answerRace = await AnswerRace.open(gateways)
  const rounds = startRounds(raceMs)
  const startedAt = performance.now()
  try {
    while (rounds.next()) await answerRace.round()
  } finally {
    await answerRace.close()
  }
  const seconds = (performance.now() - startedAt) / 1000
  console.info(`${label}: ${rounds.done} rounds of 64 in ${seconds.toFixed(1)} s`, JSON.stringify(answerRace.tally))
  expect(answerRace.tally.nobody.wonByPeople).toBe(answerRace.tally.nobody.rounds)
}

it('if 64 people answer at once on SQLite, one wins and the others are told who won', { timeout }, async () => {
  const gateway = await startGateway({ runner: 'none' })
  await race([gateway], 'SQLite, one gateway')
  await gateway.stop()
  await checkSqlite(gateway.home.databaseFile)
})

if (await hasPostgres())
  it(
    'if 64 people answer at once through two gateways on PostgreSQL, one wins and the others are told who won',
    { timeout },
    onPostgres,
  )

async function onPostgres(): Promise<void> {
  const database = await freshDatabase()
  const first = await startGateway({ runner: 'none', store: database.url })
  const second = await startGateway({ runner: 'none', store: database.url })
  await race([first, second], 'PostgreSQL, two gateways')
  await closeGateways()
  const store = await openPostgres({ url: database.url })
  await checkStore(store).finally(() => store.close())
  await database.drop()
}
