/** The PostgreSQL store. Several gateways can share one database, because each batch is one transaction that locks the head of the log. */
import { randomBytes } from 'node:crypto'
import type { ClockJump, CrashPoint, Rows, Store } from '@holdpoint/engine'
import { Fault } from '@holdpoint/protocol'
import { BatchOverlay } from './batch-overlay.ts'
import { applyBatch, type BatchResult, GroupCommit, type QueuedChange, reportWrittenPoints } from './group-commit.ts'
import { type EventRecord, emptyHead, newEpoch, toStoredEvent } from './hash-chain.ts'
import { latestVersion, pendingMigrations, postgresMigrations } from './migrations.ts'
import { lockAndLoad, type RowRecord, toHead, toVersionedRow, writeBatch } from './postgres-batch.ts'
import {
  connect,
  describeUrl,
  isConnectionLost,
  postgresFault,
  runStatement,
  runTransaction,
  type Sql,
} from './postgres-connection.ts'
import { watchOtherGateways } from './postgres-notify.ts'
import { countRows, postgresDialect, selectEvents, selectRows } from './sql.ts'
import { machineTime, StoreClock, type TimeSource } from './store-clock.ts'

export interface PostgresOptions {
  readonly url: string
  /** The clocks for tests. By default, the store uses the wall clock of the database, so that gateways whose clocks differ decide alike, and the monotonic clock of this machine. */
  readonly clock?: TimeSource
  readonly crashPoint?: CrashPoint
  /** Milliseconds between two polls of the head of the log. Polling finds commits whose notification was lost. */
  readonly pollMs?: number
}

export async function openPostgres({ url, clock, crashPoint, pollMs = 1000 }: PostgresOptions): Promise<Store> {
  const location = describeUrl(url)
  const readers = await openReaders(url, location)
  const storeClock = new DatabaseClock(clock)
  const writer = new Writer(url, location, storeClock, crashPoint)
  const groupCommit = new GroupCommit(batch => writer.write(batch), crashPoint)
  const otherGateways = await watchOtherGateways(readers, writer.gatewayId, pollMs, groupCommit)
  writer.onCommitted = (before, after) => otherGateways.onOwnBatch(before, after)

  async function read<T>(work: () => Promise<T>): Promise<T> {
    try {
      // If a connection is lost while idle, the client notices only when it uses the connection, so try once more.
      return await work().catch(error => (isConnectionLost(error) ? work() : Promise.reject(error)))
    } catch (error) {
      throw postgresFault(location, error)
    }
  }
  const rowsOf = async <T>(rows: PromiseLike<readonly RowRecord[]>) =>
    (await rows).map(record => toVersionedRow(record).row) as unknown as T[] // each table contains only rows of its own type
  const head = () =>
    read(async () =>
      toHead(await firstRow(readers`SELECT seq, hash, epoch, at, rules_seq, commits FROM holdpoint.head`)),
    )
  return {
    kind: 'postgres',
    commit: change => groupCommit.commit(change),
    get: (table, id) =>
      read(async () => {
        const text = `SELECT id, ord, version, fixed, body FROM holdpoint.${table} WHERE id = $1`
        return (await rowsOf<Rows[typeof table]>(runStatement(readers, { text, params: [id] })))[0]
      }),
    find: (table, query) =>
      read(() => rowsOf<Rows[typeof table]>(runStatement(readers, selectRows(table, query, postgresDialect)))),
    count: (table, query) =>
      read(
        async () =>
          (await firstRow(runStatement<{ count: number }>(readers, countRows(table, query, postgresDialect)))).count,
      ),
    head,
    now: () =>
      read(async () => {
        const asked = storeClock.monotonic()
        const { now, at } = await firstRow(readers<{ now: number; at: number }[]>`
          SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint AS now, at FROM holdpoint.head`)
        return storeClock.read(asked, now, at)
      }),
    takeClockJumps: () => storeClock.takeJumps(),
    events: query =>
      read(async () =>
        (await runStatement<EventRecord>(readers, selectEvents(query, postgresDialect))).map(toStoredEvent),
      ),
    epochAt: seq =>
      read(async () => {
        const [event] = await readers<{ epoch: string }[]>`SELECT epoch FROM holdpoint.event WHERE seq = ${seq}`
        return event?.epoch
      }),
    onCommit: listener => groupCommit.onCommit(listener),
    backup: async () => {
      throw new Fault('unsupported', `${location} cannot be backed up by Holdpoint. Use pg_dump --schema=holdpoint.`)
    },
    close: async () => {
      await groupCommit.close()
      otherGateways.stop()
      await Promise.all([writer.close(), readers.end({ timeout: 5 })])
    },
  }
}

async function firstRow<T>(rows: PromiseLike<readonly T[]>): Promise<T> {
  const [row] = await rows
  if (!row) throw new Error('a query that always returns a row returned none')
  return row
}

/** The store's clock, fed with the wall clock of the database. */
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

/** Writes one batch at a time, on its own connection. */
class Writer {
  /** Sent with notifications, so that a gateway can ignore its own notifications. */
  readonly gatewayId = randomBytes(8).toString('hex')
  /** Called with the commit count before and after each batch of this gateway. */
  onCommitted: (before: number, after: number) => void = () => {}
  readonly #url: string
  readonly #location: string
  readonly #clock: DatabaseClock
  readonly #crashPoint: CrashPoint | undefined
  #sql: Sql

  constructor(url: string, location: string, clock: DatabaseClock, crashPoint: CrashPoint | undefined) {
    this.#url = url
    this.#location = location
    this.#clock = clock
    this.#crashPoint = crashPoint
    this.#sql = connect(url, 1)
  }

  /** Writes a batch. Tries once more if the connection was lost before anything was committed, because an idle connection may be lost without notice. */
  async write(batch: readonly QueuedChange[]): Promise<BatchResult> {
    const first = await this.#attempt(batch)
    if (!('lost' in first)) return first
    const second = await this.#attempt(batch)
    if (!('lost' in second)) return second
    throw postgresFault(this.#location, second.lost)
  }

  async #attempt(batch: readonly QueuedChange[]): Promise<BatchResult | { readonly lost: unknown }> {
    let written: BatchResult | undefined
    let xact = ''
    let commits = 0
    try {
      await runTransaction(this.#sql, async tx => {
        const asked = this.#clock.monotonic()
        const locked = await lockAndLoad(tx, batch)
        const now = this.#clock.read(asked, locked.databaseNow, locked.head.at)
        const overlay = new BatchOverlay(locked.committed, locked.head, now)
        const appliedCount = applyBatch(batch, overlay, this.#crashPoint)
        if (overlay.hasWrites) {
          await writeBatch(tx, overlay, locked.commits, this.gatewayId)
          reportWrittenPoints(batch.slice(0, appliedCount), this.#crashPoint)
        }
        xact = locked.xact
        commits = locked.commits
        written = { appliedCount, events: overlay.hasWrites ? overlay.events : null }
      })
    } catch (error) {
      if (!isConnectionLost(error)) throw postgresFault(this.#location, error)
      this.#reconnect()
      // `written` is set just before COMMIT is sent. Until then, nothing can be committed. Afterwards, only the database knows whether the transaction was committed.
      if (!written || !(await this.#wasCommitted(xact))) return { lost: error }
    }
    if (!written) throw new Error('a transaction ended without a result')
    this.onCommitted(commits, commits + (written.events ? 1 : 0))
    return written
  }

  /** Resolves to whether a transaction was committed although the reply to its COMMIT was lost. The transaction held the lock on the head, so it has ended once this query gets the lock. */
  async #wasCommitted(xact: string): Promise<boolean> {
    let status: string | null = null
    try {
      status = await runTransaction(this.#sql, async tx => {
        await tx`SELECT seq FROM holdpoint.head FOR UPDATE`
        return (await firstRow(tx<{ status: string | null }[]>`SELECT pg_xact_status(${xact}::xid8) AS status`)).status
      })
    } catch (error) {
      if (isConnectionLost(error)) this.#reconnect()
    }
    if (status === 'committed') return true
    if (status === 'aborted') return false
    throw new Fault(
      'store_unavailable',
      `The connection to ${this.#location} was lost during a commit, so it is unknown whether this change was stored. Check before you repeat it.`,
    )
  }

  #reconnect(): void {
    void this.#sql.end({ timeout: 0 })
    this.#sql = connect(this.#url, 1)
  }

  async close(): Promise<void> {
    await this.#sql.end({ timeout: 5 })
  }
}

async function openReaders(url: string, location: string): Promise<Sql> {
  let sql: Sql | undefined
  try {
    sql = connect(url, 2)
    await migrate(sql, location)
    return sql
  } catch (error) {
    await sql?.end({ timeout: 0 })
    throw error instanceof TypeError
      ? new Fault(
          'bad_input',
          'The URL of the store is not valid. Write it as postgres://user:password@host:port/database.',
        )
      : postgresFault(location, error)
  }
}

/** Creates or migrates the tables, and starts a new epoch. Gateways that start at the same time wait for each other on the advisory lock. */
function migrate(sql: Sql, location: string): Promise<void> {
  return runTransaction(sql, async tx => {
    await tx`SELECT pg_advisory_xact_lock(7521946531)`
    // Create the schema only if it is missing, because this user may lack the right to create schemas.
    const [schema] = await tx<{ missing: boolean }[]>`SELECT to_regnamespace('holdpoint') IS NULL AS missing`
    if (schema?.missing) await tx`CREATE SCHEMA holdpoint`
    await tx`CREATE TABLE IF NOT EXISTS holdpoint.meta (version BIGINT NOT NULL)`
    const version = (await tx<{ version: number }[]>`SELECT version FROM holdpoint.meta`)[0]?.version ?? 0
    const pending = pendingMigrations(postgresMigrations, version, location)
    if (pending.length > 0) {
      for (const { statements } of pending) for (const statement of statements) await tx.unsafe(statement)
      await tx`DELETE FROM holdpoint.meta`
      await tx`INSERT INTO holdpoint.meta VALUES (${latestVersion})`
    }
    const epoch = newEpoch()
    const { seq, hash, at, rulesSeq } = emptyHead(epoch)
    await tx`
      INSERT INTO holdpoint.head VALUES (1, ${seq}, ${hash}, ${epoch}, ${at}, ${rulesSeq}, 0)
      ON CONFLICT (id) DO UPDATE SET epoch = excluded.epoch`
  })
}
