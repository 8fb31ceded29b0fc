/** One SQLite file, held by one process: the only place that knows the library. Opens, locks, migrates, and says in our words what went wrong. */
import { chmodSync, closeSync, mkdirSync, openSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { Fault, type FaultCode } from '@holdpoint/protocol'
import { backup, DatabaseSync, type DatabaseSyncInstance, type StatementSyncInstance } from '@photostructure/sqlite'
import { latestVersion, pendingMigrations, sqliteMigrations } from './migrations.ts'
import type { Value } from './row-codec.ts'

/** Tells our archives from other people's databases: "hold" in ASCII. */
const applicationId = 0x686f6c64
const statementsMax = 256
/** Enough for the hot pages of the indexes; an idle gateway should be small. */
const pageCacheKiB = 4096
const pageBytes = 4096

export class SqliteFile {
  readonly path: string
  /** How often the disk was waited for. */
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
        this.#settings(maxBytes)
        this.#migrate()
      })
    } catch (fault) {
      this.#statements.clear()
      this.#db.close()
      throw fault
    }
  }

  #settings(maxBytes: number | undefined): void {
    this.#db.exec('PRAGMA locking_mode = EXCLUSIVE')
    // An exclusive lock that is asked for before WAL keeps the lock in this process, without shared memory.
    this.#db.exec('BEGIN EXCLUSIVE; COMMIT')
    this.#db.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 0;
      PRAGMA cache_size = -${pageCacheKiB}; PRAGMA temp_store = MEMORY`)
    if (maxBytes !== undefined) this.#db.exec(`PRAGMA max_page_count = ${Math.ceil(maxBytes / pageBytes)}`)
  }

  #migrate(): void {
    const version = Number(this.value('PRAGMA user_version'))
    const tables = Number(this.value('SELECT count(*) FROM sqlite_schema'))
    if (tables > 0 && Number(this.value('PRAGMA application_id')) !== applicationId)
      throw new Fault(
        'store_unavailable',
        `${this.path} is a database, but not an archive of Holdpoint. Name another file.`,
      )
    const pending = pendingMigrations(sqliteMigrations, version, this.path)
    if (pending.length === 0) return
    this.transaction(() => {
      for (const { statements } of pending) for (const statement of statements) this.#db.exec(statement)
      this.#db.exec(`PRAGMA application_id = ${applicationId}; PRAGMA user_version = ${latestVersion}`)
    })
  }

  /** Prepared once; rows come as arrays. */
  statement(text: string): StatementSyncInstance {
    const known = this.#statements.get(text)
    if (known) return known
    // Queries of unforeseen shapes must not pile up; the few hot ones are soon prepared again.
    if (this.#statements.size >= statementsMax) this.#statements.clear()
    const statement: StatementSyncInstance = this.#db.prepare(text)
    statement.setReturnArrays(true)
    this.#statements.set(text, statement)
    return statement
  }
  rows(text: string, ...params: Value[]): Value[][] {
    return this.statement(text).all(...params) as unknown as Value[][] // rows are arrays, by the line above
  }
  value(text: string, ...params: Value[]): Value | undefined {
    return this.rows(text, ...params)[0]?.[0]
  }
  run(text: string, ...params: Value[]): number {
    return Number(this.statement(text).run(...params).changes)
  }

  /** All or nothing, and on disk when it returns. */
  transaction<T>(work: () => T): T {
    return withStoreFaults(this.path, () => {
      this.#db.exec('BEGIN IMMEDIATE')
      try {
        const result = work()
        this.#db.exec('COMMIT')
        this.flushes++
        return result
      } catch (thrown) {
        // A full disk or an I/O error has already rolled it back.
        if (this.#db.isTransaction) this.#db.exec('ROLLBACK')
        throw thrown
      }
    })
  }

  /** Copies the pages from the write-ahead log into the file once there are so many of them. */
  checkpoint(pagesMax: number): void {
    const [, pages] = this.rows('PRAGMA wal_checkpoint(NOOP)')[0] ?? []
    if (Number(pages) < pagesMax) return
    this.rows('PRAGMA wal_checkpoint(PASSIVE)')
    // The log, the file, and the log's new header.
    this.flushes += 3
  }

  integrity(): string {
    return String(this.value('PRAGMA integrity_check(1)'))
  }

  async backup(to: string): Promise<void> {
    await backup(this.#db, to, { rate: 256 })
  }

  /** The library ends a connection only when its statements have been collected as garbage; the lock is given back here. */
  close(): void {
    if (!this.#db.isOpen) return
    try {
      // Leaving WAL brings all of it into the file, and is the only way out of a lock that was taken without shared memory.
      this.#db.exec('PRAGMA journal_mode = DELETE; PRAGMA locking_mode = NORMAL; SELECT count(*) FROM sqlite_schema')
    } finally {
      this.#statements.clear()
      this.#db.close()
    }
  }
}

export function withStoreFaults<T>(path: string, work: () => T): T {
  try {
    return work()
  } catch (error) {
    throw faultOf(path, error)
  }
}

/** The fault that an error of SQLite or of the file system means; other errors are bugs and stay what they are. */
export function faultOf(path: string, error: unknown): unknown {
  if (!(error instanceof Error) || error instanceof Fault || !('code' in error)) return error
  // The low byte is the primary result code; the rest says more closely where.
  const key = 'errcode' in error ? Number(error.errcode) & 0xff : String(error.code)
  const [code, sentence] = meanings[key] ?? []
  return code ? new Fault(code, `${path} ${sentence} (${error.message})`) : error
}

const locked = [
  'store_locked',
  'is in use by another gateway. Stop that one, or name another file with --store; one SQLite file serves one gateway.',
] as const
const readOnly = [
  'store_read_only',
  'cannot be written. Check the owner and mode of the file and of its folder.',
] as const
const full = ['store_full', 'cannot grow: the disk is full. Free some space; nothing of this change was kept.'] as const
const unavailable = ['store_unavailable', 'cannot be read or written. Check the disk and the path.'] as const
const corrupt = [
  'store_unavailable',
  'is damaged, or is not a database. Restore a backup, or name another file.',
] as const
const meanings: Readonly<Record<string | number, readonly [FaultCode, string]>> = {
  5: locked,
  6: locked,
  8: readOnly,
  10: unavailable,
  11: corrupt,
  13: full,
  14: unavailable,
  26: corrupt,
  EACCES: readOnly,
  EPERM: readOnly,
  EROFS: readOnly,
  ENOSPC: full,
  EDQUOT: full,
  EIO: unavailable,
  EISDIR: unavailable,
  ENOTDIR: unavailable,
  ENOENT: unavailable,
}
