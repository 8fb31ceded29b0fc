/** The SQLite store, which is the default. One connection of one process writes all changes to one file, in batches that share a flush to disk. */
import { closeSync, openSync, rmSync, statSync } from 'node:fs'
import type { ClockJump, CrashPoint, EventQuery, Head, Query, Rows, Store, StoredEvent, Table } from '@holdpoint/engine'
import { Fault } from '@holdpoint/protocol'
import { BatchOverlay, type CommittedRows, type Entry } from './batch-overlay.ts'
import { fileFault, withStoreFaults } from './file-fault.ts'
import { applyBatch, type BatchResult, GroupCommit, type QueuedChange, reportWrittenPoints } from './group-commit.ts'
import { type EventRecord, emptyHead, newEpoch, purgedText, toStoredEvent } from './hash-chain.ts'
import { findLoss, HeadNote, lossFault, requireFile, type StoreLoss } from './head-note.ts'
import { KeyFolder } from './key-folder.ts'
import { RowCache } from './row-cache.ts'
import {
  type ColumnValue,
  decodeRow,
  encodeBody,
  encodeFixed,
  type Row,
  type TableLayout,
  tableLayouts,
  tableNames,
  type VersionedRow,
} from './row-codec.ts'
import {
  countRows,
  insertParams,
  insertText,
  purgeSession,
  quoteColumn,
  selectEvents,
  selectRows,
  sqliteDialect,
} from './sql.ts'
import { SqliteFile } from './sqlite-file.ts'
import { machineTime, readClocks, StoreClock, type TimeSource } from './store-clock.ts'

export interface SqliteOptions {
  readonly file: string
  readonly clock?: TimeSource
  readonly crashPoint?: CrashPoint
  /** Maximum size of the file. */
  readonly maxBytes?: number
  /** The file that notes the head of the log. By default, it is next to the database; null means that nothing is noted. */
  readonly headFile?: string | null
  /** Called before the store is used if it has lost events since the last note. Without this function, such a store is refused. */
  readonly onLoss?: (store: Store, loss: StoreLoss) => Promise<void>
}
export interface SqliteStore extends Store {
  /** Number of flushes to disk so far, by commits and checkpoints. */
  readonly flushes: number
}

/** A checkpoint runs when the write-ahead log has about 16 MiB, so that frequently changed pages are copied once for many commits and the pause stays short. */
const walPagesMax = 4000
/** Reading the length of the write-ahead log costs as much as a small write, so the length is read only once per this many written bytes. */
const checkpointIntervalBytes = 1024 * 1024
const pageBytes = 4096

export async function openSqlite(options: SqliteOptions): Promise<SqliteStore> {
  const { file, crashPoint } = options
  const note = options.headFile === null ? null : new HeadNote(options.headFile ?? `${file}.head`)
  const noted = note?.read() ?? null
  if (!options.onLoss) requireFile(file, noted)
  const db = new SqliteFile(file, options.maxBytes)
  try {
    const loss = withStoreFaults(file, () => findLoss(noted, readHead(db), seq => hashAt(db, seq)))
    if (loss && !options.onLoss) throw lossFault(file, loss)
    const writer = new SqliteWriter(db, note, options)
    const store = sqliteStore(writer, new GroupCommit(batch => writer.write(batch), crashPoint))
    if (loss) await options.onLoss?.(store, loss)
    // Note the head before the first commit, so that a data folder that cannot be written is reported now.
    await note?.noteNow(writer.head)
    return store
  } catch (error) {
    db.close()
    throw error
  }
}

/** Writes batches to the file, and reads committed rows. */
class SqliteWriter {
  readonly db: SqliteFile
  readonly committed: CommittedRows
  head: Head
  readonly #clock: TimeSource
  readonly #storeClock: StoreClock
  readonly #cache = new RowCache()
  readonly #note: HeadNote | null
  readonly #crashPoint: CrashPoint | undefined
  #bytesSinceCheckpoint = 0
  #closed = false

  constructor(db: SqliteFile, note: HeadNote | null, { clock = machineTime(), crashPoint }: SqliteOptions) {
    this.db = db
    this.#note = note
    this.#crashPoint = crashPoint
    this.head = withStoreFaults(db.path, () => startEpoch(db))
    this.committed = committedRows(db, this.#cache)
    this.#clock = clock
    this.#storeClock = new StoreClock(this.head.at)
    this.now()
  }

  now(): number {
    return this.#storeClock.read(readClocks(this.#clock))
  }
  takeClockJumps(): readonly ClockJump[] {
    return this.#storeClock.takeJumps()
  }
  get flushes(): number {
    return this.db.flushes + (this.#note?.flushes ?? 0)
  }

  write(batch: readonly QueuedChange[]): BatchResult {
    const overlay = new BatchOverlay(this.committed, this.head, this.now())
    const appliedCount = applyBatch(batch, overlay, this.#crashPoint)
    if (!overlay.hasWrites) return { appliedCount, events: null }
    const changed = this.db.transaction(() => {
      const rows = writeBatch(this.db, overlay)
      reportWrittenPoints(batch.slice(0, appliedCount), this.#crashPoint)
      return rows
    })
    this.head = overlay.head
    this.#note?.note(this.head)
    if (overlay.purge !== null) this.#cache.clear()
    for (const { table, id, committed, chars } of changed) {
      this.#cache.replace(table, id, committed, chars)
      // A request that was just opened is read again soon, when its answer arrives. Other new rows are cached when they are read.
      if (table === 'request' && committed?.version === 1) this.#cache.add(table, committed, chars)
    }
    // Writing an event and its row changes about two pages, in addition to the text of the event.
    for (const { text } of overlay.events) this.#bytesSinceCheckpoint += text.length + 2 * pageBytes
    if (this.#bytesSinceCheckpoint >= checkpointIntervalBytes) {
      this.#bytesSinceCheckpoint = 0
      setImmediate(() => this.#checkpoint())
    }
    return { appliedCount, events: overlay.events }
  }

  #checkpoint(): void {
    try {
      if (!this.#closed) this.db.checkpoint(walPagesMax)
    } catch {
      // Ignore the error, because the commits are safe in the write-ahead log. The checkpoint is tried again after `checkpointIntervalBytes` more bytes, and if the disk is full, a later commit fails.
    }
  }

  async close(): Promise<void> {
    this.#closed = true
    // Ignore an error, because an old note only means that a loss may go unnoticed.
    await this.#note?.flush().catch(() => {})
    this.db.close()
  }
}

function sqliteStore(writer: SqliteWriter, groupCommit: GroupCommit): SqliteStore {
  const { db, committed } = writer
  const read = async <T>(work: () => T): Promise<T> => withStoreFaults(db.path, work)
  let runningBackups: Promise<unknown> = Promise.resolve()
  return {
    kind: 'sqlite',
    get flushes() {
      return writer.flushes
    },
    commit: change => groupCommit.commit(change),
    get: async (table, id) => committed.get(table, id)?.row as Rows[typeof table] | undefined, // each table contains only rows of its own type
    find: (table, query) =>
      read(() => select(db, table, query).map(({ row }) => row) as unknown as Rows[typeof table][]), // each table contains only rows of its own type
    count: (table, query) => read(() => count(db, table, query)),
    head: async () => writer.head,
    now: async () => writer.now(),
    takeClockJumps: () => writer.takeClockJumps(),
    events: query => read(() => readEvents(db, query)),
    epochAt: seq => read(() => db.value('SELECT epoch FROM event WHERE seq = ?', seq) as string | undefined), // the column `epoch` contains text
    bodyHashAt: seq => read(() => db.value('SELECT body_hash FROM event WHERE seq = ?', seq) as string | undefined), // the column `body_hash` contains text
    keys: new KeyFolder(`${db.path}.keys`),
    onCommit: listener => groupCommit.onCommit(listener),
    backup: to => {
      const copy = writeBackup(db, to)
      // The caller of a failed backup gets its error. `close` only waits until no backup runs.
      runningBackups = runningBackups.then(() => copy).catch(() => {})
      return copy
    },
    close: async () => {
      await groupCommit.close()
      await runningBackups
      await writer.close()
    },
  }
}

function count(db: SqliteFile, table: Table, query: Query): number {
  const { text, params } = countRows(table, query, sqliteDialect)
  return Number(db.value(text, ...params))
}

function readEvents(db: SqliteFile, query: EventQuery): StoredEvent[] {
  const { text, params } = selectEvents(query, sqliteDialect)
  return db.rows(text, ...params).map(toEvent)
}

function readHead(db: SqliteFile): Head {
  const [row] = db.rows('SELECT seq, hash, epoch, at, rules_seq FROM head')
  if (!row) return emptyHead('')
  const [seq, hash, epoch, at, rulesSeq] = row
  return { seq: Number(seq), hash: String(hash), epoch: String(epoch), at: Number(at), rulesSeq: Number(rulesSeq) }
}
function hashAt(db: SqliteFile, seq: number): string | undefined {
  return db.value('SELECT hash FROM event WHERE seq = ?', seq) as string | undefined // the column `hash` contains text
}

function startEpoch(db: SqliteFile): Head {
  const head = { ...readHead(db), epoch: newEpoch() }
  db.transaction(() => {
    if (db.run('UPDATE head SET epoch = ?', head.epoch) === 0)
      db.run('INSERT INTO head VALUES (1, ?, ?, ?, ?, ?, 0)', head.seq, head.hash, head.epoch, head.at, head.rulesSeq)
  })
  return head
}

function committedRows(db: SqliteFile, cache: RowCache): CommittedRows {
  return {
    get: (table, id) => {
      const cached = cache.get(table, id)
      if (cached) return cached
      const row = withStoreFaults(db.path, () => db.statement(statementTexts[table].get).get(id)) as unknown as
        | ColumnValue[]
        | undefined // `SqliteFile.statement` makes every row an array
      if (!row) return undefined
      const loaded = toVersionedRow(row)
      cache.add(table, loaded, String(row[3] ?? '').length + String(row[4]).length)
      return loaded
    },
    find: (table, query, extra) => withStoreFaults(db.path, () => select(db, table, query, extra)),
  }
}

/** The SQL of the frequent statements for each table. The strings are built once instead of at every call. */
const statementTexts = Object.fromEntries(
  tableNames.map(table => [
    table,
    {
      get: `SELECT id, ord, version, fixed, body FROM ${table} WHERE id = ?`,
      insert: insertText(tableLayouts[table], sqliteDialect),
      delete: `DELETE FROM ${table} WHERE id = ? AND version = ?`,
    },
  ]),
) as Readonly<Record<Table, Readonly<Record<'get' | 'insert' | 'delete', string>>>> // `tableNames` contains every table

function select(db: SqliteFile, table: Table, query: Query, extra = 0): VersionedRow[] {
  const { text, params } = selectRows(table, query, sqliteDialect, extra)
  return db.rows(text, ...params).map(toVersionedRow)
}

function toVersionedRow(row: ColumnValue[]): VersionedRow {
  const [id, ord, version, fixed, body] = row as [string, number, number, string | null, string] // every SELECT of rows returns these columns in this order
  return { row: decodeRow(id, ord, fixed, body), version }
}

function toEvent(row: ColumnValue[]): StoredEvent {
  const [seq, epoch, at, session, type, text, body_hash, hash] = row
  return toStoredEvent({ seq, epoch, at, session, type, text, body_hash, hash } as EventRecord) // every SELECT of events returns these columns in this order
}

interface ChangedRow {
  readonly table: Table
  readonly id: string
  readonly committed: VersionedRow | undefined
  readonly chars: number
}

function writeBatch(db: SqliteFile, overlay: BatchOverlay): readonly ChangedRow[] {
  if (overlay.purge !== null) {
    const before = overlay.head.seq - overlay.events.length + 1
    for (const { text, params } of purgeSession(overlay.purge, before, purgedText, sqliteDialect))
      db.run(text, ...params)
  }
  const changed: ChangedRow[] = []
  for (const [table, entries] of overlay.writtenRows())
    for (const [id, entry] of entries) {
      const { row, version, chars } = writeRow(db, tableLayouts[table], id, entry)
      changed.push({ table, id, committed: row && { row, version }, chars })
    }
  const insert = db.statement('INSERT INTO event VALUES (?, ?, ?, ?, ?, ?, ?, ?)')
  for (const { seq, epoch, at, session, type, text, bodyHash, hash } of overlay.events)
    insert.run(seq, epoch, at, session, type, text, bodyHash, hash)
  const { seq, hash, at, rulesSeq } = overlay.head
  db.run('UPDATE head SET seq = ?, hash = ?, at = ?, rules_seq = ?, commits = commits + 1', seq, hash, at, rulesSeq)
  return changed
}

interface WrittenRow {
  /** Undefined if the row was deleted. */
  readonly row: Row | undefined
  readonly version: number
  /** The length of what was written. */
  readonly chars: number
}

/** Writes one row, and throws if the row no longer has the version that `decide` saw. */
function writeRow(db: SqliteFile, layout: TableLayout, id: string, { before, after, replaced }: Entry): WrittenRow {
  const { table } = layout
  if (before && after && !replaced) {
    const body = encodeBody(layout, after)
    requireVersion(update(db, layout, before, after, body), table, id, before)
    return { row: after, version: before.version + 1, chars: body.length }
  }
  if (before) requireVersion(db.run(statementTexts[table].delete, id, before.version), table, id, before)
  return after ? insertRow(db, layout, after) : { row: undefined, version: 0, chars: 0 }
}

function requireVersion(changes: number, table: Table, id: string, { version }: VersionedRow): void {
  if (changes !== 1) throw new Error(`${table} ${id} is no longer at version ${version}`)
}

function insertRow(db: SqliteFile, layout: TableLayout, after: Row): WrittenRow {
  const { table } = layout
  const body = encodeBody(layout, after)
  const fixed = encodeFixed(layout, after)
  db.run(statementTexts[table].insert, ...insertParams(layout, after, 1, fixed, body))
  // The caller of an operation may still change what it has passed, such as the input of an ask, so the cache gets a copy.
  const row = table === 'request' ? decodeRow(after.id, after.ord, fixed, body) : after
  return { row, version: 1, chars: (fixed?.length ?? 0) + body.length }
}

/** Sets the body and only those other columns that changed, so that SQLite does not touch the indexes on unchanged columns. */
function update(db: SqliteFile, layout: TableLayout, { row, version }: VersionedRow, after: Row, body: string): number {
  const params: ColumnValue[] = [body]
  let changed = 0
  for (const [index, column] of layout.columns.entries()) {
    if (column.isSame(row, after)) continue
    changed |= 1 << index
    params.push(column.of(after))
  }
  if (after.ord !== row.ord) {
    changed |= 1 << layout.columns.length
    params.push(after.ord)
  }
  params.push(row.id, version)
  return db.run(updateText(layout, changed), ...params)
}

/** The texts of UPDATE statements by table and by the set of changed columns, of which there are few. */
const updateTexts = new Map<Table, Map<number, string>>(tableNames.map(table => [table, new Map()]))

/** Returns the text that updates the columns whose bits are set in `changed`. The bit after the last column stands for `ord`. */
function updateText({ table, columns }: TableLayout, changed: number): string {
  const texts = updateTexts.get(table)
  const known = texts?.get(changed)
  if (known !== undefined) return known
  const names = [...columns.map(quoteColumn), 'ord'].filter((_, index) => (changed & (1 << index)) !== 0)
  const set = names.map(name => `, ${name} = ?`).join('')
  const text = `UPDATE ${table} SET body = ?, version = version + 1${set} WHERE id = ? AND version = ?`
  texts?.set(changed, text)
  return text
}

async function writeBackup(db: SqliteFile, to: string): Promise<{ readonly bytes: number }> {
  try {
    // Create the file here instead of in the library, so that an existing file is refused and only the owner can read the new file.
    closeSync(openSync(to, 'wx', 0o600))
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST')
      throw new Fault('bad_input', `${to} already exists. Choose a file that does not exist yet; nothing was written.`)
    throw fileFault(to, error)
  }
  try {
    await db.backup(to)
    return { bytes: statSync(to).size }
  } catch (error) {
    rmSync(to, { force: true })
    throw fileFault(to, error)
  }
}
