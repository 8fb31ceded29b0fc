/** The PostgreSQL store. Several gateways can share one database, because each batch is one transaction that locks the head of the log. */
import { randomBytes } from 'node:crypto'
import type { ClockJump, CrashPoint, Head, KeyStore, Store } from '@holdpoint/engine'
import { Fault } from '@holdpoint/protocol'
import { BatchOverlay } from './batch-overlay.ts'
import { applyBatch, type BatchResult, GroupCommit, type QueuedChange, reportWrittenPoints } from './group-commit.ts'
import { findLoss, HeadNote, lossFault, type NotedHead, type StoreLoss } from './head-note.ts'
import { KeyFolder } from './key-folder.ts'
import { lockAndLoad, writeBatch } from './postgres-batch.ts'
import {
  Database,
  databaseMaxMs,
  describeUrl,
  isConnectionLost,
  postgresFault,
  runTransaction,
  type Sql,
  type Transaction,
} from './postgres-connection.ts'
import { PostgresKeys } from './postgres-keys.ts'
import { watchOtherGateways } from './postgres-notify.ts'
import { firstRow, hashAt, postgresReads } from './postgres-reads.ts'
import { migrate, startEpoch } from './postgres-schema.ts'
import { machineTime, StoreClock, type TimeSource } from './store-clock.ts'

export interface PostgresOptions {
  readonly url: string
  /** The clocks for tests. By default, the store uses the wall clock of the database, so that gateways whose clocks differ decide alike, and the monotonic clock of this machine. */
  readonly clock?: TimeSource
  readonly crashPoint?: CrashPoint
  /** Milliseconds between two polls of the head of the log. Polling finds commits whose notification was lost. */
  readonly pollMs?: number
  /** The file of this gateway that notes the head of the log. By default, nothing is noted. */
  readonly headFile?: string
  /** The folder in which this gateway keeps the keys of secret answers that it accepted. By default, it keeps them only in the database. */
  readonly keyFolder?: string
  /** Called before the store is used if it has lost events since the last note. Without this function, such a store is refused. */
  readonly onLoss?: (store: Store, loss: StoreLoss) => Promise<void>
}

export async function openPostgres(options: PostgresOptions): Promise<Store> {
  const { url, clock, crashPoint, pollMs = 1000 } = options
  const location = describeUrl(url)
  const note = options.headFile === undefined ? null : new HeadNote(options.headFile)
  const noted = note?.read() ?? null
  const { readers, loss } = await openReaders(url, location, noted, options.onLoss !== undefined)
  const writer = new Writer({ url, location, clock: new DatabaseClock(clock), crashPoint, note })
  const groupCommit = new GroupCommit(batch => writer.write(batch), crashPoint)
  const otherGateways = await watchOtherGateways(readers, writer.gatewayId, pollMs, groupCommit)
  writer.onCommitted = (before, after) => otherGateways.onOwnBatch(before, after)
  const keyFolder = options.keyFolder === undefined ? null : new KeyFolder(options.keyFolder)
  const keys = new PostgresKeys(readers, location, keyFolder)
  const store = postgresStore(location, readers, writer, groupCommit, keys, async () => {
    await groupCommit.close()
    otherGateways.stop()
    await Promise.all([writer.close(), readers.close()])
  })
  try {
    if (loss) await options.onLoss?.(store, loss)
    await note?.noteNow(await store.head())
    return store
  } catch (error) {
    await store.close()
    throw error
  }
}

function postgresStore(
  location: string,
  database: Database,
  writer: Writer,
  groupCommit: GroupCommit,
  keys: KeyStore,
  close: () => Promise<void>,
): Store {
  async function read<T>(work: (sql: Sql) => Promise<T>): Promise<T> {
    try {
      // If a connection is lost while idle, the client notices only when it uses the connection, so try once more.
      return await database.run(databaseMaxMs.read, () =>
        work(database.sql).catch(error => (isConnectionLost(error) ? work(database.sql) : Promise.reject(error))),
      )
    } catch (error) {
      throw postgresFault(location, error)
    }
  }
  return {
    kind: 'postgres',
    commit: change => groupCommit.commit(change),
    ...postgresReads(read),
    now: () =>
      read(async sql => {
        const asked = writer.clock.monotonic()
        const { now, at } = await firstRow(sql<{ now: number; at: number }[]>`
          SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint AS now, at FROM holdpoint.head`)
        return writer.clock.read(asked, now, at)
      }),
    takeClockJumps: () => writer.clock.takeJumps(),
    keys,
    onCommit: listener => groupCommit.onCommit(listener),
    backup: async () => {
      throw new Fault(
        'unsupported',
        `${location} cannot be backed up by Holdpoint. Use pg_dump --schema=holdpoint --no-unlogged-table-data.`,
      )
    },
    close,
  }
}

/** The store's clock, which follows the wall clock of the database. */
class DatabaseClock {
  readonly #clock: TimeSource | undefined
  readonly #machine: TimeSource
  readonly #storeClock = new StoreClock(0)

  constructor(clock: TimeSource | undefined) {
    this.#clock = clock
    this.#machine = clock ?? machineTime()
  }
  monotonic(): number {
    return this.#machine.monotonic()
  }
  /** Returns the store's time. `asked` is the monotonic time before the database was asked for its time. */
  read(asked: number, databaseNow: number, lastCommitAt: number): number {
    const wall = this.#clock?.now() ?? databaseNow
    return this.#storeClock.read({ wall, before: asked, after: this.monotonic() }, lastCommitAt)
  }
  takeJumps(): readonly ClockJump[] {
    return this.#storeClock.takeJumps()
  }
}

interface WriterOptions {
  readonly url: string
  readonly location: string
  readonly clock: DatabaseClock
  readonly crashPoint: CrashPoint | undefined
  readonly note: HeadNote | null
}

/** Writes one batch at a time, on its own connection. */
class Writer {
  /** Sent with notifications, so that a gateway can ignore its own notifications. */
  readonly gatewayId = randomBytes(8).toString('hex')
  readonly clock: DatabaseClock
  /** Called with the commit count before and after each batch of this gateway. */
  onCommitted: (before: number, after: number) => void = () => {}
  readonly #options: WriterOptions
  readonly #database: Database
  /** The last head that this gateway has seen. */
  #known: Head | null = null
  /** Whether the connection was lost since that head was seen, so that another server may have taken over. */
  #mustCompare = false

  constructor(options: WriterOptions) {
    this.#options = options
    this.clock = options.clock
    this.#database = new Database(options.url, 1, () => {
      this.#mustCompare = true
    })
  }

  /** Writes a batch. Tries once more if the connection was lost before anything was committed, because an idle connection may be lost without notice. */
  async write(batch: readonly QueuedChange[]): Promise<BatchResult> {
    const startedAt = performance.now()
    const first = await this.#attempt(batch, databaseMaxMs.batch)
    if (!('lost' in first)) return first
    const leftMs = databaseMaxMs.batch - (performance.now() - startedAt)
    const second = leftMs > 0 ? await this.#attempt(batch, leftMs) : first
    if (!('lost' in second)) return second
    throw postgresFault(this.#options.location, second.lost)
  }

  async #attempt(batch: readonly QueuedChange[], maxMs: number): Promise<BatchResult | { readonly lost: unknown }> {
    const { crashPoint, location, note } = this.#options
    let written: (BatchResult & { readonly head: Head }) | undefined
    let xact = ''
    let commits = 0
    const work = async (tx: Transaction) => {
      const asked = this.clock.monotonic()
      const locked = await lockAndLoad(tx, batch)
      await this.#compareHead(tx, locked.head)
      const now = this.clock.read(asked, locked.databaseNow, locked.head.at)
      const overlay = new BatchOverlay(locked.committed, locked.head, now)
      const appliedCount = applyBatch(batch, overlay, crashPoint)
      if (overlay.hasWrites) {
        await writeBatch(tx, overlay, locked.commits, this.gatewayId)
        reportWrittenPoints(batch.slice(0, appliedCount), crashPoint)
      }
      xact = locked.xact
      commits = locked.commits
      written = { appliedCount, events: overlay.hasWrites ? overlay.events : null, head: overlay.head }
    }
    try {
      await this.#database.run(maxMs, sql => runTransaction(sql, work))
    } catch (error) {
      if (!isConnectionLost(error)) throw postgresFault(location, error)
      this.#reconnect()
      // `written` is set just before COMMIT is sent. Until then, nothing can be committed. Afterwards, only the database knows whether the transaction was committed.
      if (!written || !(await this.#wasCommitted(xact))) return { lost: error }
    }
    if (!written) throw new Error('a transaction ended without a result')
    this.#known = written.head
    note?.note(written.head)
    this.onCommitted(commits, commits + (written.events ? 1 : 0))
    return written
  }

  /** Throws if the database has lost events that this gateway has seen, for example because a standby took over that had not received them. */
  async #compareHead(tx: Transaction, head: Head): Promise<void> {
    const known = this.#known
    if (!known || (!this.#mustCompare && head.seq >= known.seq)) return
    const found = await hashAt(tx, known.seq)
    const loss = findLoss(known, head, () => found)
    if (loss) throw lossFault(this.#options.location, loss)
    this.#mustCompare = false
  }

  /** Returns whether a transaction was committed although the reply to its COMMIT was lost. The transaction held the lock on the head, so it has ended once this query gets the lock. */
  async #wasCommitted(xact: string): Promise<boolean> {
    let status: string | null = null
    try {
      status = await this.#database.run(databaseMaxMs.outcome, sql =>
        runTransaction(sql, async tx => {
          await tx`SELECT seq FROM holdpoint.head FOR UPDATE`
          const found = tx<{ status: string | null }[]>`SELECT pg_xact_status(${xact}::xid8) AS status`
          return (await firstRow(found)).status
        }),
      )
    } catch (error) {
      if (isConnectionLost(error)) this.#reconnect()
    }
    if (status === 'committed') return true
    if (status === 'aborted') return false
    throw new Fault(
      'store_unavailable',
      `The connection to ${this.#options.location} was lost during a commit, so it is unknown whether this change was stored. Check before you repeat it.`,
    )
  }

  #reconnect(): void {
    this.#mustCompare = true
    this.#database.reconnect()
  }

  async close(): Promise<void> {
    // Ignore an error, because an old note only means that a loss may go unnoticed.
    await this.#options.note?.flush().catch(() => {})
    await this.#database.close()
  }
}

interface OpenedDatabase {
  readonly readers: Database
  readonly loss: StoreLoss | null
}

async function openReaders(
  url: string,
  location: string,
  noted: NotedHead | null,
  acceptsLoss: boolean,
): Promise<OpenedDatabase> {
  let readers: Database | undefined
  try {
    readers = new Database(url, 2)
    await migrate(readers.sql, location)
    const loss = await lossSince(readers.sql, noted)
    if (loss && !acceptsLoss) throw lossFault(location, loss)
    await startEpoch(readers.sql)
    return { readers, loss }
  } catch (error) {
    await readers?.close(0)
    throw error instanceof TypeError
      ? new Fault(
          'bad_input',
          'The URL of the store is not valid. Write it as postgres://user:password@host:port/database.',
        )
      : postgresFault(location, error)
  }
}

async function lossSince(sql: Sql, noted: NotedHead | null): Promise<StoreLoss | null> {
  if (!noted) return null
  const [head] = await sql<{ seq: number }[]>`SELECT seq FROM holdpoint.head`
  const found = await hashAt(sql, noted.seq)
  return findLoss(noted, head ?? { seq: 0 }, () => found)
}
