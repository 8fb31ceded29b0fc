/** Generates the SQL that creates the tables and indexes, for SQLite and PostgreSQL. */
import { type TableLayout, tableLayouts, tableNames } from './row-codec.ts'
import { type Dialect, quoteColumn } from './sql.ts'

/** Columns that are null in rows that no query on the column looks for. Indexes on these columns are partial and exclude those rows, so that the indexes stay small. */
const partialIndexColumns = new Set(['open', 'needsRunner', 'dueAt', 'endedAt', 'expiresAt'])

export function createTables(dialect: Dialect): string[] {
  const { prefix, int, text } = dialect
  return [
    `CREATE TABLE ${prefix}head (id ${int} PRIMARY KEY CHECK (id = 1), seq ${int} NOT NULL, hash ${text} NOT NULL, epoch ${text} NOT NULL, at ${int} NOT NULL, rules_seq ${int} NOT NULL, commits ${int} NOT NULL)`,
    `CREATE TABLE ${prefix}event (seq ${int} PRIMARY KEY, epoch ${text} NOT NULL, at ${int} NOT NULL, session ${text}, type ${text} NOT NULL, text ${text} NOT NULL, body_hash ${text} NOT NULL, hash ${text} NOT NULL)`,
    `CREATE INDEX event_session ON ${prefix}event (session, seq) WHERE session IS NOT NULL`,
    ...tableNames.flatMap(table => createTable(tableLayouts[table], dialect)),
  ]
}

/** Returns the statements that create the indexes for the audit log. These indexes find the resolutions of all sessions or of one session without scanning other events. */
export function indexResolutions({ prefix }: Dialect): string[] {
  return [
    `CREATE INDEX event_resolved ON ${prefix}event (seq) WHERE type = 'request.resolved'`,
    `CREATE INDEX event_resolved_session ON ${prefix}event (session, seq) WHERE type = 'request.resolved'`,
  ]
}

function createTable({ table, columns, indexes }: TableLayout, { prefix, int, text }: Dialect): string[] {
  const columnDefinitions = columns
    .map(column => `${quoteColumn(column)} ${column.type === 'int' ? int : text}, `)
    .join('')
  return [
    `CREATE TABLE ${prefix}${table} (id ${text} NOT NULL PRIMARY KEY, ord ${int} NOT NULL, ${columnDefinitions}version ${int} NOT NULL, fixed ${text}, body ${text} NOT NULL)`,
    ...indexes.map(index => {
      const name = [table, ...index.map(column => column.sql), 'ord'].join('_')
      const partial = index.find(column => partialIndexColumns.has(column.name))
      const on = [...index.map(quoteColumn), 'ord'].join(', ')
      return `CREATE INDEX ${name} ON ${prefix}${table} (${on})${partial ? ` WHERE ${quoteColumn(partial)} IS NOT NULL` : ''}`
    }),
  ]
}
