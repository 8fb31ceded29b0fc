/** Connections to one PostgreSQL, what its errors mean in our words, and how its client behaves when a connection is lost. */
import { Fault, type FaultCode } from '@holdpoint/protocol'
import postgres from 'postgres'
import type { Statement } from './sql.ts'

export type Sql = postgres.Sql<{ bigint: number }>
export type Transaction = postgres.TransactionSql<{ bigint: number }>

export function connect(url: string, max: number): Sql {
  return postgres(url, {
    max,
    max_lifetime: null,
    connect_timeout: 10,
    // Nothing here needs the types of arrays, which the client would ask for at every connect.
    fetch_types: false,
    onnotice: () => {},
    // Places and instants are far below 2^53.
    types: { bigint: { to: 20, from: [20], parse: Number, serialize: String } },
    connection: {
      application_name: 'holdpoint',
      // A gateway that vanished while it held the head of the log must not stop the others for long.
      idle_in_transaction_session_timeout: 10_000,
      lock_timeout: 30_000,
    },
  })
}

/** Prepared once per connection, and sent in the order of the calls: the client by itself sends a query only when it is awaited. */
export function run<T extends object>(sql: Sql | Transaction, { text, params }: Statement): postgres.PendingQuery<T[]> {
  return sql.unsafe<T[]>(text, [...params], { prepare: true }).execute()
}

/** Where the archive is, for people; without the password. */
export function describeUrl(url: string): string {
  try {
    const { host, pathname } = new URL(url)
    return `PostgreSQL at ${host || 'localhost'}${pathname}`
  } catch {
    return 'PostgreSQL'
  }
}

/** Whether the connection is gone, or about to be closed by the server. */
export function isLost(error: unknown): boolean {
  if (error instanceof postgres.PostgresError) return error.severity === 'FATAL' || error.severity === 'PANIC'
  // The client's own codes of that kind, and those of the operating system.
  return error instanceof Error && 'code' in error && /^(CONNECT|E(?!RR_))/.test(String(error.code))
}

/** Where the connection is lost, nothing more is sent on its successor: `work` then never goes on, and the loss is what this rejects with. */
export function transact<T>(sql: Sql, work: (tx: Transaction) => Promise<T>): Promise<T> {
  const guarded = (tx: Transaction): Promise<T> =>
    work(tx).catch(error => {
      // The client would send its ROLLBACK on a socket that is gone. It rejects by itself once the socket closes.
      if (isLost(error)) return new Promise<never>(() => {})
      throw error
    })
  return sql.begin('isolation level read committed read write', guarded) as Promise<T> // it returns what `work` does
}

/** The fault that an error of the database means; other errors are bugs and stay what they are. */
export function faultOfPostgres(place: string, error: unknown): unknown {
  if (!(error instanceof Error) || error instanceof Fault || !('code' in error)) return error
  const key = String(error.code)
  const known = meanings[key] ?? (isLost(error) ? unreachable : meanings[key.slice(0, 2)])
  return known ? new Fault(known[0], `${place} ${known[1]} (${error.message})`) : error
}

const unreachable = [
  'store_unavailable',
  'cannot be reached. Check that it runs and that host, port and network are right.',
] as const
const troubled = ['store_unavailable', 'cannot serve right now. Look into its log; then try again.'] as const
const meanings: Readonly<Record<string, readonly [FaultCode, string]>> = {
  '28P01': ['store_unavailable', 'refuses the user or the password. Check both in the URL of the store.'],
  '28000': ['store_unavailable', 'refuses this user. Check the URL of the store and pg_hba.conf.'],
  '3D000': ['store_unavailable', 'has no database of that name. Create it, or name another one.'],
  '42501': ['store_unavailable', 'does not let this user use the schema "holdpoint". Grant it, or name another user.'],
  '25006': ['store_read_only', 'takes no writes: it is a standby or set to read-only. Name the primary.'],
  '53100': ['store_full', 'has no space left on its disk. Free some; nothing of this change was kept.'],
  '55P03': ['store_locked', 'is held by another gateway that does not finish. Look for one that hangs.'],
  '53': troubled,
  '57': troubled,
  '58': troubled,
  '08': unreachable,
  '40': troubled,
}
