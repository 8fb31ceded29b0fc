/** All limits of Holdpoint. Names of counts and lengths end in `Max`, names of sizes contain `Bytes`, and names of durations end in `Ms`. */
export const limits = {
  // HTTP and connections
  bodyMaxBytes: 1024 * 1024,
  /** The largest body of an operation that needs no credential. */
  publicBodyMaxBytes: 8 * 1024,
  headersMaxBytes: 16 * 1024,
  headersMax: 100,
  connectionsMax: 10_000,
  headersTimeoutMs: 10_000,
  bodyTimeoutMs: 30_000,
  /** How long the gateway waits for open requests when it stops. The gateway must stop within 5 seconds, and the store needs the remaining time to write. */
  drainMaxMs: 3000,

  // WebSocket
  inboundFrameMaxBytes: 256 * 1024,
  /** The number of fragments of one message. */
  messageFragmentsMax: 1024,
  /** The number of pieces in which the network may deliver one frame. */
  framePiecesMax: 2048,
  /** The total size of the requests that wait or run on one socket. Above this limit the gateway stops reading from the socket. */
  socketRequestsMaxBytes: 4 * 1024 * 1024,
  /** The number of replies that a client may leave unread. Above this limit the gateway stops reading from the socket. */
  queuedRepliesMax: 1000,
  /** The number of pings that a client may send between two heartbeats. */
  pingsMax: 1000,
  /** The gateway splits larger messages into fragments of this size and sends them one at a time. */
  fragmentMaxBytes: 256 * 1024,

  // Input
  jsonDepthMax: 64,
  /** The number of values in one JSON text. Many small values take much longer to process than one long string of the same size. */
  jsonValuesMax: 10_000,
  keyMax: 200,
  nameMax: 200,
  titleMax: 300,
  pathMax: 4096,
  labelMax: 500,
  textMax: 256 * 1024,
  reasonMax: 8 * 1024,
  commentsMax: 100,
  commentMax: 4 * 1024,
  /** The length of the line that a comment quotes. */
  quoteMax: 500,
  /** The length of all comments of an answer together, as JSON. Comments of this length fit into a draft. */
  commentsTotalMax: 48 * 1024,
  attachmentMaxBytes: 5 * 1024 * 1024,
  /** The size of each part of an attachment but the last. A part in base64 fits into one frame of a socket, and parts in base64 can be joined because the size is a multiple of 3. */
  attachmentPartMaxBytes: 180 * 1024,
  attachmentsMax: 8,
  /** The total size of the attachments of one message. */
  attachmentsMaxBytes: 16 * 1024 * 1024,
  /** The number of attachments of one session that no message has sent yet, and how long the gateway keeps them. */
  unsentAttachmentsMax: 32,
  unsentAttachmentKeepMs: 24 * 3600 * 1000,
  /** The largest input of a tool, as JSON. This is smaller than `bodyMaxBytes`, so that the other fields of the ask fit into the same body. */
  toolInputMaxBytes: 960 * 1024,
  questionsMax: 16,
  optionsMax: 64,
  suggestionsMax: 32,
  fieldsMax: 64,
  agentPathMax: 16,
  actionPathsMax: 1000,
  batchAnswersMax: 100,
  eventsPerPostMax: 200,
  blockMaxBytes: 512 * 1024,
  draftMaxBytes: 64 * 1024,
  rulesMax: 10_000,
  rulesPerFileMax: 200,
  watchersPerFileMax: 200,
  variablesPerFileMax: 100,
  /** The length of a condition of a watcher. */
  conditionMax: 2000,
  variableTextMax: 4096,
  /** The size of all variables of a session, as JSON. */
  variablesMaxBytes: 64 * 1024,
  /** The number of the last calls of a session that `recent` returns. */
  recentCallsMax: 100,
  /** The part of the output of a tool that conditions can read. */
  resultTextMax: 4096,
  /** The length of the command of a rule. All rules are read again when one changes. */
  ruleCommandMax: 32 * 1024,
  /** The number of resolved requests, and of pending ones, with which a rule is compared for a preview. */
  previewRequestsMax: 1000,
  deadlineMinMs: 1000,
  deadlineMaxMs: 366 * 24 * 3600 * 1000,

  // Pages and long polls
  pageMax: 500,
  pageDefault: 100,
  pageMaxBytes: 2 * 1024 * 1024,
  /** The largest number of rows to read from the store at a time for a page that is limited by bytes. */
  readAheadMax: 128,
  /** The number and the size of the resolutions that one search of the audit log reads. */
  auditScanMax: 5000,
  auditScanMaxBytes: 8 * 1024 * 1024,
  waitMaxMs: 60_000,

  // Sessions and requests
  pendingPerSessionMax: 1000,
  /** The total size of the asks of all pending requests of one session, as JSON. */
  pendingBytesPerSessionMax: 16 * 1024 * 1024,
  /** The number and the size of the pending requests in all sessions of one agent's credential, and of the sessions that one person started. */
  pendingPerAgentMax: 500,
  pendingBytesPerAgentMax: 32 * 1024 * 1024,
  pendingPerPersonMax: 20_000,
  pendingBytesPerPersonMax: 256 * 1024 * 1024,
  /** The number of sessions of one agent's credential, and of one person, that have not ended. */
  sessionsPerAgentMax: 1000,
  sessionsPerPersonMax: 20_000,
  waitingCommandsMax: 1000,
  /** The number of characters in the messages of one session that its agent has not finished. Every change of a session reads them. */
  waitingTextMax: 1024 * 1024,
  /** The number of consecutive attaches without progress after which a session ends, because its agent probably crashes the runner. */
  idleAttachesMax: 5,

  // The stream
  /** The total size of the frames that a client may leave unread before the gateway disconnects the client. */
  subscriptionBufferMaxBytes: 4 * 1024 * 1024,
  snapshotMax: 200,
  /** The largest size of each part of `hello`: sessions, requests, streaming blocks. */
  snapshotMaxBytes: 2 * 1024 * 1024,
  resumeEventsMax: 5000,
  resumeMaxBytes: 4 * 1024 * 1024,
  blocksPerSessionMax: 64,
  /** The shortest time between two deltas of a session. */
  deltaIntervalMs: 50,
  heartbeatMs: 15_000,
  /** A client reconnects if it has received nothing for this time, not even a heartbeat. */
  streamSilenceMaxMs: 40_000,
  /** The gateway disconnects a client that leaves bytes unread and has read nothing for this time. */
  unreadMaxMs: 30_000,
  /** The gateway sends larger amounts to an HTTP client in parts of this size, so that it can tell whether the client still reads. */
  httpPartMaxBytes: 64 * 1024,

  // Credentials
  /** The number of wrong tokens and codes per minute from one address, after which wrong ones get 429 instead of 401. */
  wrongAttemptsMax: 100,
  /** The number of wrong tokens and codes per minute from all addresses together. */
  wrongAttemptsTotalMax: 1000,
  idempotencyKeepMs: 24 * 3600 * 1000,
  linkTtlMs: 10 * 60 * 1000,
  signInTtlMs: 30 * 24 * 3600 * 1000,
  /** The length of a chain of tokens in which each token created the next one. */
  tokenChainMax: 16,
  /** The number of refused attempts per credential and minute that get an entry of their own in the log. */
  refusedAttemptsMax: 5,
  refusedAttemptsTotalMax: 100,
  /** How long the gateway recognizes a revoked token, so that it can record attempts to use it. */
  revokedTokenKeepMs: 30 * 24 * 3600 * 1000,
} as const

/** How much of a shared resource the credentials of each role may use, and all credentials together. Agents and runners cannot use the part of the total that is reserved for people. */
export interface QuotaLimits extends RoleLimits {
  readonly total: number
  readonly reservedForPeople: number
}
/** The limits of one credential, by its role. */
export interface RoleLimits {
  readonly person: number
  readonly runner: number
  readonly agent: number
}

const mebibyte = 1024 * 1024

/** The limits that hold for each credential. One runner drives thousands of sessions with one credential. */
export const quotas = {
  /** HTTP requests in progress, event streams and sockets. The total is lower than `connectionsMax`, so that there is room for connections without a credential. */
  connections: { total: 9000, reservedForPeople: 2000, person: 2000, runner: 500, agent: 300 },
  sockets: { total: 4000, reservedForPeople: 1000, person: 500, runner: 16, agent: 50 },
  /** Event streams, over HTTP and sockets. */
  subscriptions: { total: 4000, reservedForPeople: 1000, person: 2000, runner: 16, agent: 100 },
  longPolls: { total: 20_000, reservedForPeople: 1000, person: 1000, runner: 16_000, agent: 500 },
  /** Operations that wait or run on sockets. */
  operations: { total: 24_000, reservedForPeople: 2000, person: 2000, runner: 20_000, agent: 1000 },
  /** The size of the requests that wait or run. */
  requestBytes: {
    total: 128 * mebibyte,
    reservedForPeople: 32 * mebibyte,
    person: 32 * mebibyte,
    runner: 32 * mebibyte,
    agent: 16 * mebibyte,
  },
  /** Units of work that run at the same time; see `slotUnits`. More work waits for its turn. */
  slots: { total: 1024, reservedForPeople: 256, person: 256, runner: 256, agent: 128 },
} as const satisfies Record<string, QuotaLimits>

/** The limits per minute of each credential. */
export const rates = {
  /** The size of the requests that change something. Most of it is stored in the log. */
  writtenBytes: { person: 256 * mebibyte, runner: 256 * mebibyte, agent: 16 * mebibyte },
} as const satisfies Record<string, RoleLimits>

/** How many units of the quota `slots` an operation, a page and a snapshot occupy until their reply is sent. A reply to an operation has about 1 MiB at most, a page and each part of a snapshot several. */
export const slotUnits = { operation: 1, page: 16, snapshot: 64 } as const
