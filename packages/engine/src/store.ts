/** The store interface: tables of rows and one event log, changed only together. The memory, SQLite and PostgreSQL stores implement it and pass one shared test suite. */
import type { EventBody, EventType, SessionId } from '@holdpoint/protocol'
import type { Rows, Table } from './rows.ts'

/** The current end of the log. */
export interface Head {
  readonly seq: number
  readonly hash: string
  /** Renewed at every open. Cursors carry it, so that a cursor from before a backup was restored is recognized. */
  readonly epoch: string
  /** The store's time at the last commit; it never goes backwards. */
  readonly at: number
  /** Grows with every change of the rules. A cache of rules compares it inside the transaction. */
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
  /** SHA-256 of the original `text`; it stays when the session is deleted and the text replaced. */
  readonly bodyHash: string
  /** SHA-256 of the previous event's hash, seq, epoch, at, session, type and bodyHash: the link of the hash chain. */
  readonly hash: string
}

type Scalar = string | number | null
/** Selects rows by the columns of `tables`, in the order of `ord`. */
export interface Query {
  readonly where?: Readonly<Record<string, Scalar | readonly Scalar[]>>
  /** column <= value, and not null */
  readonly atMost?: Readonly<Record<string, number>>
  /** column contains the text (already lower case) */
  readonly contains?: Readonly<Record<string, string>>
  readonly afterOrd?: number
  readonly beforeOrd?: number
  readonly newestFirst?: boolean
  readonly limit?: number
}

/** Selects events in log order or reversed. `after` and `before` are seqs and exclusive. */
export interface EventQuery {
  readonly after?: number
  readonly before?: number
  readonly newestFirst?: boolean
  readonly limit: number
  readonly session?: SessionId
  /** The types as originally written; purged events keep theirs. */
  readonly types?: readonly EventType[]
}

/** What `decide` may see: the rows named by the change's reads, as everything committed before it left them. */
export interface View {
  readonly now: number
  /** The seq that the first event of this change will get. */
  readonly nextSeq: number
  readonly rulesSeq: number
  get<K extends Table>(table: K, id: string): Rows[K] | undefined
  find<K extends Table>(table: K, query: Query): readonly Rows[K][]
}

export type Put = { readonly [K in Table]: { readonly table: K; readonly row: Rows[K] } }[Table]

/** The writes of a change; all are committed, or none. */
export interface Writes {
  readonly puts?: readonly Put[]
  readonly deletes?: readonly { readonly table: Table; readonly id: string }[]
  readonly events?: readonly { readonly session: SessionId | null; readonly body: EventBody }[]
  /** Deletes the session, its requests, commands and drafts, and the bodies of its events; their hashes stay. */
  readonly purge?: SessionId
}

export type Read = { readonly table: Table; readonly id: string } | { readonly table: Table; readonly query: Query }

/** One atomic change. `decide` must be pure and synchronous; it runs again if a commit has to be retried. */
export interface Change<T> {
  /** Names the change in crash points and error messages. */
  readonly label: string
  /** Must name every row and query that `decide` reads. */
  readonly reads: readonly Read[]
  decide(view: View): Writes & { readonly result: T }
}

/** Called between any two steps of a commit; tests kill the process there. */
export type CrashPoint = (point: string) => void

export interface Store {
  readonly kind: 'memory' | 'sqlite' | 'postgres'
  /** The change is durable when this resolves. Changes share a flush to disk, and are decided one after another. */
  commit<T>(change: Change<T>): Promise<T>
  get<K extends Table>(table: K, id: string): Promise<Rows[K] | undefined>
  find<K extends Table>(table: K, query: Query): Promise<readonly Rows[K][]>
  count(table: Table, query: Query): Promise<number>
  head(): Promise<Head>
  /** The store's time; it never goes backwards. */
  now(): Promise<number>
  events(query: EventQuery): Promise<readonly StoredEvent[]>
  /** The epoch in which the event with this seq was written; undefined if there is no such event. */
  epochAt(seq: number): Promise<string | undefined>
  /** Calls the listener after every commit of this process, with its events, in order and before `commit` resolves; with null if another process may have committed. */
  onCommit(listener: (events: readonly StoredEvent[] | null) => void): () => void
  /** Writes a consistent copy of everything into a new file; commits continue meanwhile. */
  backup(file: string): Promise<{ readonly bytes: number }>
  close(): Promise<void>
}
