/** Tests of the SQLite file: permissions, flushes, indexes, locks, errors, backup and restore. */
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { auditTypes, type EventQuery } from '@holdpoint/engine'
import { DatabaseSync } from '@photostructure/sqlite'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openSqlite, restoreSqlite, type SqliteStore, verifyChain } from '../src/index.ts'
import { latestVersion } from '../src/migrations.ts'
import { selectEvents, selectRows, sqliteDialect } from '../src/sql.ts'
import { SqliteFile } from '../src/sqlite-file.ts'
import * as sample from './samples.ts'
import { temporaryFolder } from './stores.ts'

let folder: ReturnType<typeof temporaryFolder>
let file: string
const opened: SqliteStore[] = []
const open = async (over: Partial<Parameters<typeof openSqlite>[0]> = {}) => {
  const store = await openSqlite({ file, ...over })
  opened.push(store)
  return store
}
beforeEach(() => {
  folder = temporaryFolder()
  file = join(folder.path, 'data', 'holdpoint.db')
})
afterEach(async () => {
  for (const store of opened.splice(0)) await store.close()
  folder.remove()
})

/** Runs `work` as another user if this process is root, because root can write to read-only files. */
async function asUnprivileged<T>(work: () => Promise<T>): Promise<T> {
  const root = process.getuid?.() === 0
  if (root) process.seteuid?.(65_534)
  try {
    return await work()
  } finally {
    if (root) process.seteuid?.(0)
  }
}

const restore = (from: string, to: string) => restoreSqlite({ from, to, prepare: async () => null })

/** Changes the file of a closed store directly. */
function tamper(...statements: string[]): void {
  const db = new DatabaseSync(file)
  for (const statement of statements) db.exec(statement)
  db.close()
}

describe('a SQLite store', () => {
  it('a SQLite store creates files that only their owner can read, whatever the umask', async () => {
    const umask = process.umask(0)
    try {
      const store = await open()
      await store.commit(sample.addMessage('private'))
      const copy = join(folder.path, 'copy.db')
      await store.backup(copy)
      const modes = [file, `${file}-wal`, copy].map(path => statSync(path).mode & 0o777)
      expect(modes).toEqual([0o600, 0o600, 0o600])
      expect(statSync(join(folder.path, 'data')).mode & 0o777).toBe(0o700)
    } finally {
      process.umask(umask)
    }
  })

  it('a SQLite store flushes changes that arrive together to disk once', async () => {
    const store = await open()
    const before = store.flushes
    await Promise.all(Array.from({ length: 100 }, (_, n) => store.commit(sample.openRequest(sample.request(n)))))
    expect(store.flushes - before).toBe(1)
  })

  it('a SQLite store checkpoints its write-ahead log before it gets large', async () => {
    const store = await open()
    for (let n = 0; n < 60; n++) {
      await store.commit(sample.addMessage('x'.repeat(1_000_000)))
      await new Promise(resolve => setImmediate(resolve))
    }
    expect(statSync(`${file}-wal`).size).toBeLessThan(24 * 1024 * 1024)
    expect(await verifyChain(store)).toEqual({ ok: true, events: 60 })
  })

  it('a SQLite store answers frequent queries from indexes that exclude history and have the order of the result', async () => {
    const db = new SqliteFile(file)
    const explain = ({ text, params }: ReturnType<typeof selectEvents>) =>
      db
        .rows(`EXPLAIN QUERY PLAN ${text}`, ...params)
        .map(row => String(row[3]))
        .join('; ')
    const plan = (...args: Parameters<typeof selectRows> extends [infer T, infer Q, ...unknown[]] ? [T, Q] : never) => {
      return explain(selectRows(args[0], args[1], sqliteDialect))
    }
    const pending = plan('request', { where: { status: 'pending' }, limit: 10 })
    expect(pending).toContain('request_status_ord')
    expect(plan('request', { where: { open: 1, session: 's' } })).toContain('request_open_session_ord')
    expect(plan('request', { atMost: { dueAt: 1 } })).toContain('request_due_at_ord')
    expect(plan('command', { where: { open: 1, session: 's' } })).toContain('command_open_session_ord')
    expect(plan('session', { where: { needsRunner: 1 } })).toContain('session_needs_runner_ord')
    expect(plan('request', { limit: 10, newestFirst: true })).toContain('request_ord')
    const planOfEvents = (query: EventQuery) => explain(selectEvents(query, sqliteDialect))
    const audited: EventQuery = { types: auditTypes, newestFirst: true, limit: 10 }
    const session = sample.sessionId(1)
    for (const range of [{}, { before: 9 }, { after: 9 }, { before: 9, newestFirst: true }]) {
      expect(planOfEvents({ ...range, session, limit: 10 })).toMatch(/^SEARCH event USING INDEX event_session \([^;]*$/)
      expect(planOfEvents({ ...audited, ...range })).toMatch(/USING INDEX event_audit(?: \(.*\))?$/)
      expect(planOfEvents({ ...audited, ...range, session })).toMatch(
        /^SEARCH event USING INDEX event_audit_session \([^;]*$/,
      )
    }
    expect(
      db.rows(
        "SELECT name FROM sqlite_schema WHERE type = 'index' AND (sql LIKE '%open%' OR sql LIKE '%needs_runner%') AND sql NOT LIKE '%WHERE%'",
      ),
    ).toEqual([])
    db.close()
  })
})

describe('a SQLite file', () => {
  it('a SQLite file cannot be opened while another gateway uses it, and can be opened after that gateway has closed it', async () => {
    const store = await open()
    await expect(openSqlite({ file })).rejects.toMatchObject({
      code: 'store_locked',
      message: expect.stringContaining('another gateway'),
    })
    await store.commit(sample.addMessage('not affected'))
    await store.close()
    expect((await (await open()).head()).seq).toBe(1)
  })

  it('a SQLite file cannot be opened if the file or its folder is read-only', async () => {
    await (await open()).close()
    chmodSync(folder.path, 0o755)
    chmodSync(join(folder.path, 'data'), 0o555)
    chmodSync(file, 0o444)
    await asUnprivileged(async () => {
      await expect(openSqlite({ file })).rejects.toMatchObject({ code: 'store_read_only' })
      await expect(openSqlite({ file: join(folder.path, 'data', 'new.db') })).rejects.toMatchObject({
        code: 'store_read_only',
      })
      await expect(openSqlite({ file: join(folder.path, 'data', 'deeper', 'new.db') })).rejects.toMatchObject({
        code: 'store_read_only',
      })
    })
    chmodSync(join(folder.path, 'data'), 0o700)
  })

  it('a SQLite file contains nothing of a batch that did not fit on the disk, and accepts the next batch that fits', async () => {
    const store = await open({ maxBytes: 512 * 1024 })
    const outcomes = await Promise.allSettled([
      store.commit(sample.addMessage('small')),
      store.commit(sample.addMessage('x'.repeat(1024 * 1024))),
    ])
    expect(outcomes.map(outcome => outcome.status === 'rejected' && outcome.reason.code)).toEqual([
      'store_full',
      'store_full',
    ])
    expect(await sample.allEvents(store)).toEqual([])
    expect(await store.commit(sample.addMessage('small'))).toBe(1)
    expect(await verifyChain(store)).toEqual({ ok: true, events: 1 })
  })

  it.each([1, 2])('a SQLite file cannot be opened if it has the pre-release schema %i', async version => {
    await (await open()).close()
    tamper(`PRAGMA user_version = ${version}`)
    await expect(openSqlite({ file })).rejects.toMatchObject({
      code: 'store_older',
      message: expect.stringMatching(/cannot read it. To start with an empty store, move this one away/),
    })
  })

  it('a SQLite file cannot be opened if a newer version of Holdpoint wrote it, and the error names the schema version', async () => {
    await (await open()).close()
    tamper('PRAGMA user_version = 99')
    await expect(openSqlite({ file })).rejects.toMatchObject({
      code: 'store_newer',
      message: expect.stringMatching(/schema 99.*Upgrade/),
    })
  })

  it('a SQLite file cannot be opened if it is damaged or not a Holdpoint database', async () => {
    mkdirSync(join(folder.path, 'data'))
    writeFileSync(file, 'this is not a database, and long enough to be looked at'.repeat(100))
    await expect(openSqlite({ file })).rejects.toMatchObject({
      code: 'store_unavailable',
      message: expect.stringContaining('not a database'),
    })
    file = join(folder.path, 'other.db')
    tamper('CREATE TABLE recipe (name TEXT)')
    await expect(openSqlite({ file })).rejects.toMatchObject({
      code: 'store_unavailable',
      message: expect.stringContaining('not a Holdpoint database'),
    })
    await expect(openSqlite({ file: folder.path })).rejects.toMatchObject({ code: 'store_unavailable' })
  })

  it('a SQLite file fails verifyChain if an event was changed', async () => {
    const store = await open()
    for (let n = 0; n < 4; n++) await store.commit(sample.addMessage(`${n}`))
    await store.close()
    tamper(`UPDATE event SET text = replace(text, '"2"', '"7"') WHERE seq = 3`)
    expect(await verifyChain(await open())).toEqual({ ok: false, seq: 3, reason: 'its body was changed' })
  })
})

describe('backup and restore', () => {
  it('a backup copies everything during commits and refuses to overwrite a file', async () => {
    const store = await open()
    for (let n = 0; n < 50; n++) await store.commit(sample.addMessage('x'.repeat(50_000)))
    const copy = join(folder.path, 'copy.db')
    let copied = false
    const backup = store.backup(copy).finally(() => {
      copied = true
    })
    let meanwhile = 0
    while (!copied) {
      await store.commit(sample.openRequest(sample.request(meanwhile++)))
    }
    expect((await backup).bytes).toBe(statSync(copy).size)
    await expect(store.backup(`${copy}${'x'.repeat(300)}`), 'a name that is too long').rejects.toMatchObject({
      code: 'bad_input',
      message: expect.stringContaining('Choose a shorter path'),
    })
    await expect(store.backup(copy)).rejects.toMatchObject({
      code: 'bad_input',
      message: expect.stringContaining('exists'),
    })
    await store.close()
    const restored = await openSqlite({ file: copy })
    const chain = await verifyChain(restored)
    expect(chain.ok && chain.events).toBeGreaterThanOrEqual(50)
    expect(await restored.count('request', {})).toBe((await restored.head()).seq - 50)
    await restored.close()
  })

  it('a restore replaces the store, keeps the previous file and starts a new epoch', async () => {
    const store = await open()
    await store.commit(sample.addMessage('before'))
    const { epoch } = await store.head()
    const copy = join(folder.path, 'copy.db')
    await store.backup(copy)
    await store.commit(sample.addMessage('after'))
    await expect(restore(copy, file)).rejects.toMatchObject({ code: 'store_locked' })
    await store.close()
    const { events, previous } = await restore(copy, file)
    expect(events).toBe(1)
    expect(statSync(file).mode & 0o777).toBe(0o600)
    const restored = await open()
    expect((await sample.allEvents(restored)).map(event => event.text)).toEqual([expect.stringContaining('before')])
    expect((await restored.head()).epoch).not.toBe(epoch)
    const old = await openSqlite({ file: String(previous) })
    expect((await old.head()).seq).toBe(2)
    await old.close()
    expect(readdirSync(join(folder.path, 'data')).filter(name => name.includes('restoring'))).toEqual([])
  })

  it('a restore replaces a damaged store, and creates the store if it is missing', async () => {
    const store = await open()
    await store.commit(sample.addMessage('kept'))
    const copy = join(folder.path, 'copy.db')
    await store.backup(copy)
    await store.close()
    writeFileSync(file, 'rubbish'.repeat(1000))
    writeFileSync(`${file}-wal`, 'more rubbish')
    const { previous } = await restore(copy, file)
    expect(readFileSync(String(previous), 'utf8')).toContain('rubbish')
    expect(existsSync(`${file}-wal`)).toBe(false)
    const elsewhere = join(folder.path, 'elsewhere.db')
    expect(await restore(copy, elsewhere)).toEqual({ events: 1, previous: null, prepared: null })
    expect(existsSync(elsewhere)).toBe(true)
  })

  it('a restore refuses a backup that is missing, tampered with, newer or not from Holdpoint, and leaves the store unchanged', async () => {
    const live = file
    const store = await open()
    for (let n = 0; n < 3; n++) await store.commit(sample.addMessage(`${n}`))
    const copy = join(folder.path, 'copy.db')
    await store.backup(copy)
    await store.close()
    const before = readFileSync(live)
    const expectRefused = async (from: string, fault: object) => {
      const error = await restore(from, live).then(
        () => null,
        (thrown: unknown) => thrown,
      )
      expect(error).toMatchObject(fault)
      expect(error).toMatchObject({ message: expect.stringContaining(from) })
      expect(error).toMatchObject({ message: expect.not.stringContaining('restoring') })
    }
    await expectRefused(join(folder.path, 'nothing.db'), { code: 'not_found' })
    const text = join(folder.path, 'text.db')
    writeFileSync(text, 'not a database'.repeat(100))
    await expectRefused(text, { code: 'store_unavailable' })
    file = copy
    tamper(`UPDATE event SET text = '{}' WHERE seq = 2`)
    await expectRefused(copy, { code: 'store_unavailable', message: expect.stringContaining('event 2') })
    tamper(`PRAGMA user_version = ${latestVersion + 1}`)
    await expectRefused(copy, { code: 'store_newer' })
    await expectRefused(folder.path, { code: 'store_unavailable' })
    expect(readFileSync(live).equals(before)).toBe(true)
  })
})
