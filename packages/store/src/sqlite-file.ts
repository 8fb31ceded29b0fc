/** Opens, locks and migrates one SQLite file, and runs its statements. No other source file uses the SQLite library. */
import { chmodSync, closeSync, mkdirSync, openSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import type { Table } from '@holdpoint/engine'
import { Fault } from '@holdpoint/protocol'
import { backup, DatabaseSync, type DatabaseSyncInstance, type StatementSyncInstance } from '@photostructure/sqlite'
import { withStoreFaults } from './file-fault.ts'
import {
  latestVersion,
  pendingMigrations,
  type RowRewrite,
  replaceRow,
  type StoredRow,
  sqliteMigrations,
} from './migrations.ts'
import { type ColumnValue, decodeRow } from './row-codec.ts'
import { sqliteDialect } from './sql.ts'

/** Marks the file as a Holdpoint database: "hold" in ASCII. */
const applicationId = 0x686f6c64
const statementsMax = 256
/** Size of SQLite's page cache. The cache is large enough for frequently used index pages, and small because an idle gateway should use little memory. */
const pageCacheKiB = 4096
const pageBytes = 4096

export class SqliteFile {
  readonly path: string
  /** Number of flushes to disk so far. */
  flushes = 0
  readonly #db: DatabaseSyncInstance
  readonly #statements = new Map<string, StatementSyncInstance>()

  constructor(path: string, maxBytes?: number) {
    this.path = path
    this.#db = withStoreFaults(path, () => {
      mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
      closeSync(openSync(path, 'a', 0o600))
      if (statSync(path).mode & 0o077) chmodSync(path, 0o600)
      return new DatabaseSync(path)
    })
    try {
      withStoreFaults(path, () => {
        this.#applySettings(maxBytes)
        this.#migrate()
      })
    } catch (fault) {
      this.#statements.clear()
      this.#db.close()
      throw fault
    }
  }

  #applySettings(maxBytes: number | undefined): void {
    this.#db.exec('PRAGMA locking_mode = EXCLUSIVE')
    // Take the exclusive lock before switching to WAL, so that SQLite keeps the index of the write-ahead log in its own memory instead of shared memory.
    this.#db.exec('BEGIN EXCLUSIVE; COMMIT')
    this.#db.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 0;
      PRAGMA cache_size = -${pageCacheKiB}; PRAGMA temp_store = MEMORY`)
    if (maxBytes !== undefined) this.#db.exec(`PRAGMA max_page_count = ${Math.ceil(maxBytes / pageBytes)}`)
  }

  #migrate(): void {
    const version = Number(this.value('PRAGMA user_version'))
    const tables = Number(this.value('SELECT count(*) FROM sqlite_schema'))
    if (tables > 0 && Number(this.value('PRAGMA application_id')) !== applicationId)
      throw new Fault('store_unavailable', `${this.path} is not a Holdpoint database. Choose another file.`)
    const pending = pendingMigrations(sqliteMigrations, version, this.path)
    if (pending.length === 0) return
    this.transaction(() => {
      for (const { statements } of pending) for (const statement of statements) this.#db.exec(statement)
      for (const { rewrites = () => [] } of pending)
        for (const { table, rewrite } of rewrites()) this.#rewriteRows(table, rewrite)
      this.#db.exec(`PRAGMA application_id = ${applicationId}; PRAGMA user_version = ${latestVersion}`)
    })
  }

  #rewriteRows(table: Table, rewrite: RowRewrite['rewrite']): void {
    // Load one row at a time, because all rows together may not fit into memory.
    for (const [id] of this.rows(`SELECT id FROM ${table} ORDER BY ord, id`) as [string][]) {
      const [columns] = this.rows(`SELECT ord, version, fixed, body FROM ${table} WHERE id = ?`, id)
      const [ord, version, fixed, body] = columns as [number, number, string | null, string] // the SELECT names these columns
      const after = rewrite(decodeRow(id, ord, fixed, body) as unknown as StoredRow) // every row is a plain object with an id and an ord
      for (const { text, params } of replaceRow(table, { id, version }, after, sqliteDialect)) this.run(text, ...params)
    }
  }

  /** Returns a prepared statement, cached by its text. The statement returns rows as arrays. */
  statement(text: string): StatementSyncInstance {
    const known = this.#statements.get(text)
    if (known) return known
    // Clear the cache when it is full. The few frequent statements are soon prepared again.
    if (this.#statements.size >= statementsMax) this.#statements.clear()
    const statement: StatementSyncInstance = this.#db.prepare(text)
    statement.setReturnArrays(true)
    this.#statements.set(text, statement)
    return statement
  }
  rows(text: string, ...params: ColumnValue[]): ColumnValue[][] {
    return this.statement(text).all(...params) as unknown as ColumnValue[][] // `statement` makes every row an array
  }
  value(text: string, ...params: ColumnValue[]): ColumnValue | undefined {
    return this.rows(text, ...params)[0]?.[0]
  }
  run(text: string, ...params: ColumnValue[]): number {
    return Number(this.statement(text).run(...params).changes)
  }

  /** Runs `work` in a transaction, which is on disk when this method returns. */
  transaction<T>(work: () => T): T {
    return withStoreFaults(this.path, () => {
      this.#db.exec('BEGIN IMMEDIATE')
      try {
        const result = work()
        this.#db.exec('COMMIT')
        this.flushes++
        return result
      } catch (thrown) {
        // After a full disk or an I/O error, SQLite may have rolled back already.
        if (this.#db.isTransaction) this.#db.exec('ROLLBACK')
        throw thrown
      }
    })
  }

  /** Copies the write-ahead log into the file if the log has at least `pagesMax` pages. */
  checkpoint(pagesMax: number): void {
    const [, pages] = this.rows('PRAGMA wal_checkpoint(NOOP)')[0] ?? []
    if (Number(pages) < pagesMax) return
    this.rows('PRAGMA wal_checkpoint(PASSIVE)')
    // A checkpoint flushes the log, the file, and the new header of the log, so it counts as three flushes.
    this.flushes += 3
  }

  integrity(): string {
    return String(this.value('PRAGMA integrity_check(1)'))
  }

  async backup(to: string): Promise<void> {
    await backup(this.#db, to, { rate: 256 })
  }

  /** Closes the file and releases its lock. The library closes a connection only after its statements are garbage-collected, so this method releases the lock explicitly. */
  close(): void {
    if (!this.#db.isOpen) return
    try {
      // Leaving WAL copies the log into the file, and is the only way to release a lock that was taken without shared memory.
      this.#db.exec('PRAGMA journal_mode = DELETE; PRAGMA locking_mode = NORMAL; SELECT count(*) FROM sqlite_schema')
    } catch {
      // Ignore the error, for example of a full disk, because the commits are safe in the write-ahead log, and a caller that closes the file after another error must report that error.
    } finally {
      this.#statements.clear()
      this.#db.close()
    }
  }
}
