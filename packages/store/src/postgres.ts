/** The archive in PostgreSQL: several gateways on one database. A batch is one transaction under a lock on the head of the log. */
import { randomBytes } from 'node:crypto'
import type { CrashPoint, Rows, Store } from '@holdpoint/engine'
import { Fault } from '@holdpoint/protocol'
import { BatchOverlay } from './batch-overlay.ts'
import { applyBatch, GroupCommit, type QueuedChange, reportWritten, type Written } from './group-commit.ts'
import { type EventRecord, firstHead, newEpoch, readEvent } from './hash-chain.ts'
import { latestVersion, pendingMigrations, postgresMigrations } from './migrations.ts'
import { headOf, lockAndLoad, type RowRecord, toVersionedRow, writeBatch } from './postgres-batch.ts'
import { connect, describeUrl, faultOfPostgres, isLost, run, type Sql, transact } from './postgres-connection.ts'
import { watchOtherGateways } from './postgres-notify.ts'
import { countRows, postgresDialect, selectEvents, selectRows } from './sql.ts'

export interface PostgresOptions {
  readonly url: string
  /** For tests; the database's own clock otherwise. */
  readonly clock?: { now(): number }
  readonly crashPoint?: CrashPoint
  /** How often the head is looked at where no hint has come. */
  readonly pollMs?: number
}

export async function openPostgres({ url, clock, crashPoint, pollMs = 1000 }: PostgresOptions): Promise<Store> {
  const place = describeUrl(url)
  const readers = await open(url, place)
  const writer = new Writer(url, place, clock, crashPoint)
  const batches = new GroupCommit(batch => writer.write(batch), crashPoint)
  const others = await watchOtherGateways(readers, writer.signed, pollMs, batches)
  writer.onCommitted = (before, after) => others.passed(before, after)

  async function read<T>(work: () => Promise<T>): Promise<T> {
    try {
      // A connection that died while it was idle is noticed only by its next use.
      return await work().catch(error => (isLost(error) ? work() : Promise.reject(error)))
    } catch (error) {
      throw faultOfPostgres(place, error)
    }
  }
  const rowsOf = async <T>(rows: PromiseLike<readonly RowRecord[]>) =>
    (await rows).map(record => toVersionedRow(record).row) as unknown as T[] // a table holds its own rows
  const head = () =>
    read(async () => headOf(await only(readers`SELECT seq, hash, epoch, at, rules_at, commits FROM holdpoint.head`)))
  return {
    kind: 'postgres',
    commit: change => batches.commit(change),
    get: (table, id) =>
      read(async () => {
        const text = `SELECT id, ord, version, fixed, body FROM holdpoint.${table} WHERE id = $1`
        return (await rowsOf<Rows[typeof table]>(run(readers, { text, params: [id] })))[0]
      }),
    find: (table, query) =>
      read(() => rowsOf<Rows[typeof table]>(run(readers, selectRows(table, query, postgresDialect)))),
    count: (table, query) =>
      read(async () => (await only(run<{ count: number }>(readers, countRows(table, query, postgresDialect)))).count),
    head,
    now: () =>
      read(async () => {
        const { now, at } = await only(readers<{ now: number; at: number }[]>`
          SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint AS now, at FROM holdpoint.head`)
        return Math.max(clock ? clock.now() : now, at)
      }),
    events: query =>
      read(async () => (await run<EventRecord>(readers, selectEvents(query, postgresDialect))).map(readEvent)),
    epochAt: seq =>
      read(async () => {
        const [event] = await readers<{ epoch: string }[]>`SELECT epoch FROM holdpoint.event WHERE seq = ${seq}`
        return event?.epoch
      }),
    onCommit: listener => batches.onCommit(listener),
    backup: async () => {
      throw new Fault('unsupported', `${place} is backed up with its own tools: use pg_dump --schema=holdpoint.`)
    },
    close: async () => {
      await batches.close()
      others.stop()
      await Promise.all([writer.close(), readers.end({ timeout: 5 })])
    },
  }
}

async function only<T>(rows: PromiseLike<readonly T[]>): Promise<T> {
  const [row] = await rows
  if (!row) throw new Error('a row that is always there is missing')
  return row
}

/** Writes batches, one at a time, on a connection of its own. */
class Writer {
  /** Tells this gateway's own hints from others'. */
  readonly signed = randomBytes(8).toString('hex')
  /** Called with the count of commits before and after each batch of ours. */
  onCommitted: (before: number, after: number) => void = () => {}
  readonly #url: string
  readonly #place: string
  readonly #clock: { now(): number } | undefined
  readonly #crashPoint: CrashPoint | undefined
  #sql: Sql

  constructor(url: string, place: string, clock: { now(): number } | undefined, crashPoint: CrashPoint | undefined) {
    this.#url = url
    this.#place = place
    this.#clock = clock
    this.#crashPoint = crashPoint
    this.#sql = connect(url, 1)
  }

  /** Tries twice where the connection was lost and nothing was committed: it may have died unnoticed since the last batch. */
  async write(batch: readonly QueuedChange[]): Promise<Written> {
    const first = await this.#attempt(batch)
    if (!('lost' in first)) return first
    const second = await this.#attempt(batch)
    if (!('lost' in second)) return second
    throw faultOfPostgres(this.#place, second.lost)
  }

  async #attempt(batch: readonly QueuedChange[]): Promise<Written | { readonly lost: unknown }> {
    let written: Written | undefined
    let xact = ''
    let commits = 0
    try {
      await transact(this.#sql, async tx => {
        const locked = await lockAndLoad(tx, batch)
        const ledger = new BatchOverlay(locked.base, locked.head, this.#clock?.now() ?? locked.databaseNow)
        const taken = applyBatch(batch, ledger, this.#crashPoint)
        if (ledger.wrote) {
          await writeBatch(tx, ledger, locked.commits, this.signed)
          reportWritten(batch.slice(0, taken), this.#crashPoint)
        }
        xact = locked.xact
        commits = locked.commits
        written = { taken, events: ledger.wrote ? ledger.events : null }
      })
    } catch (error) {
      if (!isLost(error)) throw faultOfPostgres(this.#place, error)
      this.#renew()
      // Before COMMIT was sent nothing can have been committed; after it, only the database knows.
      if (!written || !(await this.#committed(xact))) return { lost: error }
    }
    if (!written) throw new Error('a transaction ended without an outcome')
    this.onCommitted(commits, commits + (written.events ? 1 : 0))
    return written
  }

  /** What became of a transaction whose COMMIT was not answered. It held the head, so whoever gets the head finds it ended. */
  async #committed(xact: string): Promise<boolean> {
    let status: string | null = null
    try {
      status = await transact(this.#sql, async tx => {
        await tx`SELECT seq FROM holdpoint.head FOR UPDATE`
        return (await only(tx<{ status: string | null }[]>`SELECT pg_xact_status(${xact}::xid8) AS status`)).status
      })
    } catch (error) {
      if (isLost(error)) this.#renew()
    }
    if (status === 'committed') return true
    if (status === 'aborted') return false
    throw new Fault(
      'store_unavailable',
      `${this.#place} was lost while it committed; whether this change was kept is not known. Look before you repeat it.`,
    )
  }

  #renew(): void {
    void this.#sql.end({ timeout: 0 })
    this.#sql = connect(this.#url, 1)
  }

  async close(): Promise<void> {
    await this.#sql.end({ timeout: 5 })
  }
}

async function open(url: string, place: string): Promise<Sql> {
  let sql: Sql | undefined
  try {
    sql = connect(url, 2)
    await migrate(sql, place)
    return sql
  } catch (error) {
    await sql?.end({ timeout: 0 })
    throw error instanceof TypeError
      ? new Fault('bad_input', 'The URL of the store is not one: write postgres://user:password@host:port/database.')
      : faultOfPostgres(place, error)
  }
}

/** Gateways that start at once wait for each other here. */
function migrate(sql: Sql, place: string): Promise<void> {
  return transact(sql, async tx => {
    await tx`SELECT pg_advisory_xact_lock(7521946531)`
    // A user who may not create schemas can still use one that was made for it.
    const [found] = await tx<{ absent: boolean }[]>`SELECT to_regnamespace('holdpoint') IS NULL AS absent`
    if (found?.absent) await tx`CREATE SCHEMA holdpoint`
    await tx`CREATE TABLE IF NOT EXISTS holdpoint.meta (version BIGINT NOT NULL)`
    const version = (await tx<{ version: number }[]>`SELECT version FROM holdpoint.meta`)[0]?.version ?? 0
    const pending = pendingMigrations(postgresMigrations, version, place)
    if (pending.length > 0) {
      for (const { statements } of pending) for (const statement of statements) await tx.unsafe(statement)
      await tx`DELETE FROM holdpoint.meta`
      await tx`INSERT INTO holdpoint.meta VALUES (${latestVersion})`
    }
    const epoch = newEpoch()
    const { seq, hash, at, rulesAt } = firstHead(epoch)
    await tx`
      INSERT INTO holdpoint.head VALUES (1, ${seq}, ${hash}, ${epoch}, ${at}, ${rulesAt}, 0)
      ON CONFLICT (one) DO UPDATE SET epoch = excluded.epoch`
  })
}
