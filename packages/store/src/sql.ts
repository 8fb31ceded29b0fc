/** The SQL of both dialects, generated from the shapes in this one place. */
import type { EventQuery, Query, Table } from '@holdpoint/engine'
import {
  type Column,
  choices,
  columnOf,
  type Shape,
  sanitizeText,
  shapes,
  tableNames,
  type Value,
} from './row-codec.ts'

export interface Dialect {
  /** Where the tables are: empty, or a schema with its dot. */
  readonly prefix: string
  readonly int: string
  /** Text that is compared and sorted byte by byte. */
  readonly text: string
  /** The place of the nth parameter, counted from 1. */
  mark(n: number): string
  /** The place of a text in another, from 1; 0 where it is not. */
  readonly position: string
}
export const sqliteDialect: Dialect = { prefix: '', int: 'INTEGER', text: 'TEXT', mark: () => '?', position: 'instr' }
export const postgresDialect: Dialect = {
  prefix: 'holdpoint.',
  int: 'BIGINT',
  text: 'TEXT COLLATE "C"',
  mark: n => `$${n}`,
  position: 'strpos',
}

export interface Statement {
  readonly text: string
  readonly params: readonly Value[]
}

/** Columns that are set only while a row asks for attention. Their indexes leave the other rows out, so that history costs nothing. */
const markers = new Set(['open', 'needsRunner', 'dueAt', 'endedAt', 'expiresAt'])

export function createTables(dialect: Dialect): string[] {
  const { prefix, int, text } = dialect
  return [
    `CREATE TABLE ${prefix}head (one ${int} PRIMARY KEY CHECK (one = 1), seq ${int} NOT NULL, hash ${text} NOT NULL, epoch ${text} NOT NULL, at ${int} NOT NULL, rules_at ${int} NOT NULL, commits ${int} NOT NULL)`,
    `CREATE TABLE ${prefix}event (seq ${int} PRIMARY KEY, epoch ${text} NOT NULL, at ${int} NOT NULL, session ${text}, type ${text} NOT NULL, text ${text} NOT NULL, body_hash ${text} NOT NULL, hash ${text} NOT NULL)`,
    `CREATE INDEX event_session ON ${prefix}event (session, seq) WHERE session IS NOT NULL`,
    ...tableNames.flatMap(table => createTable(shapes[table], dialect)),
  ]
}

/** The record of resolutions, of everything and of one session: a small part of the log, found without reading the rest. */
export function indexResolutions({ prefix }: Dialect): string[] {
  return [
    `CREATE INDEX event_resolved ON ${prefix}event (seq) WHERE type = 'request.resolved'`,
    `CREATE INDEX event_resolved_session ON ${prefix}event (session, seq) WHERE type = 'request.resolved'`,
  ]
}

function createTable({ table, columns, indexes }: Shape, { prefix, int, text }: Dialect): string[] {
  const own = columns.map(column => `${quote(column)} ${column.type === 'int' ? int : text}, `).join('')
  return [
    `CREATE TABLE ${prefix}${table} (id ${text} NOT NULL PRIMARY KEY, ord ${int} NOT NULL, ${own}version ${int} NOT NULL, fixed ${text}, body ${text} NOT NULL)`,
    ...indexes.map(index => {
      const name = [table, ...index.map(column => column.sql), 'ord'].join('_')
      const marker = index.find(column => markers.has(column.name))
      const on = [...index.map(quote), 'ord'].join(', ')
      return `CREATE INDEX ${name} ON ${prefix}${table} (${on})${marker ? ` WHERE ${quote(marker)} IS NOT NULL` : ''}`
    }),
  ]
}

export function quote(column: Column): string {
  return `"${column.sql}"`
}

/** `more` widens the query's limit. */
export function selectRows(table: Table, query: Query, dialect: Dialect, more = 0): Statement {
  const { conditions, params } = conditionsOf(shapes[table], query, dialect)
  const way = query.newestFirst ? 'DESC' : 'ASC'
  let text = `SELECT id, ord, version, fixed, body FROM ${dialect.prefix}${table}${conditions} ORDER BY ord ${way}, id ${way}`
  if (query.limit !== undefined) text += ` LIMIT ${dialect.mark(params.push(query.limit + more))}`
  return { text, params }
}

export function countRows(table: Table, query: Query, dialect: Dialect): Statement {
  const { conditions, params } = conditionsOf(shapes[table], query, dialect)
  return { text: `SELECT count(*) AS count FROM ${dialect.prefix}${table}${conditions}`, params }
}

function conditionsOf(shape: Shape, query: Query, dialect: Dialect): { conditions: string; params: Value[] } {
  const params: Value[] = []
  const mark = (value: Value) => dialect.mark(params.push(value))
  const all: string[] = []
  for (const [name, wanted] of Object.entries(query.where ?? {}))
    all.push(oneOf(quote(columnOf(shape, name)), choices(wanted), mark))
  for (const [name, most] of Object.entries(query.atMost ?? {}))
    all.push(`${quote(columnOf(shape, name))} <= ${mark(most)}`)
  for (const [name, part] of Object.entries(query.contains ?? {}))
    all.push(`${dialect.position}(${quote(columnOf(shape, name))}, ${mark(sanitizeText(part))}) > 0`)
  if (query.afterOrd !== undefined) all.push(`ord > ${mark(query.afterOrd)}`)
  if (query.beforeOrd !== undefined) all.push(`ord < ${mark(query.beforeOrd)}`)
  return { conditions: all.length ? ` WHERE ${all.join(' AND ')}` : '', params }
}

function oneOf(column: string, values: readonly Value[], mark: (value: Value) => string): string {
  const given = values.filter(value => value !== null)
  const either: string[] = []
  if (given.length === 1) either.push(`${column} = ${mark(given[0] as Value)}`) // there is one
  if (given.length > 1) either.push(`${column} IN (${given.map(mark).join(', ')})`)
  if (given.length < values.length) either.push(`${column} IS NULL`)
  return either.length ? `(${either.join(' OR ')})` : 'FALSE'
}

export function selectEvents(query: EventQuery, dialect: Dialect): Statement {
  const { after, before, session, types, limit } = query
  const params: Value[] = []
  const mark = (value: Value) => dialect.mark(params.push(value))
  const all: string[] = []
  if (after !== undefined) all.push(`seq > ${mark(after)}`)
  if (before !== undefined) all.push(`seq < ${mark(before)}`)
  if (session !== undefined) all.push(`session = ${mark(session)}`)
  // Spelt out, from a closed list: an index of one type serves only where the statement itself names that type.
  if (types !== undefined) all.push(oneOf('type', types, type => `'${type}'`))
  const where = all.length ? ` WHERE ${all.join(' AND ')}` : ''
  const text = `SELECT seq, epoch, at, session, type, text, body_hash, hash FROM ${dialect.prefix}event${where} ORDER BY seq ${query.newestFirst ? 'DESC' : 'ASC'} LIMIT ${mark(limit)}`
  return { text, params }
}

/** The statements that forget a session; the events of the change itself stay. */
export function purgeSession(session: string, beforeSeq: number, purgedText: string, dialect: Dialect): Statement[] {
  const { prefix, mark } = dialect
  const owned = tableNames.filter(table => shapes[table].byName.has('session'))
  return [
    { text: `DELETE FROM ${prefix}session WHERE id = ${mark(1)}`, params: [session] },
    ...owned.map(table => ({ text: `DELETE FROM ${prefix}${table} WHERE session = ${mark(1)}`, params: [session] })),
    {
      text: `UPDATE ${prefix}event SET text = ${mark(1)} WHERE session = ${mark(2)} AND seq < ${mark(3)}`,
      params: [purgedText, session, beforeSeq],
    },
  ]
}
