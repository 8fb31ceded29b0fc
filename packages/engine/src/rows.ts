/** The row types of the store, and the columns and indexes by which rows are queried. The engine defines the tables here, and every store implements them. */
import {
  type Action,
  type Attachment,
  type AttachmentId,
  type Command,
  type Draft,
  type EventType,
  type JsonObject,
  type Person,
  type PersonId,
  type Request,
  type RequestId,
  type Role,
  type Rule,
  type RunnerId,
  type Session,
  type SessionId,
  type TokenId,
  tokenHintLength,
  type VariableValue,
  type WatcherRef,
  type Runner as WireRunner,
} from '@holdpoint/protocol'
import type { Firings, RecentCall, Spent, WatchFile } from '@holdpoint/rules'

export interface Lease {
  /** Null for the lease of an external agent, which has no runner. */
  readonly runner: RunnerId | null
  readonly incarnation: number
  /** When the lease of an external agent expires. The leases of a runner expire together with the runner. */
  readonly expiresAt?: number
}

/** A stored session. Unlike the wire view, it has neither its `pending` count nor the time that it has waited for people, which are in its usage row, and it has extra fields that only the gateway needs. `ord` is the log position at which the session was opened. */
export type SessionRow = Omit<Session, 'pending' | 'waitedMs' | 'waitingSince'> & {
  readonly ord: number
  /** The lease of the runner that drives the session now, or of its external agent; null if there is none. */
  readonly lease: Lease | null
  /** Incremented at every attach; agent-side writes with a lower fence are stale. */
  readonly fence: number
  /** Whether a turn has started, by a message or by the agent itself, and has not finished. */
  readonly turnOpen: boolean
  /** Whether a runner should attach: the session is new, or it is parked and its agent has an answer to take, a command to run or a turn to continue. */
  readonly needsRunner: boolean
  /** The id of the credential of an external session's agent: the agent opened the session with this credential, or the person who opened the session named it. The field is null if the session has no such credential. */
  readonly agent: TokenId | null
  /** The person who opened an external session and may also write on behalf of its agent; null in other sessions. */
  readonly openedBy: Person | null
  /** Number of consecutive attaches in which the agent did nothing. The number is limited, so that an agent that crashes its runner is not resumed forever. */
  readonly idleAttaches: number
  readonly commandSeq: number
  /** The account whose limits the session and its requests count towards: the agent's credential, or the person who started the session. Sessions of schema 3 have no account. */
  readonly account?: string
  /** The seq of the event that ended the last turn, and of the one that ended the session last; missing before the first end and in rows of schema 4. Rules that end with a turn or a session compare these with their own position in the log. */
  readonly turnEndedSeq?: number
  readonly endedSeq?: number
  /** The requests to which people asked back, oldest first, until the agent has opened the request that follows. Missing if there are none. */
  readonly askedBack?: readonly Pick<Request, 'id' | 'agentPath'>[]
}
/** The encrypted secrets of an answer. */
export interface SealedAnswer {
  /** The id of the key. */
  readonly key: string
  readonly iv: string
  readonly data: string
  /** A keyed hash of the secrets, to compare them with those of a repeated answer. */
  readonly mac: string
}
export type RequestRow = Request & {
  readonly ord: number
  /** The account of the session, and the size of the ask as JSON. Requests of schema 3 have neither. */
  readonly account?: string
  readonly bytes?: number
  /** The fence under which the answer was handed to the agent. */
  readonly handedFence: number | null
  /** The secrets of the answer, until the agent has them or can no longer get them. In rows of schema 3, the answer itself contains them. */
  readonly sealed?: SealedAnswer | null
  /** The seq of the `request.resolved` event; missing in rows of schema 3. */
  readonly resolvedSeq?: number
  /** The limits of watchers that were reached, so that people are asked. An allow raises these limits. */
  readonly limits?: readonly RaisedLimit[]
  /** For a request of the gateway itself, the text that sends the agent back to work. */
  readonly sendBack?: string
}
/** How far an allow of a person raises the limit of a watcher in the session. `file` is the id of the `WatchFile`. */
export interface RaisedLimit {
  readonly file: string
  readonly watcher: string
  readonly upTo: number
}
export type CommandRow = Command & { readonly ord: number }
/** A file of a message, without its content. */
export type AttachmentRow = Pick<Attachment, 'type' | 'mediaType' | 'name'> & {
  readonly id: AttachmentId
  readonly ord: number
  readonly session: SessionId
  /** The person who added the file and may append to it and send it. */
  readonly person: PersonId
  readonly addedAt: number
  readonly bytes: number
  /** The SHA-256 of each part. */
  readonly partDigests: readonly string[]
  readonly isSent: boolean
}
/** A part of the content of a file. The id consists of the id of the file and the number of the part. */
export interface PartRow {
  readonly id: string
  readonly ord: number
  readonly session: SessionId
  /** In base64. */
  readonly data: string
}
export type RunnerRow = Omit<WireRunner, 'live'> & { readonly ord: number }
/** The id consists of the ids of request and person. */
export type DraftRow = Draft & { readonly id: string; readonly session: SessionId; readonly ord: number }
/** The id is the SHA-256 of caller, operation and key. */
export interface IdempotencyRow {
  readonly id: string
  readonly ord: number
  readonly at: number
  readonly bodyHash: string
  readonly status: number
  readonly body: unknown
}
/** The id is the SHA-256 of the secret; the secret itself is not stored. */
export interface TokenRow {
  readonly id: string
  readonly ord: number
  /** The public id of the token. */
  readonly token: TokenId
  readonly kind: 'bearer' | 'cookie' | 'link'
  readonly role: Role
  /** The id of the person (`per_…`) or runner (`run_…`) that the token belongs to. An agent is known only by its token, so this is then the public id of its first token. */
  readonly subject: PersonId | RunnerId | TokenId
  /** The name of the person or program, for display only. */
  readonly name: string
  /** The tokens from which this one descends: the token that created it is the last, the token that created that one is before it, and so on. Revoking any of them revokes this token. */
  readonly madeBy: readonly TokenId[]
  readonly madeAt: number
  readonly expiresAt: number | null
  /** When the token was revoked, or null. A revoked token is kept for a while, so that an attempt to use it can be recognized and recorded. */
  readonly revokedAt: number | null
  /** For the tokens of the owner and the runner that a data folder holds in a file, the id of that data folder; null for all others. */
  readonly dataFolder: RunnerId | null
  /** Set for tokens of schema 3, which did not record who created a token. Any token of the owner may have created them. */
  readonly creatorUnknown?: true
  /** When the token was last used, to the minute. */
  readonly lastUsedAt?: number
  /** For a cookie, the SHA-256 of the secret that the page must send with it. A cookie without this field signs nobody in. */
  readonly pageSecretHash?: string
}
export type RuleRow = Rule & { readonly ord: number }
/** How often a rule has answered. The id is that of the rule. These counts are not part of the rule, so that an answer does not make every gateway load the rules again. */
export interface RuleUseRow {
  readonly id: string
  readonly ord: number
  readonly uses: number
  readonly lastUsedAt: number
}
/** The number of open requests of a session, or of open requests and sessions of an account. Every change of a request updates these counts, so that no operation has to count requests. The id is that of the session or the account. */
export interface UsageRow {
  readonly id: string
  readonly ord: number
  /** The session; null for an account. */
  readonly session: SessionId | null
  /** The sessions of an account that have not ended. */
  readonly sessions: number
  readonly pending: number
  readonly pendingBytes: number
  /** The resolutions that wait to be delivered, and those that were handed to the agent and not taken yet. Only counted for sessions. */
  readonly waiting: number
  readonly handed: number
  /** How long the session has waited for people, without the current time, and since when it waits now. Only measured for sessions. `waitingSince` is missing while nothing is pending, and both are missing in rows of schema 6 until the number of pending requests changes. */
  readonly waitedMs?: number
  readonly waitingSince?: number
}

/** One version of a file with watchers that is in force. The id is made of the runner, the path, and whether this is the trusted version. */
export type WatchFileRow = WatchFile & { readonly ord: number; readonly runner: RunnerId }

export interface StoredVariable {
  readonly value: VariableValue
  readonly at: number
  /** The name of the watcher, the person or the agent that set the value. */
  readonly by: string
}
/** A call of the session. Its details are needed until it has finished, and only for the latest calls. */
export interface WatchedCall extends RecentCall {
  readonly details?: { readonly cwd: string; readonly action?: Action; readonly input?: JsonObject }
}
/** What watchers said about a moment. The key contains the moment and the agent's own id. */
export interface WatchReply {
  readonly key: string
  /** The digest of the call, at "before". A call with another digest is another one, even if it has the same key. */
  readonly digest?: string
  readonly verdict?: 'deny' | 'ask'
  readonly reason?: string
  readonly watcher?: WatcherRef
  readonly limits?: readonly RaisedLimit[]
  readonly say: readonly string[]
}
/** What the watchers of a session remember. The id is that of the session. There is no row before the first moment that a watcher could see. */
export interface WatchStateRow {
  readonly id: SessionId
  readonly ord: number
  /** Whether the moment "start" was evaluated. */
  readonly started: boolean
  /** The variables that were set, by the id of the file and their name. */
  readonly values: Readonly<Record<string, Readonly<Record<string, StoredVariable>>>>
  /** By the id of the file and the name of the watcher, separated by a space. */
  readonly fired: Readonly<Record<string, Firings>>
  /** How often in a row the agent was sent back to work without a message of a person. */
  readonly sentBack: number
  /** Whether the agent itself has reported the end of the turn that is running. */
  readonly stopReported: boolean
  /** The gateway's own request whether the agent may stop, until it is resolved. */
  readonly stopRequest: RequestId | null
  /** Texts that the agent has not been given yet. */
  readonly texts: readonly string[]
  readonly calls: readonly WatchedCall[]
  readonly replies: readonly WatchReply[]
  readonly work: {
    readonly tokens: number
    readonly turns: number
    readonly workedMs: number
    /** The part of `workedMs` that the totals of the day and the folder contain. */
    readonly totalledMs: number
    /** When the worked time was last updated, and how long the session had waited for people by then. */
    readonly at: number
    readonly waitedMs: number
    /** What the running turn has used so far. Missing if the agent has not reported it. */
    readonly running?: { readonly tokens: number; readonly cost: number }
  }
}
/** What all sessions of a day or of a folder have used, since a watcher has had a limit for it. */
export type SpentRow = Spent & { readonly id: string; readonly ord: number }

export interface Rows {
  readonly session: SessionRow
  readonly request: RequestRow
  readonly command: CommandRow
  readonly attachment: AttachmentRow
  readonly part: PartRow
  readonly runner: RunnerRow
  readonly draft: DraftRow
  readonly idempotency: IdempotencyRow
  readonly token: TokenRow
  readonly rule: RuleRow
  readonly usage: UsageRow
  readonly ruleuse: RuleUseRow
  readonly watchfile: WatchFileRow
  readonly watchstate: WatchStateRow
  readonly spent: SpentRow
}
export type Table = keyof Rows

/** The types of the events that the audit log lists. The stores have indexes for exactly these types in this order, so a change of this list needs a migration. */
export const auditTypes = [
  'request.resolved',
  'session.deleted',
  'rule.added',
  'rule.changed',
  'rule.removed',
  'token.added',
  'token.removed',
  'token.exposed',
  'attempt.refused',
  'clock.jumped',
  'store.restored',
  'store.lost',
] as const satisfies readonly EventType[]

type ColumnValue = string | number | null
interface TableSpec<Row> {
  /** Columns that queries may name, and how each is derived from the row. Numbers are integers. */
  readonly columns: Readonly<Record<string, { readonly type: 'text' | 'int'; readonly of: (row: Row) => ColumnValue }>>
  /** The columns of each index, to which `ord` is appended. An empty list is an index for paging through the whole table. */
  readonly indexes: readonly (readonly string[])[]
  /** Fields that never change after the insert; updates do not write them again. */
  readonly fixed: readonly (keyof Row & string)[]
}

/** The table definitions. The column `open` is null for rows that need no more attention, so the partial indexes on `open` stay small however long the history is. */
export const tables: { readonly [K in Table]: TableSpec<Rows[K]> } = {
  session: {
    columns: {
      state: { type: 'text', of: row => row.state },
      driver: { type: 'text', of: row => row.driver },
      runner: { type: 'text', of: row => row.lease?.runner ?? null },
      needsRunner: { type: 'int', of: row => (row.needsRunner ? 1 : null) },
      endedAt: { type: 'int', of: row => row.endedAt },
      agent: { type: 'text', of: row => row.agent },
      leaseExpiresAt: { type: 'int', of: row => row.lease?.expiresAt ?? null },
      search: { type: 'text', of: row => `${row.title}\n${row.cwd}\n${row.driver}`.toLowerCase() },
    },
    indexes: [[], ['state'], ['runner'], ['needsRunner'], ['endedAt'], ['agent'], ['leaseExpiresAt']],
    fixed: [],
  },
  request: {
    columns: {
      session: { type: 'text', of: row => row.session },
      status: { type: 'text', of: row => row.status },
      open: { type: 'int', of: openCodeOf },
      dueAt: { type: 'int', of: row => (row.status === 'pending' && !row.overdue ? row.deadlineAt : null) },
    },
    indexes: [[], ['status'], ['session'], ['open', 'session'], ['dueAt']],
    fixed: [
      'session',
      'key',
      'agentPath',
      'ask',
      'digest',
      'risk',
      'openedAt',
      'deadlineAt',
      'onDeadline',
      'needs',
      'ord',
      'account',
      'bytes',
      'watcher',
      'limits',
      'sendBack',
    ],
  },
  command: {
    columns: {
      session: { type: 'text', of: row => row.session },
      open: { type: 'int', of: row => (row.state === 'done' ? null : 1) },
    },
    indexes: [['session'], ['open', 'session']],
    fixed: ['session', 'seq', 'body', 'madeBy', 'madeAt', 'ord'],
  },
  attachment: {
    columns: {
      session: { type: 'text', of: row => row.session },
      unsentSince: { type: 'int', of: row => (row.isSent ? null : row.addedAt) },
    },
    indexes: [['session'], ['unsentSince']],
    fixed: [],
  },
  part: {
    columns: { session: { type: 'text', of: row => row.session } },
    indexes: [['session']],
    fixed: ['session', 'data'],
  },
  runner: { columns: { expiresAt: { type: 'int', of: row => row.expiresAt } }, indexes: [], fixed: [] },
  draft: {
    columns: { request: { type: 'text', of: row => row.request }, session: { type: 'text', of: row => row.session } },
    indexes: [['request'], ['session']],
    fixed: [],
  },
  idempotency: { columns: { at: { type: 'int', of: row => row.at } }, indexes: [['at']], fixed: [] },
  token: {
    columns: {
      token: { type: 'text', of: row => row.token },
      hint: { type: 'text', of: row => row.id.slice(0, tokenHintLength) },
      expiresAt: { type: 'int', of: row => row.expiresAt },
    },
    indexes: [['token'], ['hint'], ['expiresAt']],
    fixed: [],
  },
  rule: { columns: {}, indexes: [], fixed: [] },
  usage: {
    columns: { session: { type: 'text', of: row => row.session } },
    indexes: [['session']],
    fixed: [],
  },
  ruleuse: { columns: {}, indexes: [], fixed: [] },
  watchfile: { columns: {}, indexes: [], fixed: [] },
  watchstate: {
    columns: { session: { type: 'text', of: row => row.id } },
    indexes: [['session']],
    fixed: [],
  },
  spent: { columns: {}, indexes: [], fixed: [] },
}

/** The values of the column `open` of requests: an open request is pending, or its resolution is waiting or handed. */
export const openCodes = { pending: 1, waiting: 2, handed: 3 } as const

function openCodeOf({ status, delivery }: RequestRow): number | null {
  if (status === 'pending') return openCodes.pending
  return delivery.state === 'waiting' || delivery.state === 'handed' ? openCodes[delivery.state] : null
}
