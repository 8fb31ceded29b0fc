/** Generates the SQL that reads and deletes rows and events, for SQLite and PostgreSQL. */
import type { EventQuery, Query, Table } from '@holdpoint/engine'
import {
  type Column,
  type ColumnValue,
  columnOf,
  type Row,
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
  /** The SQL function that returns the position of one string in another, counted from 1, or 0 if the other does not contain it. */
  readonly indexOf: string
  /** Whether the database has unlogged tables. */
  readonly unlogged: boolean
  /** Returns an expression for a field of a JSON object in a text column, as JSON text. */
  jsonText(column: string, ...path: string[]): string
}
export const sqliteDialect: Dialect = {
  prefix: '',
  int: 'INTEGER',
  text: 'TEXT',
  placeholder: () => '?',
  indexOf: 'instr',
  unlogged: false,
  jsonText: (column, ...path) => `(${column} -> '$.${path.join('.')}')`,
}
export const postgresDialect: Dialect = {
  prefix: 'holdpoint.',
  int: 'BIGINT',
  text: 'TEXT COLLATE "C"',
  placeholder: n => `$${n}`,
  indexOf: 'strpos',
  unlogged: true,
  // PostgreSQL cannot read JSON that contains NUL or a lone surrogate, so these are replaced first.
  jsonText: (column, ...path) =>
    `((regexp_replace(${column}, '\\\\u(0000|d[89a-f][0-9a-f]{2})', '\\\\u0001', 'g')::json${path.map(name => ` -> '${name}'`).join('')})::text)`,
}

export interface Statement {
  readonly text: string
  readonly params: readonly ColumnValue[]
}

function quoteName(name: string): string {
  return `"${name}"`
}
export function quoteColumn(column: Column): string {
  return quoteName(column.sql)
}

/** Returns the text of an INSERT. Names the columns, because a column that a migration added is the last one of its table. */
export function insertText({ table, columns }: TableLayout, { prefix, placeholder }: Dialect): string {
  const names = ['id', 'ord', ...columns.map(quoteColumn), 'version', 'fixed', 'body']
  return `INSERT INTO ${prefix}${table} (${names.join(', ')}) VALUES (${names.map((_, n) => placeholder(n + 1)).join(', ')})`
}
/** Returns the parameters of `insertText`, in the same order. */
export function insertParams(
  layout: TableLayout,
  row: Row,
  version: number,
  fixed: string | null,
  body: string,
): ColumnValue[] {
  const columns = layout.columns.map(column => column.of(row))
  return [row.id, row.ord, ...columns, version, fixed, body]
}

/** Returns the SELECT of a query. `extra` is added to the query's limit. */
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
  if (nonNull.length === 1) alternatives.push(`${column} = ${param(nonNull[0] as ColumnValue)}`) // the list has one element
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
  // Types are literals instead of parameters, because a partial index on a type is used only if the statement contains that type. Literals are safe here because types come from a closed list.
  if (types !== undefined) conditions.push(inList('type', types, type => `'${type}'`))
  const where = conditions.length ? ` WHERE ${conditions.join(' AND ')}` : ''
  const text = `SELECT seq, epoch, at, session, type, text, body_hash, hash FROM ${dialect.prefix}event${where} ORDER BY seq ${query.newestFirst ? 'DESC' : 'ASC'} LIMIT ${param(limit)}`
  return { text, params }
}

/** Returns the statements that delete a session and its rows in other tables, and replace the text of its events before `beforeSeq` with `purgedText`. */
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
