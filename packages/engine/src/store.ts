/** The archive's port: tables of rows and one log, changed only together. Memory, SQLite and PostgreSQL implement it; one suite holds them to it. */
import type { EventBody, EventType, SessionId } from '@holdpoint/protocol'
import type { Rows, Table } from './rows.ts'

/** The end of the log. */
export interface Head {
  readonly seq: number
  readonly hash: string
  /** Renewed at every open, so that a restored backup is noticed: events written after it carry another epoch. */
  readonly epoch: string
  /** The store's clock as of the last commit: it never goes backwards. */
  readonly at: number
  /** The place of the last change of rules: who caches rules compares it inside the transaction. */
  readonly rulesAt: number
}

export interface StoredEvent {
  readonly seq: number
  readonly epoch: string
  readonly at: number
  readonly session: SessionId | null
  readonly type: EventType
  readonly body: EventBody
  /** The body as it is kept and hashed: its JSON, to the byte. */
  readonly text: string
  /** SHA-256 of `text`; it outlives the text when a session is deleted. */
  readonly bodyHash: string
  /** SHA-256 of the previous hash, seq, epoch, at, session, type and bodyHash: one chain. */
  readonly hash: string
}

type Scalar = string | number | null
/** Columns are those of `tables`. Rows come in the order of `ord`. */
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

/** Events in the order of the log, or in its reverse; the places `after` and `before` are themselves left out. */
export interface EventQuery {
  readonly after?: number
  readonly before?: number
  readonly newestFirst?: boolean
  readonly limit: number
  readonly session?: SessionId
  /** As they were written: a purged event keeps its type here. */
  readonly types?: readonly EventType[]
}

/** What a decision may see. Rows are those named by the change's reads, as left by everything committed before it. */
export interface View {
  readonly now: number
  /** The place that the first event of this change will get. */
  readonly nextSeq: number
  readonly rulesAt: number
  get<K extends Table>(table: K, id: string): Rows[K] | undefined
  find<K extends Table>(table: K, query: Query): readonly Rows[K][]
}

export type Put = { readonly [K in Table]: { readonly table: K; readonly row: Rows[K] } }[Table]

/** What to write, all of it or nothing. */
export interface Writes {
  readonly puts?: readonly Put[]
  readonly dels?: readonly { readonly table: Table; readonly id: string }[]
  readonly events?: readonly { readonly session: SessionId | null; readonly body: EventBody }[]
  /** Deletes the session, its requests, commands and drafts, and empties the bodies of its events; their hashes stay. */
  readonly purge?: SessionId
}

export type Read = { readonly table: Table; readonly id: string } | { readonly table: Table; readonly query: Query }

/** One indivisible change. `decide` is pure and synchronous; it may be run again where a commit had to be retried. */
export interface Change<T> {
  /** For fault points and for people who read logs. */
  readonly label: string
  /** Every row that `decide` will get or find must be named here. */
  readonly reads: readonly Read[]
  decide(view: View): Writes & { readonly result: T }
}

/** Called between any two steps that a crash could separate; tests end the process there. */
export type CrashPoint = (point: string) => void

export interface Store {
  readonly kind: 'memory' | 'sqlite' | 'postgres'
  /** Durable when it resolves. Many changes share one flush to disk; each is decided after the one before it. */
  commit<T>(change: Change<T>): Promise<T>
  get<K extends Table>(table: K, id: string): Promise<Rows[K] | undefined>
  find<K extends Table>(table: K, query: Query): Promise<readonly Rows[K][]>
  count(table: Table, query: Query): Promise<number>
  head(): Promise<Head>
  /** The store's clock. */
  now(): Promise<number>
  events(query: EventQuery): Promise<readonly StoredEvent[]>
  /** The epoch in which the event at this place was written; undefined where there is none. */
  epochAt(seq: number): Promise<string | undefined>
  /** Called after every commit of this process with its events, in order and before `commit` resolves; with null where something may have happened elsewhere. */
  onCommit(listener: (events: readonly StoredEvent[] | null) => void): () => void
  /** Copies everything, consistently, into a new file while work goes on. */
  backup(file: string): Promise<{ readonly bytes: number }>
  close(): Promise<void>
}
