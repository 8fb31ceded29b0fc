/** The interface of a store. A store has tables of rows and one event log, and changes both in one transaction. The memory, SQLite and PostgreSQL stores implement this interface and pass the same test suite. */
import type { EventBody, EventType, SessionId } from '@holdpoint/protocol'
import type { Rows, Table } from './rows.ts'

/** The current end of the log. */
export interface Head {
  readonly seq: number
  readonly hash: string
  /** Replaced each time the store is opened. A cursor contains the epoch of its event, so a cursor to an event that a restore removed does not match a later event with the same seq. */
  readonly epoch: string
  /** The store's time at the last commit; it never goes backwards. */
  readonly at: number
  /** Grows with every change of the rules and of the files with watchers. What was loaded at another `rulesSeq` is stale. */
  readonly rulesSeq: number
}

export interface StoredEvent {
  readonly seq: number
  readonly epoch: string
  readonly at: number
  readonly session: SessionId | null
  readonly type: EventType
  readonly body: EventBody
  /** The JSON of the body, exactly as it is stored and hashed. */
  readonly text: string
  /** SHA-256 of the original `text`. The hash stays the same when the session is deleted and the text is replaced. */
  readonly bodyHash: string
  /** This event's link in the hash chain: SHA-256 of the previous event's hash and this event's seq, epoch, at, session, type and bodyHash. */
  readonly hash: string
}

type Scalar = string | number | null
/** Selects rows by the columns that `tables` defines. Rows are sorted by `ord`, ascending unless `newestFirst` is set. */
export interface Query {
  readonly where?: Readonly<Record<string, Scalar | readonly Scalar[]>>
  /** Selects rows in which the column is at most this value and not null. */
  readonly atMost?: Readonly<Record<string, number>>
  /** Selects rows in which the column contains this string. The column `search` is lower case, so the string must be lower case too. */
  readonly contains?: Readonly<Record<string, string>>
  readonly afterOrd?: number
  readonly beforeOrd?: number
  readonly newestFirst?: boolean
  readonly limit?: number
}

/** Selects events in log order or newest first. `after` and `before` are exclusive seqs. */
export interface EventQuery {
  readonly after?: number
  readonly before?: number
  readonly newestFirst?: boolean
  readonly limit: number
  readonly session?: SessionId
  /** Selects events by their original type, which a purged event keeps. */
  readonly types?: readonly EventType[]
}

/** The data that `decide` may read: the time, the next seq, and the rows that the change's `reads` select, as all earlier changes left them. */
export interface View {
  readonly now: number
  /** The seq that the first event of this change will get. */
  readonly nextSeq: number
  readonly rulesSeq: number
  get<K extends Table>(table: K, id: string): Rows[K] | undefined
  find<K extends Table>(table: K, query: Query): readonly Rows[K][]
}

export type Put = { readonly [K in Table]: { readonly table: K; readonly row: Rows[K] } }[Table]

/** The writes of a change, of which either all or none are committed. */
export interface Writes {
  readonly puts?: readonly Put[]
  readonly deletes?: readonly { readonly table: Table; readonly id: string }[]
  readonly events?: readonly { readonly session: SessionId | null; readonly body: EventBody }[]
  /** Deletes the session, its requests, commands and drafts, and replaces the bodies of its earlier events with `{"type":"purged"}`. The hashes of the events stay. */
  readonly purge?: SessionId
}

export type Read = { readonly table: Table; readonly id: string } | { readonly table: Table; readonly query: Query }

/** Thrown by a view if `decide` reads something that is not among the reads of the change. The change can be committed again with this read. */
export class MissingRead extends Error {
  readonly read: Read
  constructor(read: Read) {
    super(`decide() reads ${JSON.stringify(read)}, which is not in the reads of the change`)
    this.read = read
  }
}

/** One atomic change. `decide` must be pure and synchronous, because it runs again if the commit has to be retried. */
export interface Change<T> {
  /** Names the change in crash points and error messages. */
  readonly label: string
  /** Must name every row and query that `decide` reads. A view throws `MissingRead` for any other. */
  readonly reads: readonly Read[]
  decide(view: View): Writes & { readonly result: T }
}

/** A change of the clock that a store follows. */
export interface ClockJump {
  /** By how many milliseconds the clock was set; negative if it was set back. */
  readonly ms: number
  /** By how many milliseconds the store's time is ahead of the clock since then. */
  readonly aheadMs: number
  /** Whether the store found the clock behind its last commit when it was opened. */
  readonly atStart: boolean
}

/** Called with the name of each point that a commit or a restore reaches, such as `written:open`. Tests kill the process there. */
export type CrashPoint = (point: string) => void

/** The keys of secret answers. They are stored apart from rows, events and backups, so that a deleted key is gone. */
export interface KeyStore {
  /** Resolves when the key is durable. */
  put(id: string, key: string): Promise<void>
  get(id: string): Promise<string | undefined>
  delete(ids: readonly string[]): Promise<void>
  /** Resolves with the ids of the keys that are older than `ageMs`. */
  list(ageMs: number): Promise<readonly string[]>
  /** Makes sure that the other gateways on the same store have the key. */
  share(id: string): Promise<void>
}

export interface Store {
  readonly kind: 'memory' | 'sqlite' | 'postgres'
  /** Resolves when the change is durable. Changes are decided one after another, and changes that arrive together share a flush to disk. */
  commit<T>(change: Change<T>): Promise<T>
  readonly keys: KeyStore
  get<K extends Table>(table: K, id: string): Promise<Rows[K] | undefined>
  find<K extends Table>(table: K, query: Query): Promise<readonly Rows[K][]>
  count(table: Table, query: Query): Promise<number>
  head(): Promise<Head>
  /** Resolves with the store's time. It never goes backwards, and keeps running if the clock is set back. */
  now(): Promise<number>
  /** Returns the jumps of the clock since the last call. */
  takeClockJumps(): readonly ClockJump[]
  events(query: EventQuery): Promise<readonly StoredEvent[]>
  /** Resolves with the epoch in which the event with this seq was written; undefined if there is no such event. */
  epochAt(seq: number): Promise<string | undefined>
  /** The `bodyHash` of the event with this seq; undefined if there is no such event. */
  bodyHashAt(seq: number): Promise<string | undefined>
  /** Calls the listener with the events of every commit of this process, in order and before `commit` resolves. Calls the listener with null if another process may have committed. */
  onCommit(listener: (events: readonly StoredEvent[] | null) => void): () => void
  /** Writes a consistent copy of the store into a new file while commits continue. Only the SQLite store supports this; the others reject with a Fault. */
  backup(file: string): Promise<{ readonly bytes: number }>
  close(): Promise<void>
}
