/** Generates the SQL of both dialects from the table layouts. */
import type { EventQuery, Query, Table } from '@holdpoint/engine'
import {
  type Column,
  type ColumnValue,
  columnOf,
  sanitizeText,
  type TableLayout,
  tableLayouts,
  tableNames,
  toValueList,
} from './row-codec.ts'

export interface Dialect {
  /** Prefix of table names: empty, or a schema with its dot. */
  readonly prefix: string
  readonly int: string
  /** A text type that is compared and sorted byte by byte. */
  readonly text: string
  /** The placeholder of the nth parameter, counted from 1. */
  placeholder(n: number): string
  /** The function that returns the position of a text in another, from 1; 0 if it is not contained. */
  readonly indexOf: string
}
export const sqliteDialect: Dialect = {
  prefix: '',
  int: 'INTEGER',
  text: 'TEXT',
  placeholder: () => '?',
  indexOf: 'instr',
}
export const postgresDialect: Dialect = {
  prefix: 'holdpoint.',
  int: 'BIGINT',
  text: 'TEXT COLLATE "C"',
  placeholder: n => `$${n}`,
  indexOf: 'strpos',
}

export interface Statement {
  readonly text: string
  readonly params: readonly ColumnValue[]
}

/** Columns that are null unless a row needs attention. Their indexes are partial and leave the other rows out, so they stay small. */
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

/** Indexes for the audit log: resolutions of all sessions and of one session, without scanning other events. */
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

export function quoteColumn(column: Column): string {
  return `"${column.sql}"`
}

/** `extra` is added to the query's limit. */
export function selectRows(table: Table, query: Query, dialect: Dialect, extra = 0): Statement {
  const { conditions, params } = conditionsOf(tableLayouts[table], query, dialect)
  const direction = query.newestFirst ? 'DESC' : 'ASC'
  let text = `SELECT id, ord, version, fixed, body FROM ${dialect.prefix}${table}${conditions} ORDER BY ord ${direction}, id ${direction}`
  if (query.limit !== undefined) text += ` LIMIT ${dialect.placeholder(params.push(query.limit + extra))}`
  return { text, params }
}

export function countRows(table: Table, query: Query, dialect: Dialect): Statement {
  const { conditions, params } = conditionsOf(tableLayouts[table], query, dialect)
  return { text: `SELECT count(*) AS count FROM ${dialect.prefix}${table}${conditions}`, params }
}

function conditionsOf(
  layout: TableLayout,
  query: Query,
  dialect: Dialect,
): { conditions: string; params: ColumnValue[] } {
  const params: ColumnValue[] = []
  const param = (value: ColumnValue) => dialect.placeholder(params.push(value))
  const conditions: string[] = []
  for (const [name, values] of Object.entries(query.where ?? {}))
    conditions.push(inList(quoteColumn(columnOf(layout, name)), toValueList(values), param))
  for (const [name, most] of Object.entries(query.atMost ?? {}))
    conditions.push(`${quoteColumn(columnOf(layout, name))} <= ${param(most)}`)
  for (const [name, part] of Object.entries(query.contains ?? {}))
    conditions.push(`${dialect.indexOf}(${quoteColumn(columnOf(layout, name))}, ${param(sanitizeText(part))}) > 0`)
  if (query.afterOrd !== undefined) conditions.push(`ord > ${param(query.afterOrd)}`)
  if (query.beforeOrd !== undefined) conditions.push(`ord < ${param(query.beforeOrd)}`)
  return { conditions: conditions.length ? ` WHERE ${conditions.join(' AND ')}` : '', params }
}

function inList(column: string, values: readonly ColumnValue[], param: (value: ColumnValue) => string): string {
  const nonNull = values.filter(value => value !== null)
  const alternatives: string[] = []
  if (nonNull.length === 1) alternatives.push(`${column} = ${param(nonNull[0] as ColumnValue)}`) // its length is 1
  if (nonNull.length > 1) alternatives.push(`${column} IN (${nonNull.map(param).join(', ')})`)
  if (nonNull.length < values.length) alternatives.push(`${column} IS NULL`)
  return alternatives.length ? `(${alternatives.join(' OR ')})` : 'FALSE'
}

export function selectEvents(query: EventQuery, dialect: Dialect): Statement {
  const { after, before, session, types, limit } = query
  const params: ColumnValue[] = []
  const param = (value: ColumnValue) => dialect.placeholder(params.push(value))
  const conditions: string[] = []
  if (after !== undefined) conditions.push(`seq > ${param(after)}`)
  if (before !== undefined) conditions.push(`seq < ${param(before)}`)
  if (session !== undefined) conditions.push(`session = ${param(session)}`)
  // Types are literals, not parameters (they come from a closed list): a partial index on a type is only used if the statement contains that type.
  if (types !== undefined) conditions.push(inList('type', types, type => `'${type}'`))
  const where = conditions.length ? ` WHERE ${conditions.join(' AND ')}` : ''
  const text = `SELECT seq, epoch, at, session, type, text, body_hash, hash FROM ${dialect.prefix}event${where} ORDER BY seq ${query.newestFirst ? 'DESC' : 'ASC'} LIMIT ${param(limit)}`
  return { text, params }
}

/** The statements that delete a session and the bodies of its events before `beforeSeq`. */
export function purgeSession(session: string, beforeSeq: number, purgedText: string, dialect: Dialect): Statement[] {
  const { prefix, placeholder } = dialect
  const tablesWithSession = tableNames.filter(table => tableLayouts[table].byName.has('session'))
  return [
    { text: `DELETE FROM ${prefix}session WHERE id = ${placeholder(1)}`, params: [session] },
    ...tablesWithSession.map(table => ({
      text: `DELETE FROM ${prefix}${table} WHERE session = ${placeholder(1)}`,
      params: [session],
    })),
    {
      text: `UPDATE ${prefix}event SET text = ${placeholder(1)} WHERE session = ${placeholder(2)} AND seq < ${placeholder(3)}`,
      params: [purgedText, session, beforeSeq],
    },
  ]
}
