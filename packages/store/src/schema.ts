/** The SQL of each schema version, for SQLite and PostgreSQL. The text of a released version never changes. */
import type { Dialect } from './sql.ts'

/** Creates the tables of schema 3, the first released version. Each table of rows has an id, the log position `ord`, columns and indexes for queries, and the row itself as JSON. */
export function createSchema3(dialect: Dialect): string[] {
  const { prefix, int, text } = dialect
  return [
    `CREATE TABLE ${prefix}head (id ${int} PRIMARY KEY CHECK (id = 1), seq ${int} NOT NULL, hash ${text} NOT NULL, epoch ${text} NOT NULL, at ${int} NOT NULL, rules_seq ${int} NOT NULL, commits ${int} NOT NULL)`,
    `CREATE TABLE ${prefix}event (seq ${int} PRIMARY KEY, epoch ${text} NOT NULL, at ${int} NOT NULL, session ${text}, type ${text} NOT NULL, text ${text} NOT NULL, body_hash ${text} NOT NULL, hash ${text} NOT NULL)`,
    `CREATE INDEX event_session ON ${prefix}event (session, seq) WHERE session IS NOT NULL`,
    ...createTable(
      dialect,
      'session',
      `"state" ${text}, "driver" ${text}, "runner" ${text}, "needs_runner" ${int}, "ended_at" ${int}, "search" ${text}`,
      [[], ['state'], ['runner'], ['needs_runner'], ['ended_at']],
    ),
    ...createTable(dialect, 'request', `"session" ${text}, "status" ${text}, "open" ${int}, "due_at" ${int}`, [
      [],
      ['status'],
      ['session'],
      ['open', 'session'],
      ['due_at'],
    ]),
    ...createTable(dialect, 'command', `"session" ${text}, "open" ${int}`, [['session'], ['open', 'session']]),
    ...createTable(dialect, 'runner', `"expires_at" ${int}`, []),
    ...createTable(dialect, 'draft', `"request" ${text}, "session" ${text}`, [['request'], ['session']]),
    ...createTable(dialect, 'idempotency', `"at" ${int}`, [['at']]),
    ...createTable(dialect, 'token', `"token" ${text}, "expires_at" ${int}`, [['token'], ['expires_at']]),
    ...createTable(dialect, 'rule', '', []),
    `CREATE INDEX event_resolved ON ${prefix}event (seq) WHERE type = 'request.resolved'`,
    `CREATE INDEX event_resolved_session ON ${prefix}event (session, seq) WHERE type = 'request.resolved'`,
  ]
}

/** Changes the tables of schema 3 to schema 4. The audit log also lists events that are not resolutions, tokens can be found by their hint, attachments have rows of their own, and PostgreSQL keeps the keys of secret answers that several gateways share. */
export function migrateToSchema4(dialect: Dialect): string[] {
  const { prefix, int, text, unlogged } = dialect
  const audited = `type IN (${auditTypesOfSchema4.map(type => `'${type}'`).join(', ')})`
  return [
    `DROP INDEX ${prefix}event_resolved`,
    `DROP INDEX ${prefix}event_resolved_session`,
    `CREATE INDEX event_audit ON ${prefix}event (seq) WHERE ${audited}`,
    `CREATE INDEX event_audit_session ON ${prefix}event (session, seq) WHERE ${audited}`,
    `ALTER TABLE ${prefix}token ADD COLUMN "hint" ${text}`,
    `UPDATE ${prefix}token SET "hint" = substr(id, 1, 16)`,
    createIndex(dialect, 'token', ['hint']),
    // Agents may list only their own sessions, so that list needs an index.
    `ALTER TABLE ${prefix}session ADD COLUMN "agent" ${text}`,
    createIndex(dialect, 'session', ['agent']),
    ...countOpenRequests(dialect),
    ...createTable(dialect, 'attachment', `"session" ${text}, "unsent_since" ${int}`, [['session'], ['unsent_since']]),
    ...createTable(dialect, 'part', `"session" ${text}`, [['session']]),
    // PostgreSQL writes an unlogged table neither to its write-ahead log nor to replicas and base backups, so a deleted key is not kept there.
    ...(unlogged
      ? [
          `CREATE UNLOGGED TABLE ${prefix}secret_key (id ${text} PRIMARY KEY, key ${text} NOT NULL, at ${int} NOT NULL DEFAULT (extract(epoch FROM clock_timestamp()) * 1000)::bigint)`,
        ]
      : []),
  ]
}
/** Changes the tables of schema 4 to schema 5, which counts how often each rule was used. */
export function migrateToSchema5(dialect: Dialect): string[] {
  return createTable(dialect, 'ruleuse', '', [])
}

/** Changes the tables of schema 5 to schema 6, in which external agents have leases that expire. */
export function migrateToSchema6(dialect: Dialect): string[] {
  const { prefix, int } = dialect
  return [
    `ALTER TABLE ${prefix}session ADD COLUMN "lease_expires_at" ${int}`,
    createIndex(dialect, 'session', ['lease_expires_at']),
  ]
}

/** Changes the tables of schema 6 to schema 7, which measures how long sessions wait for people. A session that waits now has waited since its oldest pending request was opened; earlier times are not known. */
export function migrateToSchema7({ prefix, int, jsonText }: Dialect): string[] {
  const pending = `FROM ${prefix}request WHERE "open" = 1 AND ${prefix}request."session" = ${prefix}usage."session"`
  const since = `(SELECT min(CAST(${jsonText(`${prefix}request.fixed`, 'openedAt')} AS ${int})) ${pending})`
  return [
    `UPDATE ${prefix}usage SET body = substr(body, 1, length(body) - 1) || ',"waitingSince":' || ${since} || '}' WHERE EXISTS (SELECT 1 ${pending})`,
  ]
}

/** Changes the tables of schema 7 to schema 8, which keeps the watchers that are in force, what the watchers of each session remember, and what each day and folder has used. */
export function migrateToSchema8(dialect: Dialect): string[] {
  return [
    ...createTable(dialect, 'watchfile', '', []),
    ...createTable(dialect, 'watchstate', `"session" ${dialect.text}`, [['session']]),
    ...createTable(dialect, 'spent', '', []),
  ]
}

/** Creates the table of counts, and counts what is open. The column `open` of requests becomes 1 for pending, 2 for waiting and 3 for handed. Requests of schema 3 have no account, so they count for the account `earlier`, without their sizes. */
function countOpenRequests(dialect: Dialect): string[] {
  const { prefix, text, jsonText } = dialect
  const number = (code: number) => `count(CASE WHEN "open" = ${code} THEN 1 END)`
  const counts = (sessions: string, waiting: string, handed: string) =>
    `"sessions":' || ${sessions} || ',"pending":' || ${number(1)} || ',"pendingBytes":0,"waiting":' || ${waiting} || ',"handed":' || ${handed} || '}'`
  const liveSessions = `(SELECT count(*) FROM ${prefix}session WHERE "state" <> 'ended')`
  const columns = 'id, ord, "session", version, fixed, body'
  return [
    ...createTable(dialect, 'usage', `"session" ${text}`, [['session']]),
    `UPDATE ${prefix}request SET "open" = CASE WHEN ${jsonText('body', 'delivery', 'state')} = '"handed"' THEN 3 ELSE 2 END WHERE "open" = 1 AND "status" <> 'pending'`,
    `INSERT INTO ${prefix}usage (${columns}) SELECT "session", min(ord), "session", 1, NULL, '{"session":"' || "session" || '",${counts('0', number(2), number(3))} FROM ${prefix}request WHERE "open" IS NOT NULL GROUP BY "session"`,
    `INSERT INTO ${prefix}usage (${columns}) SELECT 'earlier', 0, NULL, 1, NULL, '{"session":null,${counts(liveSessions, '0', '0')} FROM ${prefix}request WHERE "open" IS NOT NULL HAVING count(*) > 0 OR ${liveSessions} > 0`,
  ]
}

/** The types of the audit log. A query uses these indexes only if it names exactly these types in this order. */
const auditTypesOfSchema4 = [
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
] as const

/** Columns that are null in rows that no query on the column looks for. Indexes on these columns are partial and exclude those rows, so that the indexes stay small. */
const partialIndexColumns = new Set([
  'open',
  'needs_runner',
  'due_at',
  'ended_at',
  'expires_at',
  'agent',
  'unsent_since',
  'lease_expires_at',
])

/** Creates a table of rows, and its indexes, to which `ord` is appended. */
function createTable(
  dialect: Dialect,
  table: string,
  columns: string,
  indexes: readonly (readonly string[])[],
): string[] {
  const { prefix, int, text } = dialect
  const columnList = columns === '' ? '' : `${columns}, `
  return [
    `CREATE TABLE ${prefix}${table} (id ${text} NOT NULL PRIMARY KEY, ord ${int} NOT NULL, ${columnList}version ${int} NOT NULL, fixed ${text}, body ${text} NOT NULL)`,
    ...indexes.map(index => createIndex(dialect, table, index)),
  ]
}

function createIndex({ prefix }: Dialect, table: string, index: readonly string[]): string {
  const partial = index.find(column => partialIndexColumns.has(column))
  const on = [...index.map(column => `"${column}"`), 'ord'].join(', ')
  const where = partial === undefined ? '' : ` WHERE "${partial}" IS NOT NULL`
  return `CREATE INDEX ${[table, ...index, 'ord'].join('_')} ON ${prefix}${table} (${on})${where}`
}
