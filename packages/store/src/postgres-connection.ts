/** Opens connections to PostgreSQL with a time limit for every use, runs transactions that reject cleanly if their connection is lost, and converts database errors to Faults. */
import { Fault, type FaultCode } from '@holdpoint/protocol'
import postgres from 'postgres'
import type { Statement } from './sql.ts'

export type Sql = postgres.Sql<{ bigint: number }>
export type Transaction = postgres.TransactionSql<{ bigint: number }>

function connect(url: string, max: number, onclose: () => void): Sql {
  return postgres(url, {
    max,
    max_lifetime: null,
    connect_timeout: connectMaxMs / 1000,
    // By default, the pause before a reconnect grows to 20 s, and queries wait during the pause.
    backoff: () => 0.1,
    // By default, the client queries the array types at every connect. Holdpoint does not use them.
    fetch_types: false,
    onnotice: () => {},
    onclose,
    // Seqs and timestamps are far below 2^53, so a JavaScript number represents them exactly.
    types: { bigint: { to: 20, from: [20], parse: Number, serialize: String } },
    connection: {
      application_name: 'holdpoint',
      // A gateway that disappears while it holds the lock on the head must not block the others for long.
      idle_in_transaction_session_timeout: 10_000,
      lock_timeout: lockMaxMs,
    },
  })
}

const connectMaxMs = 3000
const lockMaxMs = 5000
/** How long a read, a batch, or the question whether a transaction was committed may take. A caller gets an error after a few seconds even if the database does not reply at all. */
export const databaseMaxMs = { read: 4000, batch: 6000, outcome: 3000 } as const

/** A pool of connections that is replaced if the database does not reply in time. */
export class Database {
  readonly #url: string
  readonly #max: number
  readonly #onClose: () => void
  #sql: Sql

  /** `onClose` is called whenever a connection is closed, also if it was idle. The client then connects again by itself before the next query, and no query fails. */
  constructor(url: string, max: number, onClose = () => {}) {
    this.#url = url
    this.#max = max
    this.#onClose = onClose
    this.#sql = connect(url, max, onClose)
  }
  /** The current pool. Another one replaces it after a timeout. */
  get sql(): Sql {
    return this.#sql
  }

  /** Runs queries. If they take longer than `maxMs`, all connections of the pool are dropped, and the promise rejects as if the connection was lost. */
  async run<T>(maxMs: number, work: (sql: Sql) => Promise<T>): Promise<T> {
    const sql = this.#sql
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => {
        reject(Object.assign(new Error(`no reply within ${maxMs / 1000} s`), { code: 'ETIMEDOUT' }))
        if (sql === this.#sql) this.reconnect()
      }, maxMs)
    })
    try {
      return await Promise.race([work(sql), late])
    } finally {
      clearTimeout(timer)
    }
  }

  reconnect(): void {
    void this.#sql.end({ timeout: 0 })
    this.#sql = connect(this.#url, this.#max, this.#onClose)
  }
  async close(maxMs = 5000): Promise<void> {
    await this.#sql.end({ timeout: maxMs / 1000 })
  }
}

/** Runs a prepared statement. `execute` sends the statement now, so that statements are sent in the order of the calls; by default the client sends a query only when it is awaited. */
export function runStatement<T extends object>(
  sql: Sql | Transaction,
  { text, params }: Statement,
): postgres.PendingQuery<T[]> {
  return sql.unsafe<T[]>(text, [...params], { prepare: true }).execute()
}

/** Returns the host and the database of a URL for messages, without the user and the password. */
export function describeUrl(url: string): string {
  try {
    const { host, pathname } = new URL(url)
    return `PostgreSQL at ${host || 'localhost'}${pathname}`
  } catch {
    return 'PostgreSQL'
  }
}

/** Returns whether the error means that the connection is lost or that the server is about to close it. */
export function isConnectionLost(error: unknown): boolean {
  if (error instanceof postgres.PostgresError) return error.severity === 'FATAL' || error.severity === 'PANIC'
  // Codes that begin with CONNECT come from the client, and codes that begin with E come from the operating system, except ERR_ codes, which come from Node.js.
  return error instanceof Error && 'code' in error && /^(CONNECT|E(?!RR_))/.test(String(error.code))
}

/** Runs a transaction. If the connection is lost, the transaction rejects with the connection error, and no ROLLBACK is sent. */
export function runTransaction<T>(sql: Sql, work: (tx: Transaction) => Promise<T>): Promise<T> {
  const guarded = (tx: Transaction): Promise<T> =>
    work(tx).catch(error => {
      // Return a promise that never settles: after a rejection the client would send ROLLBACK on the closed socket. The client rejects the transaction by itself once the socket closes.
      if (isConnectionLost(error)) return new Promise<never>(() => {})
      throw error
    })
  return sql.begin('isolation level read committed read write', guarded) as Promise<T> // `begin` resolves with the result of `work`
}

/** Converts a database error to a Fault. Other errors are bugs and are returned unchanged. */
export function postgresFault(location: string, error: unknown): unknown {
  if (!(error instanceof Error) || error instanceof Fault || !('code' in error)) return error
  const key = String(error.code)
  const known = faultsByCode[key] ?? (isConnectionLost(error) ? unreachable : faultsByCode[key.slice(0, 2)])
  return known ? new Fault(known[0], `${location} ${known[1]} (${error.message})`) : error
}

const unreachable = [
  'store_unavailable',
  'cannot be reached. Check that it is running, and check host, port and network.',
] as const
const cannotServe = ['store_unavailable', 'cannot serve requests right now. Check its log, then try again.'] as const
const faultsByCode: Readonly<Record<string, readonly [FaultCode, string]>> = {
  '28P01': ['store_unavailable', 'refused the user or the password. Check both in the URL of the store.'],
  '28000': ['store_unavailable', 'refused this user. Check the URL of the store and pg_hba.conf.'],
  '3D000': ['store_unavailable', 'has no database with that name. Create it, or choose another one.'],
  '42501': [
    'store_unavailable',
    'does not allow this user to use the schema "holdpoint". Grant access, or use another user.',
  ],
  '25006': [
    'store_read_only',
    'is read-only because it is a standby server or is configured that way. Use the primary server.',
  ],
  '53100': ['store_full', 'has no space left on its disk. Free some space; this change was not stored.'],
  '55P03': ['store_locked', 'is locked by another gateway, which may be stuck. Find that gateway and restart it.'],
  '53': cannotServe,
  '57': cannotServe,
  '58': cannotServe,
  '08': unreachable,
  '40': cannotServe,
}
