/** How a row of the engine lies in a table: its columns, the JSON that is written once and the JSON that changes, and which rows a query means. */
import { type Query, type Rows, type Table, tables } from '@holdpoint/engine'

export type Row = Rows[Table]
export type Value = string | number | null

export interface Column {
  readonly name: string
  /** Its name in SQL. */
  readonly sql: string
  readonly type: 'text' | 'int'
  of(row: Row): Value
}
export interface Shape {
  readonly table: Table
  readonly columns: readonly Column[]
  readonly byName: ReadonlyMap<string, Column>
  readonly indexes: readonly (readonly Column[])[]
  readonly fixed: readonly string[]
  /** Members that stand neither in a column of their own nor in `fixed` go into `body`. */
  readonly apart: ReadonlySet<string>
}
/** A row as it is committed. `version` counts its writes; a write names the version it replaces. */
export interface VersionedRow {
  readonly row: Row
  readonly version: number
}

export const tableNames = Object.keys(tables) as readonly Table[] // the keys of a literal are its keyof

export const shapes = Object.fromEntries(tableNames.map(table => [table, shapeOf(table)])) as Readonly<
  Record<Table, Shape>
> // one entry per table, by the line above

function shapeOf(table: Table): Shape {
  const spec = tables[table]
  const columns = Object.entries(spec.columns).map(([name, { type, of }]): Column => {
    const read = of as (row: Row) => Value // a shape meets only rows of its own table
    return { name, sql: snake(name), type, of: row => sanitizeText(read(row)) }
  })
  const byName = new Map(columns.map(column => [column.name, column]))
  const indexes = spec.indexes.map(names => names.map(name => known(table, byName.get(name), name)))
  return { table, columns, byName, indexes, fixed: spec.fixed, apart: new Set(['id', 'ord', ...spec.fixed]) }
}

function known(table: Table, column: Column | undefined, name: string): Column {
  if (!column) throw new Error(`the table ${table} has no column "${name}"`)
  return column
}
export function columnOf(shape: Shape, name: string): Column {
  return known(shape.table, shape.byName.get(name), name)
}

function snake(name: string): string {
  return name.replace(/[A-Z]/g, letter => `_${letter.toLowerCase()}`)
}

/** PostgreSQL keeps neither NUL nor half a surrogate pair; every store then sees the same column. The row itself keeps them, escaped in its JSON. */
export function sanitizeText(value: Value): Value {
  return typeof value === 'string' ? value.toWellFormed().replaceAll('\0', '\ufffd') : value
}

/** The members that are written at the insert only; null where the table has none. */
export function encodeFixed(shape: Shape, row: Row): string | null {
  if (shape.fixed.length === 0) return null
  const members = row as unknown as Record<string, unknown> // rows are plain objects
  const fixed: Record<string, unknown> = {}
  for (const name of shape.fixed) if (name !== 'ord') fixed[name] = members[name]
  return JSON.stringify(fixed)
}

/** Everything else. */
export function encodeBody(shape: Shape, row: Row): string {
  const members = row as unknown as Record<string, unknown> // rows are plain objects
  const rest: Record<string, unknown> = {}
  for (const name in members) if (!shape.apart.has(name)) rest[name] = members[name]
  return JSON.stringify(rest)
}

export function readRow(id: string, ord: number, fixed: string | null, body: string): Row {
  const row = JSON.parse(body) as Record<string, unknown> // written by `bodyText`
  if (fixed !== null) Object.assign(row, JSON.parse(fixed))
  row.id = id
  row.ord = ord
  return row as unknown as Row // the members that `fixedText` and `bodyText` took apart are together again
}

/** Whether the query means this row; order and limit aside. */
export function matches(shape: Shape, row: Row, query: Query): boolean {
  if (query.afterOrd !== undefined && row.ord <= query.afterOrd) return false
  if (query.beforeOrd !== undefined && row.ord >= query.beforeOrd) return false
  for (const [name, wanted] of Object.entries(query.where ?? {})) {
    const value = columnOf(shape, name).of(row)
    if (!choices(wanted).includes(value)) return false
  }
  for (const [name, most] of Object.entries(query.atMost ?? {})) {
    const value = columnOf(shape, name).of(row)
    if (value === null || Number(value) > most) return false
  }
  for (const [name, part] of Object.entries(query.contains ?? {})) {
    const value = columnOf(shape, name).of(row)
    if (value === null || !String(value).includes(String(sanitizeText(part)))) return false
  }
  return true
}

export function choices(wanted: Value | readonly Value[]): readonly Value[] {
  return (Array.isArray(wanted) ? (wanted as readonly Value[]) : [wanted as Value]).map(sanitizeText) // an array, or not
}

/** Rows in the order of `ord`; the id settles a tie, alike in every store. */
export function inOrder(query: Query): (a: VersionedRow, b: VersionedRow) => number {
  const sign = query.newestFirst ? -1 : 1
  return (a, b) => sign * (a.row.ord - b.row.ord || (a.row.id < b.row.id ? -1 : 1))
}
