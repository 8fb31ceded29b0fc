/** All limits of Holdpoint. Names of counts and lengths end in `Max`, names of sizes contain `Bytes`, and names of durations end in `Ms`. */
export const limits = {
  // HTTP and connections
  bodyMaxBytes: 1024 * 1024,
  /** The largest body of an operation that takes attachments. */
  attachmentsBodyMaxBytes: 24 * 1024 * 1024,
  headersMaxBytes: 16 * 1024,
  headersMax: 100,
  connectionsMax: 10_000,
  headersTimeoutMs: 10_000,
  bodyTimeoutMs: 30_000,
  /** How long the gateway waits for open requests when it stops. The gateway must stop within 5 seconds, and the store needs the remaining time to write. */
  drainMaxMs: 3000,

  // WebSocket
  inboundFrameMaxBytes: 256 * 1024,
  /** The number of operations that may run at the same time on one socket. */
  socketInFlightMax: 8192,
  /** The total size of the replies that a client may leave unread. Above this limit the gateway stops reading from the socket. */
  queuedRepliesMaxBytes: 32 * 1024 * 1024,
  /** The gateway splits larger messages into fragments of this size and sends them one at a time. */
  fragmentMaxBytes: 256 * 1024,

  // Input
  jsonDepthMax: 64,
  /** The number of values in one JSON text. Many small values take much longer to process than one long string of the same size. */
  jsonValuesMax: 20_000,
  keyMax: 200,
  nameMax: 200,
  titleMax: 300,
  pathMax: 4096,
  labelMax: 500,
  textMax: 256 * 1024,
  reasonMax: 8 * 1024,
  attachmentMaxBytes: 5 * 1024 * 1024,
  attachmentsMax: 8,
  /** The largest input of a tool, as JSON. This is smaller than `bodyMaxBytes`, so that the other fields of the ask fit into the same body. */
  toolInputMaxBytes: 960 * 1024,
  questionsMax: 16,
  optionsMax: 64,
  suggestionsMax: 32,
  fieldsMax: 64,
  agentPathMax: 16,
  batchAnswersMax: 100,
  eventsPerPostMax: 200,
  blockMaxBytes: 512 * 1024,
  draftMaxBytes: 64 * 1024,
  rulesMax: 1000,
  deadlineMinMs: 1000,
  deadlineMaxMs: 366 * 24 * 3600 * 1000,

  // Pages and long polls
  pageMax: 500,
  pageDefault: 100,
  pageMaxBytes: 8 * 1024 * 1024,
  /** The number of rows to read from the store at a time for a page that is limited by bytes. */
  readAheadMax: 32,
  /** The number of resolutions that one search of the audit log reads. `pageMaxBytes` also limits the search. */
  auditScanMax: 5000,
  waitMaxMs: 60_000,
  longPollsMax: 20_000,

  // Sessions and requests
  pendingPerSessionMax: 1000,
  /** The total size of the asks of all pending requests of one session, as JSON. */
  pendingBytesPerSessionMax: 16 * 1024 * 1024,
  waitingCommandsMax: 1000,
  /** The number of consecutive attaches without progress after which a session ends, because its agent probably crashes the runner. */
  idleAttachesMax: 5,

  // The stream
  subscriptionsMax: 4000,
  /** The total size of the frames that a client may leave unread before the gateway disconnects the client. */
  subscriptionBufferMaxBytes: 4 * 1024 * 1024,
  snapshotMax: 200,
  /** The largest size of each part of `hello`: sessions, requests, streaming blocks. */
  snapshotMaxBytes: 4 * 1024 * 1024,
  resumeEventsMax: 5000,
  resumeMaxBytes: 8 * 1024 * 1024,
  blocksPerSessionMax: 64,
  /** The shortest time between two deltas of a session. */
  deltaIntervalMs: 50,
  heartbeatMs: 15_000,
  /** A client reconnects if it has received nothing for this time, not even a heartbeat. */
  streamSilenceMaxMs: 40_000,

  // Credentials
  idempotencyKeepMs: 24 * 3600 * 1000,
  linkTtlMs: 10 * 60 * 1000,
  signInTtlMs: 30 * 24 * 3600 * 1000,
} as const
