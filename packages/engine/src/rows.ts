/** What the archive keeps: one row type per table, and the columns by which rows are found. The engine owns the shapes, the stores only keep them. */
import type {
  Command,
  Draft,
  Request,
  Role,
  Rule,
  RunnerId,
  Session,
  SessionId,
  Runner as WireRunner,
} from '@holdpoint/protocol'

export interface Lease {
  readonly runner: RunnerId | null
  readonly incarnation: number
}

/** A session without what is counted when it is read (`pending`), with what only the gateway needs. `ord` is its place in the log. */
export type SessionRow = Omit<Session, 'pending'> & {
  readonly ord: number
  /** Who drives it now. Null: nobody, a runner may attach. */
  readonly lease: Lease | null
  /** Grows with every attach; an agent-side write with a lower one is stale. */
  readonly fence: number
  /** A turn has begun, by a message or by the agent itself, and has not finished. */
  readonly turnOpen: boolean
  /** A parked session has something for its agent (a resolution, a command): a runner should bring it back. */
  readonly needsRunner: boolean
  /** Where its agent lives elsewhere: that agent's credential, which opened it or was named at its start. */
  readonly agent: string | null
  /** Where its agent lives elsewhere and a person opened it: who, and nobody else, may speak for the agent too. */
  readonly person: string | null
  /** Attaches in a row in which its agent did nothing: one that brings down its runner must not be brought back for ever. */
  readonly idleAttaches: number
  readonly commandSeq: number
}
export type RequestRow = Request & {
  readonly ord: number
  /** The fence under which the resolution was handed. */
  readonly handedFence: number | null
}
export type CommandRow = Command & { readonly ord: number }
export type RunnerRow = Omit<WireRunner, 'live'> & { readonly ord: number }
/** id: request and person. */
export type DraftRow = Draft & { readonly id: string; readonly session: SessionId; readonly ord: number }
/** id: caller, operation and key, hashed. */
export interface IdempotencyRow {
  readonly id: string
  readonly ord: number
  readonly at: number
  readonly bodyHash: string
  readonly status: number
  readonly body: unknown
}
/** id: the SHA-256 of the secret; the secret itself is kept nowhere. */
export interface TokenRow {
  readonly id: string
  readonly ord: number
  readonly token: string
  readonly kind: 'bearer' | 'cookie' | 'link'
  readonly role: Role
  readonly name: string
  readonly madeAt: number
  readonly expiresAt: number | null
}
export type RuleRow = Rule & { readonly ord: number }

export interface Rows {
  readonly session: SessionRow
  readonly request: RequestRow
  readonly command: CommandRow
  readonly runner: RunnerRow
  readonly draft: DraftRow
  readonly idem: IdempotencyRow
  readonly token: TokenRow
  readonly rule: RuleRow
}
export type Table = keyof Rows

type Value = string | number | null
interface TableSpec<Row> {
  /** Columns that queries may name, and how each is read off the row. Numbers are integers. */
  readonly columns: Readonly<Record<string, { readonly type: 'text' | 'int'; readonly of: (row: Row) => Value }>>
  /** Columns in the order of the index that serves them; `ord` stands last in each by itself; an empty list serves those who page through the whole table. */
  readonly indexes: readonly (readonly string[])[]
  /** Members that never change after the insert: updates do not write them again. */
  readonly fixed: readonly (keyof Row & string)[]
}

/** `open`: pending, or resolved and its delivery not settled. Settled requests leave the small indexes, so history costs nothing. */
export const tables: { readonly [K in Table]: TableSpec<Rows[K]> } = {
  session: {
    columns: {
      state: { type: 'text', of: row => row.state },
      driver: { type: 'text', of: row => row.driver },
      runner: { type: 'text', of: row => row.lease?.runner ?? null },
      needsRunner: { type: 'int', of: row => (row.needsRunner ? 1 : null) },
      endedAt: { type: 'int', of: row => row.endedAt },
      search: { type: 'text', of: row => `${row.title}\n${row.cwd}\n${row.driver}`.toLowerCase() },
    },
    indexes: [[], ['state'], ['runner'], ['needsRunner'], ['endedAt']],
    fixed: [],
  },
  request: {
    columns: {
      session: { type: 'text', of: row => row.session },
      status: { type: 'text', of: row => row.status },
      open: { type: 'int', of: row => (isOpen(row) ? 1 : null) },
      dueAt: { type: 'int', of: row => (row.status === 'pending' && !row.overdue ? row.deadlineAt : null) },
    },
    indexes: [[], ['status'], ['session'], ['open', 'session'], ['dueAt']],
    fixed: ['session', 'key', 'agentPath', 'ask', 'digest', 'openedAt', 'deadlineAt', 'onDeadline', 'needs', 'ord'],
  },
  command: {
    columns: {
      session: { type: 'text', of: row => row.session },
      open: { type: 'int', of: row => (row.state === 'done' ? null : 1) },
    },
    indexes: [['session'], ['open', 'session']],
    fixed: ['session', 'seq', 'body', 'madeBy', 'madeAt', 'ord'],
  },
  runner: { columns: { expiresAt: { type: 'int', of: row => row.expiresAt } }, indexes: [], fixed: [] },
  draft: {
    columns: { request: { type: 'text', of: row => row.request }, session: { type: 'text', of: row => row.session } },
    indexes: [['request'], ['session']],
    fixed: [],
  },
  idem: { columns: { at: { type: 'int', of: row => row.at } }, indexes: [['at']], fixed: [] },
  token: {
    columns: { token: { type: 'text', of: row => row.token }, expiresAt: { type: 'int', of: row => row.expiresAt } },
    indexes: [['token'], ['expiresAt']],
    fixed: [],
  },
  rule: { columns: {}, indexes: [], fixed: [] },
}

function isOpen(row: RequestRow): boolean {
  return row.status === 'pending' || row.delivery.state === 'waiting' || row.delivery.state === 'handed'
}
