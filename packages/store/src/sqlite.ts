/** The archive in one SQLite file: the embedded default. Everything is written by one connection of one process, in batches that share a flush. */
import { closeSync, openSync, rmSync, statSync } from 'node:fs'
import type { CrashPoint, Head, Query, Rows, Store, StoredEvent, Table } from '@holdpoint/engine'
import { Fault } from '@holdpoint/protocol'
import { BatchOverlay, type CommittedRows, type Entry } from './batch-overlay.ts'
import { applyBatch, GroupCommit, type QueuedChange, reportWritten, type Written } from './group-commit.ts'
import { type EventRecord, firstHead, newEpoch, purgedText, readEvent } from './hash-chain.ts'
import { RowCache } from './row-cache.ts'
import {
  encodeBody,
  encodeFixed,
  type Row,
  readRow,
  type Shape,
  shapes,
  tableNames,
  type Value,
  type VersionedRow,
} from './row-codec.ts'
import { countRows, purgeSession, quote, selectEvents, selectRows, sqliteDialect } from './sql.ts'
import { faultOf, SqliteFile, withStoreFaults } from './sqlite-file.ts'

export interface SqliteOptions {
  readonly file: string
  readonly clock?: { now(): number }
  readonly crashPoint?: CrashPoint
  /** The file never grows past this. */
  readonly maxBytes?: number
}
export interface SqliteStore extends Store {
  /** How often the disk was waited for: commits and checkpoints. */
  readonly flushes: number
}

/** About 16 MiB of log: long enough to write hot pages once for many commits, short enough to pass unnoticed. */
const walPagesMax = 4000
/** Looking at the log's length costs as much as a small write, so it is done once per so much written. */
const checkpointLookBytes = 1024 * 1024
const pageBytes = 4096

export async function openSqlite({ file, clock = Date, crashPoint, maxBytes }: SqliteOptions): Promise<SqliteStore> {
  const db = new SqliteFile(file, maxBytes)
  let head = withStoreFaults(file, () => renewHead(db))
  const cache = new RowCache()
  const base = committed(db, cache)
  let copying: Promise<unknown> = Promise.resolve()

  function write(batch: readonly QueuedChange[]): Written {
    const ledger = new BatchOverlay(base, head, clock.now())
    const taken = applyBatch(batch, ledger, crashPoint)
    if (!ledger.wrote) return { taken, events: null }
    const changed = db.transaction(() => {
      const rows = writeLedger(db, ledger)
      reportWritten(batch.slice(0, taken), crashPoint)
      return rows
    })
    head = ledger.head
    if (ledger.purge !== null) cache.clear()
    for (const { table, id, kept, chars } of changed) cache.replace(table, id, kept, chars)
    // An event and the row it goes with dirty about two pages besides their text.
    for (const { text } of ledger.events) unchecked += text.length + 2 * pageBytes
    if (unchecked >= checkpointLookBytes) {
      unchecked = 0
      setImmediate(checkpoint)
    }
    return { taken, events: ledger.events }
  }

  function checkpoint(): void {
    try {
      if (!closed) db.checkpoint(walPagesMax)
    } catch {
      // What is committed stands in the log; the next batch tries again, and a full disk is told by a commit.
    }
  }

  const batches = new GroupCommit(write, crashPoint)
  let unchecked = 0
  let closed = false
  const read = async <T>(work: () => T): Promise<T> => withStoreFaults(file, work)
  return {
    kind: 'sqlite',
    get flushes() {
      return db.flushes
    },
    commit: change => batches.commit(change),
    get: async (table, id) => base.get(table, id)?.row as Rows[typeof table] | undefined, // a table holds its own rows
    find: (table, query) =>
      read(() => select(db, table, query).map(kept => kept.row) as unknown as Rows[typeof table][]), // likewise
    count: (table, query) =>
      read(() => {
        const { text, params } = countRows(table, query, sqliteDialect)
        return Number(db.value(text, ...params))
      }),
    head: async () => head,
    now: async () => Math.max(clock.now(), head.at),
    events: query =>
      read(() => {
        const { text, params } = selectEvents(query, sqliteDialect)
        return db.rows(text, ...params).map(eventOf)
      }),
    epochAt: seq => read(() => db.value('SELECT epoch FROM event WHERE seq = ?', seq) as string | undefined), // a text column
    onCommit: listener => batches.onCommit(listener),
    backup: to => {
      const copy = backUp(db, to)
      copying = copying.then(() => copy).catch(() => {})
      return copy
    },
    close: async () => {
      await batches.close()
      await copying
      closed = true
      db.close()
    },
  }
}

function renewHead(db: SqliteFile): Head {
  const epoch = newEpoch()
  const [row] = db.rows('SELECT seq, hash, at, rules_at FROM head')
  const first = firstHead(epoch)
  db.transaction(() => {
    if (row) db.run('UPDATE head SET epoch = ?', epoch)
    else db.run('INSERT INTO head VALUES (1, ?, ?, ?, ?, ?, 0)', first.seq, first.hash, epoch, first.at, first.rulesAt)
  })
  if (!row) return first
  const [seq, hash, at, rulesAt] = row
  return { seq: Number(seq), hash: String(hash), epoch, at: Number(at), rulesAt: Number(rulesAt) }
}

function committed(db: SqliteFile, cache: RowCache): CommittedRows {
  return {
    get: (table, id) => {
      const cached = cache.get(table, id)
      if (cached) return cached
      const row = withStoreFaults(db.path, () => db.statement(texts[table].get).get(id)) as unknown as
        | Value[]
        | undefined // rows are arrays
      if (!row) return undefined
      const kept = keptOf(row)
      cache.add(table, kept, String(row[3] ?? '').length + String(row[4]).length)
      return kept
    },
    find: (table, query, more) => withStoreFaults(db.path, () => select(db, table, query, more)),
  }
}

/** Spelt once: a statement is found by its text. */
const texts = Object.fromEntries(
  tableNames.map(table => [
    table,
    {
      get: `SELECT id, ord, version, fixed, body FROM ${table} WHERE id = ?`,
      insert: `INSERT INTO ${table} VALUES (?, ?, ${'?, '.repeat(shapes[table].columns.length)}1, ?, ?)`,
      del: `DELETE FROM ${table} WHERE id = ? AND version = ?`,
    },
  ]),
) as Readonly<Record<Table, Readonly<Record<'get' | 'insert' | 'del', string>>>> // one entry per table

function select(db: SqliteFile, table: Table, query: Query, more = 0): VersionedRow[] {
  const { text, params } = selectRows(table, query, sqliteDialect, more)
  return db.rows(text, ...params).map(keptOf)
}

function keptOf(row: Value[]): VersionedRow {
  const [id, ord, version, fixed, body] = row as [string, number, number, string | null, string] // the columns as selected
  return { row: readRow(id, ord, fixed, body), version }
}

function eventOf(row: Value[]): StoredEvent {
  const [seq, epoch, at, session, type, text, body_hash, hash] = row
  return readEvent({ seq, epoch, at, session, type, text, body_hash, hash } as EventRecord) // the columns as selected
}

interface Changed {
  readonly table: Table
  readonly id: string
  readonly kept: VersionedRow | undefined
  readonly chars: number
}

function writeLedger(db: SqliteFile, ledger: BatchOverlay): readonly Changed[] {
  if (ledger.purge !== null) {
    const before = ledger.head.seq - ledger.events.length + 1
    for (const { text, params } of purgeSession(ledger.purge, before, purgedText, sqliteDialect))
      db.run(text, ...params)
  }
  const changed: Changed[] = []
  for (const [table, entries] of ledger.touched())
    for (const [id, entry] of entries) {
      const { before, after, anew } = entry
      const chars = writeRow(db, shapes[table], id, entry)
      changed.push({
        table,
        id,
        kept: after && { row: after, version: anew || !before ? 1 : before.version + 1 },
        chars,
      })
    }
  const insert = db.statement('INSERT INTO event VALUES (?, ?, ?, ?, ?, ?, ?, ?)')
  for (const { seq, epoch, at, session, type, text, bodyHash, hash } of ledger.events)
    insert.run(seq, epoch, at, session, type, text, bodyHash, hash)
  const { seq, hash, at, rulesAt } = ledger.head
  db.run('UPDATE head SET seq = ?, hash = ?, at = ?, rules_at = ?, commits = commits + 1', seq, hash, at, rulesAt)
  return changed
}

/** One conditional write decides: it names the version that the decision saw, and has to find it. Returns how long the row's text is. */
function writeRow(db: SqliteFile, shape: Shape, id: string, { before, after, anew }: Entry): number {
  const { table } = shape
  const body = after ? encodeBody(shape, after) : ''
  let changes = 1
  if (before && after && !anew) changes = update(db, shape, before, after, body)
  else if (before) changes = db.run(texts[table].del, id, before.version)
  if (changes !== 1) throw new Error(`${table} ${id} is no longer at version ${before?.version}`)
  if (after && (!before || anew)) {
    const columns = shape.columns.map(column => column.of(after))
    db.run(texts[table].insert, id, after.ord, ...columns, encodeFixed(shape, after), body)
  }
  return body.length
}

/** Names only the columns that changed, so that SQLite leaves the other indexes alone. */
function update(db: SqliteFile, shape: Shape, { row, version }: VersionedRow, after: Row, body: string): number {
  const params: Value[] = [body]
  let set = ''
  for (const column of shape.columns) {
    const value = column.of(after)
    if (value === column.of(row)) continue
    set += `, ${quote(column)} = ?`
    params.push(value)
  }
  if (after.ord !== row.ord) {
    set += ', ord = ?'
    params.push(after.ord)
  }
  const text = `UPDATE ${shape.table} SET body = ?, version = version + 1${set} WHERE id = ? AND version = ?`
  return db.run(text, ...params, row.id, version)
}

async function backUp(db: SqliteFile, to: string): Promise<{ readonly bytes: number }> {
  try {
    // Made here, not by the library: it must be new, and nobody else's to read.
    closeSync(openSync(to, 'wx', 0o600))
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST')
      throw new Fault('bad_input', `${to} exists already. Name a file that does not exist yet; nothing was written.`)
    throw faultOf(to, error)
  }
  try {
    await db.backup(to)
    return { bytes: statSync(to).size }
  } catch (error) {
    rmSync(to, { force: true })
    throw faultOf(to, error)
  }
}
