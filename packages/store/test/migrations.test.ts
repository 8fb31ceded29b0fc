/** Pins the tables as released. If a test in this file fails, the tables have changed, and existing stores need a new migration. */
import { createHash } from 'node:crypto'
import { join } from 'node:path'
import type { RequestRow, Store } from '@holdpoint/engine'
import { DatabaseSync } from '@photostructure/sqlite'
import postgres from 'postgres'
import { describe, expect, it } from 'vitest'
import { freshDatabase, hasPostgres } from '../../../test/support/postgres.ts'
import { checkUsage } from '../../../test/support/usage-check.ts'
import { openPostgres, openSqlite, verifyChain } from '../src/index.ts'
import {
  latestVersion,
  type Migration,
  pendingMigrations,
  postgresMigrations,
  sqliteMigrations,
} from '../src/migrations.ts'
import { encodeBody, encodeFixed, tableLayouts } from '../src/row-codec.ts'
import { SqliteFile } from '../src/sqlite-file.ts'
import * as sample from './samples.ts'
import { temporaryFolder } from './stores.ts'

it('migrations are numbered without gaps, and both dialects have the same numbers', () => {
  const versions = sqliteMigrations.map(migration => migration.version)
  expect(versions).toEqual(versions.map((_, n) => latestVersion - versions.length + 1 + n))
  expect(postgresMigrations.map(migration => migration.version)).toEqual(versions)
})

it('the released migrations are unchanged', () => {
  const pin = (migrations: readonly Migration[]) =>
    migrations
      .filter(({ version }) => version === 3)
      .map(({ statements }) => createHash('sha256').update(statements.join(';\n')).digest('hex').slice(0, 16))
  expect({ sqlite: pin(sqliteMigrations), postgres: pin(postgresMigrations) }).toEqual({
    sqlite: ['4c1afd3efefb0194'],
    postgres: ['d97c0186a185f5f6'],
  })
})

it('a store gets exactly the migrations that are newer than its version', () => {
  const all: readonly Migration[] = [3, 4, 5].map(version => ({ version, statements: [] }))
  const versionsFrom = (version: number) => pendingMigrations(all, version, 'a.db').map(migration => migration.version)
  expect(versionsFrom(0)).toEqual([3, 4, 5])
  expect(versionsFrom(4)).toEqual([5])
  expect(versionsFrom(5)).toEqual([])
})

it('the migrations create every column and index that the engine defines', () => {
  const folder = temporaryFolder()
  const file = new SqliteFile(join(folder.path, 'new.db'))
  for (const { table, columns, indexes } of Object.values(tableLayouts)) {
    const names = file.rows(`SELECT name FROM pragma_table_info('${table}')`).map(String)
    expect(names.sort(), table).toEqual(
      ['id', 'ord', 'version', 'fixed', 'body', ...columns.map(column => column.sql)].sort(),
    )
    const indexNames = file.rows(`SELECT name FROM pragma_index_list('${table}') WHERE origin = 'c'`).map(String)
    expect(indexNames.sort(), table).toEqual(
      indexes.map(index => [table, ...index.map(column => column.sql), 'ord'].join('_')).sort(),
    )
  }
  file.close()
  folder.remove()
})

it('a store of schema 3 is migrated when it is opened, and its rows and events can be read', async () => {
  const folder = temporaryFolder()
  const file = join(folder.path, 'old.db')
  const row = sample.request(1)
  const [statements] = sqliteMigrations.map(migration => migration.statements)
  const db = new DatabaseSync(file)
  for (const statement of statements ?? []) db.exec(statement)
  db.exec(`PRAGMA application_id = ${0x686f6c64}; PRAGMA user_version = 3`)
  db.prepare('INSERT INTO request VALUES (?, ?, ?, ?, ?, ?, 1, ?, ?)').run(
    row.id,
    row.ord,
    row.session,
    'pending',
    1,
    null,
    encodeFixed(tableLayouts.request, row),
    encodeBody(tableLayouts.request, row),
  )
  const id = createHash('sha256').update('secret').digest('hex')
  const token = { token: 'tok_1', kind: 'bearer', role: 'agent', name: 'ci', madeAt: 1, expiresAt: null }
  db.prepare('INSERT INTO token VALUES (?, 2, ?, NULL, 1, NULL, ?)').run(id, token.token, JSON.stringify(token))
  db.close()
  const store = await openSqlite({ file })
  expect(await store.get('request', row.id)).toEqual(row)
  expect(await store.find('token', { where: { hint: id.slice(0, 16) } })).toMatchObject([{ ...token, id }])
  await store.commit(sample.resolveRequest(row.id, 'ada'))
  await store.commit(sample.putRows({ table: 'session', row: sample.session(1) }))
  expect(await store.find('session', { where: { state: 'working' } })).toEqual([sample.session(1)])
  expect(await verifyChain(store)).toEqual({ ok: true, events: 1 })
  await store.close()
  folder.remove()
})

it('the migration to schema 6 gives a lease to the agents of external sessions that have not ended', async () => {
  const folder = temporaryFolder()
  const file = join(folder.path, 'old.db')
  const db = new DatabaseSync(file)
  for (const { version, statements } of sqliteMigrations)
    if (version < 6) for (const statement of statements) db.exec(statement)
  db.exec(`PRAGMA application_id = ${0x686f6c64}; PRAGMA user_version = 5`)
  const insert = db.prepare('INSERT INTO session (id, ord, state, version, body) VALUES (?, ?, ?, 1, ?)')
  const rows = [
    { ...sample.session(1), driver: 'external', lease: null },
    { ...sample.session(2), driver: 'external', lease: null, state: 'ended' as const },
    { ...sample.session(3), driver: 'claude', lease: null },
  ]
  for (const row of rows) insert.run(row.id, row.ord, row.state, encodeBody(tableLayouts.session, row))
  db.close()
  const store = await openSqlite({ file })
  const leases = await Promise.all(rows.map(async ({ id }) => (await store.get('session', id))?.lease))
  expect(leases).toEqual([{ runner: null, incarnation: 0, expiresAt: 0 }, null, null])
  expect((await store.find('session', { atMost: { leaseExpiresAt: 0 } })).map(({ id }) => id)).toEqual([rows[0]?.id])
  await store.close()
  folder.remove()
})

describe('the migration to schema 7', () => {
  const now = { ...sample.request(1), session: sample.sessionId(1), openedAt: 7000, status: 'pending' as const }
  const later = { ...sample.request(2), session: sample.sessionId(1), openedAt: 9000, status: 'pending' as const }
  const usage = { sessions: 0, pendingBytes: 5, waiting: 0, handed: 0 }
  const rows = [
    { id: sample.sessionId(1), ord: 1, session: sample.sessionId(1), ...usage, pending: 2 },
    { id: sample.sessionId(2), ord: 2, session: sample.sessionId(2), ...usage, pending: 0 },
    { id: 'tok_1', ord: 3, session: null, ...usage, pending: 2 },
  ]
  async function expectWait(store: Store): Promise<void> {
    expect(await store.find('usage', {})).toEqual([{ ...rows[0], waitingSince: 7000 }, rows[1], rows[2]])
    await store.close()
  }

  it('the migration to schema 7 records since when each session in a SQLite store has waited for people', async () => {
    const folder = temporaryFolder()
    const file = join(folder.path, 'old.db')
    const db = new DatabaseSync(file)
    for (const { version, statements } of sqliteMigrations)
      if (version < 7) for (const statement of statements) db.exec(statement)
    db.exec(`PRAGMA application_id = ${0x686f6c64}; PRAGMA user_version = 6`)
    const request = db.prepare(
      `INSERT INTO request (id, ord, session, status, open, version, fixed, body) VALUES (?, ?, ?, 'pending', 1, 1, ?, ?)`,
    )
    for (const row of [later, now])
      request.run(
        row.id,
        row.ord,
        row.session,
        encodeFixed(tableLayouts.request, row),
        encodeBody(tableLayouts.request, row),
      )
    const insert = db.prepare('INSERT INTO usage (id, ord, session, version, body) VALUES (?, ?, ?, 1, ?)')
    for (const row of rows) insert.run(row.id, row.ord, row.session, encodeBody(tableLayouts.usage, row))
    db.close()
    await expectWait(await openSqlite({ file }))
    folder.remove()
  })

  it('the migration to schema 7 records since when each session in a PostgreSQL store has waited for people', async () => {
    if (!(await hasPostgres())) return
    const database = await freshDatabase()
    const admin = postgres(database.url, { max: 1, onnotice: () => {} })
    await admin.unsafe(
      'CREATE SCHEMA holdpoint; CREATE TABLE holdpoint.meta (version INT NOT NULL); INSERT INTO holdpoint.meta VALUES (6)',
    )
    for (const { version, statements } of postgresMigrations)
      if (version < 7) for (const statement of statements) await admin.unsafe(statement)
    for (const row of [later, now])
      await admin`INSERT INTO holdpoint.request (id, ord, session, status, open, version, fixed, body) VALUES (${row.id}, ${row.ord}, ${row.session}, 'pending', 1, 1, ${encodeFixed(tableLayouts.request, row)}, ${encodeBody(tableLayouts.request, row)})`
    for (const row of rows)
      await admin`INSERT INTO holdpoint.usage (id, ord, session, version, body) VALUES (${row.id}, ${row.ord}, ${row.session}, 1, ${encodeBody(tableLayouts.usage, row)})`
    await admin`INSERT INTO holdpoint.head VALUES (1, 0, '', 'e', 0, 0, 0)`
    await admin.end()
    await expectWait(await openPostgres({ url: database.url }))
    await database.drop()
  })
})

describe('the migration to schema 8', () => {
  async function expectWatchRows(store: Store): Promise<void> {
    const { rulesSeq } = await store.head()
    const file = sample.watchFile(1)
    await store.commit(sample.putRows({ table: 'watchfile', row: file }))
    expect((await store.head()).rulesSeq).toBeGreaterThan(rulesSeq)
    await store.commit(sample.putRows({ table: 'watchstate', row: sample.watchState(1) }))
    const spent = { id: 'day 2026-11-18', ord: 1, cost: 0.5, tokens: 10, turns: 1, minutes: 0.25 }
    await store.commit(sample.putRows({ table: 'spent', row: spent }))
    expect(await store.find('watchfile', {})).toEqual([file])
    expect(await store.find('watchstate', { where: { session: sample.sessionId(1) } })).toEqual([sample.watchState(1)])
    expect(await store.get('spent', spent.id)).toEqual(spent)
    await store.commit({ label: 'purge', reads: [], decide: () => ({ purge: sample.sessionId(1), result: null }) })
    expect(await store.find('watchstate', {})).toEqual([])
    await store.close()
  }

  it('the migration to schema 8 adds the tables of watchers to a SQLite store, and keeps its rows', async () => {
    const folder = temporaryFolder()
    const file = join(folder.path, 'old.db')
    const db = new DatabaseSync(file)
    for (const { version, statements } of sqliteMigrations)
      if (version < 8) for (const statement of statements) db.exec(statement)
    db.exec(`PRAGMA application_id = ${0x686f6c64}; PRAGMA user_version = 7`)
    const row = sample.session(1)
    db.prepare('INSERT INTO session (id, ord, state, version, body) VALUES (?, ?, ?, 1, ?)').run(
      row.id,
      row.ord,
      row.state,
      encodeBody(tableLayouts.session, row),
    )
    db.close()
    const store = await openSqlite({ file })
    expect(await store.get('session', row.id)).toEqual(row)
    await expectWatchRows(store)
    folder.remove()
  })

  it('the migration to schema 8 adds the tables of watchers to a PostgreSQL store', async () => {
    if (!(await hasPostgres())) return
    const database = await freshDatabase()
    const admin = postgres(database.url, { max: 1, onnotice: () => {} })
    await admin.unsafe(
      'CREATE SCHEMA holdpoint; CREATE TABLE holdpoint.meta (version INT NOT NULL); INSERT INTO holdpoint.meta VALUES (7)',
    )
    for (const { version, statements } of postgresMigrations)
      if (version < 8) for (const statement of statements) await admin.unsafe(statement)
    await admin`INSERT INTO holdpoint.head VALUES (1, 0, '', 'e', 0, 0, 0)`
    await admin.end()
    await expectWatchRows(await openPostgres({ url: database.url }))
    await database.drop()
  })
})

describe('the migration to schema 4', () => {
  const [first] = sqliteMigrations
  const fixedOf = (row: RequestRow) => encodeFixed(tableLayouts.request, row)
  const bodyOf = (row: RequestRow) => encodeBody(tableLayouts.request, row)
  /** Requests as schema 3 stored them: pending, waiting, handed and taken. */
  const rows = (['pending', 'waiting', 'handed', 'taken', 'pending'] as const).map((state, i): RequestRow => {
    const row = sample.request(i + 1)
    if (state === 'pending') return { ...row, status: 'pending', session: sample.sessionId(i < 3 ? 1 : 2) }
    const misleading = { delivery: { state: 'handed', text: '"delivery":{"state":"handed"} \u0000 \\u0000 \ud800' } }
    return {
      ...row,
      session: sample.sessionId(i < 3 ? 1 : 2),
      status: 'resolved',
      resolution: { at: 1, by: 'person', person: 'ada', answer: { kind: 'submit', values: misleading } },
      delivery: { state, at: 1 },
    }
  })
  const openOf = (row: RequestRow) => (row.delivery.state === 'taken' && row.status === 'resolved' ? null : 1)
  async function expectCounts(store: Store): Promise<void> {
    const noCounts = { sessions: 0, pending: 0, pendingBytes: 0, waiting: 0, handed: 0 }
    expect(await store.get('usage', sample.sessionId(1))).toMatchObject({
      ...noCounts,
      pending: 1,
      waiting: 1,
      handed: 1,
    })
    expect(await store.get('usage', sample.sessionId(2))).toMatchObject({ ...noCounts, pending: 1 })
    expect(await store.get('usage', 'earlier')).toMatchObject({ session: null, sessions: 1, pending: 2 })
    await checkUsage(store)
    const found = await store.find('request', { where: { open: 3, session: sample.sessionId(1) } })
    expect(found.map(({ id }) => id)).toEqual([rows[2]?.id])
  }

  it('the migration to schema 4 counts the open requests and sessions of a SQLite store', async () => {
    const folder = temporaryFolder()
    const file = join(folder.path, 'old.db')
    const db = new DatabaseSync(file)
    for (const statement of first?.statements ?? []) db.exec(statement)
    db.exec(`PRAGMA application_id = ${0x686f6c64}; PRAGMA user_version = 3`)
    const insert = db.prepare('INSERT INTO request VALUES (?, ?, ?, ?, ?, NULL, 1, ?, ?)')
    for (const row of rows) insert.run(row.id, row.ord, row.session, row.status, openOf(row), fixedOf(row), bodyOf(row))
    const session = sample.session(1)
    db.prepare(`INSERT INTO session VALUES (?, ?, 'working', 'd', NULL, NULL, NULL, '', 1, NULL, ?)`).run(
      session.id,
      session.ord,
      encodeBody(tableLayouts.session, session),
    )
    db.close()
    const store = await openSqlite({ file })
    await expectCounts(store)
    await store.close()
    folder.remove()
  })

  it('the migration to schema 4 counts nothing in a new store', async () => {
    const folder = temporaryFolder()
    const store = await openSqlite({ file: join(folder.path, 'new.db') })
    expect(await store.find('usage', {})).toEqual([])
    await store.close()
    folder.remove()
  })

  it('the migration to schema 4 counts the open requests and sessions of a PostgreSQL store', async () => {
    if (!(await hasPostgres())) return
    const database = await freshDatabase()
    const admin = postgres(database.url, { max: 1, onnotice: () => {} })
    await admin.unsafe(
      'CREATE SCHEMA holdpoint; CREATE TABLE holdpoint.meta (version INT NOT NULL); INSERT INTO holdpoint.meta VALUES (3)',
    )
    for (const statement of postgresMigrations[0]?.statements ?? []) await admin.unsafe(statement)
    for (const row of rows)
      await admin`INSERT INTO holdpoint.request VALUES (${row.id}, ${row.ord}, ${row.session}, ${row.status}, ${openOf(row)}, NULL, 1, ${fixedOf(row)}, ${bodyOf(row)})`
    const session = sample.session(1)
    await admin`INSERT INTO holdpoint.session VALUES (${session.id}, ${session.ord}, 'working', 'd', NULL, NULL, NULL, '', 1, NULL, ${encodeBody(tableLayouts.session, session)})`
    await admin`INSERT INTO holdpoint.head VALUES (1, 0, '', 'e', 0, 0, 0)`
    await admin.end()
    const store = await openPostgres({ url: database.url })
    await expectCounts(store)
    await store.close()
    await database.drop()
  })
})
