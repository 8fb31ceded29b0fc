/** Migrates stores of schema 3, whose rows are written here as Holdpoint 0.1 wrote them, on SQLite and PostgreSQL. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Store } from '@holdpoint/engine'
import { DatabaseSync } from '@photostructure/sqlite'
import postgres from 'postgres'
import { afterEach, describe, expect, it } from 'vitest'
import { freshDatabase, hasPostgres } from '../../../test/support/postgres.ts'
import { openPostgres, openSqlite } from '../src/index.ts'
import { postgresMigrations, sqliteMigrations } from '../src/migrations.ts'
import { request, requestId, session, sessionId } from './samples.ts'

interface OldRow {
  readonly table: string
  readonly id: string
  readonly ord: number
  readonly columns: Readonly<Record<string, string | number | null>>
  readonly body: object
}

const token = (ord: number, id: string, fields: object): OldRow => ({
  table: 'token',
  id: `hash-${id}`,
  ord,
  columns: { token: `tok_${id.padEnd(20, '0')}`, expires_at: null },
  body: { token: `tok_${id.padEnd(20, '0')}`, kind: 'bearer', madeAt: ord, expiresAt: null, ...fields },
})
const oldSession = (n: number, fields: object): OldRow => {
  const { id, ord, openedBy: _openedBy, ...rest } = session(n, { driver: 'external' })
  const columns = { state: 'working', driver: 'external', runner: null, needs_runner: null, ended_at: null, search: '' }
  return { table: 'session', id, ord, columns, body: { ...rest, ...fields } }
}
const draft = (ord: number, person: string): OldRow => ({
  table: 'draft',
  id: `hash-${person}`,
  ord,
  columns: { request: requestId(1), session: sessionId(1) },
  body: { request: requestId(1), session: sessionId(1), person, draft: { note: person }, at: ord },
})

const oldRows: readonly OldRow[] = [
  token(1, 'a', { role: 'person', name: 'owner' }),
  token(2, 'b', { role: 'runner', name: 'local runner' }),
  token(3, 'c', { role: 'person', name: 'bob' }),
  token(4, 'd', { role: 'agent', name: 'ci' }),
  token(5, 'e', { role: 'person', name: 'owner' }),
  token(6, 'f', { role: 'person', name: 'owner', kind: 'cookie', expiresAt: 9e12 }),
  token(7, 'g', { role: 'person', name: 'owner', kind: 'link', expiresAt: 9e12 }),
  oldSession(1, { person: 'owner', agent: null }),
  oldSession(2, { person: null, agent: 'tok_d0000000000000000000' }),
  // A name that no token has now, and a title with a character that PostgreSQL cannot store in a text column.
  oldSession(3, { person: 'gone', agent: null, title: 'a\0b\ud800' }),
  draft(8, 'owner'),
  draft(9, 'bob'),
]

function insertText({ table, columns }: OldRow, prefix: string, placeholder: (n: number) => string): string {
  const names = ['id', 'ord', ...Object.keys(columns).map(name => `"${name}"`), 'version', 'body']
  return `INSERT INTO ${prefix}${table} (${names.join(', ')}) VALUES (${names.map((_, n) => placeholder(n + 1)).join(', ')})`
}
const paramsOf = ({ id, ord, columns, body }: OldRow) => [id, ord, ...Object.values(columns), 3, JSON.stringify(body)]

const cleanUps: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).toReversed()) await cleanUp()
})

async function migratedSqlite(): Promise<Store> {
  const folder = mkdtempSync(join(tmpdir(), 'holdpoint-schema-'))
  cleanUps.push(async () => rmSync(folder, { recursive: true }))
  const file = join(folder, 'holdpoint.db')
  const db = new DatabaseSync(file)
  for (const statement of sqliteMigrations[0]?.statements ?? []) db.exec(statement)
  for (const row of oldRows) db.prepare(insertText(row, '', () => '?')).run(...paramsOf(row))
  db.exec('PRAGMA application_id = 1752132708; PRAGMA user_version = 3')
  db.close()
  const store = await openSqlite({ file })
  cleanUps.push(() => store.close())
  return store
}

async function migratedPostgres(): Promise<Store> {
  const { url, drop } = await freshDatabase()
  cleanUps.push(drop)
  const sql = postgres(url, { max: 1, onnotice: () => {} })
  await sql.unsafe('CREATE SCHEMA holdpoint; CREATE TABLE holdpoint.meta (version BIGINT NOT NULL)')
  for (const statement of postgresMigrations[0]?.statements ?? []) await sql.unsafe(statement)
  for (const row of oldRows)
    await sql.unsafe(
      insertText(row, 'holdpoint.', n => `$${n}`),
      paramsOf(row),
    )
  await sql`INSERT INTO holdpoint.meta VALUES (3)`
  await sql.end()
  const store = await openPostgres({ url })
  cleanUps.push(() => store.close())
  return store
}

const stores: [string, () => Promise<Store>][] = [['SQLite', migratedSqlite]]
if (await hasPostgres()) stores.push(['PostgreSQL', migratedPostgres])

describe.each(stores)('migrating a %s store of schema 3', (_name, migrate) => {
  const ownerId = 'per_a0000000000000000000'
  const bobId = 'per_c0000000000000000000'

  it('the migration gives every person an id, which is the same in all tokens, sessions and drafts under one name', async () => {
    const store = await migrate()
    const tokens = await store.find('token', {})
    expect(tokens.map(({ name, role, subject }) => [name, role, subject])).toEqual([
      ['owner', 'owner', ownerId],
      ['bob', 'person', bobId],
      ['ci', 'agent', 'tok_d0000000000000000000'],
      ['owner', 'owner', ownerId],
    ])
    const sessions = await store.find('session', {})
    expect(sessions.map(row => row.openedBy)).toEqual([
      { id: ownerId, name: 'owner' },
      null,
      { id: `per_${sessionId(3).slice(4)}`, name: 'gone' },
    ])
    expect(sessions.every(row => !('person' in row))).toBe(true)
    expect(sessions[2]?.title).toBe('a\0b\ud800')
    expect(await store.find('draft', {})).toMatchObject([
      { id: `${requestId(1)}/${ownerId}`, person: 'owner', personId: ownerId, draft: { note: 'owner' } },
      { id: `${requestId(1)}/${bobId}`, person: 'bob', personId: bobId, draft: { note: 'bob' } },
    ])
  })

  it('the migration deletes cookies and links, and makes the tokens of the owner and of runners invalid until a data folder registers them', async () => {
    const store = await migrate()
    const tokens = await store.find('token', {})
    expect(tokens.every(({ kind }) => kind === 'bearer')).toBe(true)
    expect(tokens.filter(row => row.revokedAt === null).map(row => row.name)).toEqual(['bob', 'ci'])
    // Nothing says who created these two, so they are revoked with any token of the owner.
    expect(tokens.filter(row => row.creatorUnknown).map(row => row.name)).toEqual(['bob', 'ci'])
  })

  it('the migration fills the new column with the agents of sessions, and the rows can still be updated', async () => {
    const store = await migrate()
    const where = { agent: 'tok_d0000000000000000000' }
    const [found] = await store.find('session', { where })
    expect(found?.id).toBe(sessionId(2))
    await store.commit({
      label: 'test',
      reads: [{ table: 'session', id: sessionId(2) }],
      decide: view => {
        const row = view.get('session', sessionId(2))
        if (!row) throw new Error('the session is missing')
        return { puts: [{ table: 'session', row: { ...row, agent: null } }], result: null }
      },
    })
    expect(await store.find('session', { where })).toEqual([])
    await store.commit({
      label: 'test',
      reads: [],
      decide: () => ({ puts: [{ table: 'request', row: request(1) }], result: null }),
    })
    expect(await store.get('request', requestId(1))).toEqual(request(1))
  })
})
