/** Encodes engine rows for the stores (query columns, `fixed` JSON written once, `body` JSON that changes), and decides whether a row matches a query. */
import { type Query, type Rows, type Table, tables } from '@holdpoint/engine'

export type Row = Rows[Table]
export type ColumnValue = string | number | null

export interface Column {
  readonly name: string
  /** The column name in SQL. */
  readonly sql: string
  readonly type: 'text' | 'int'
  of(row: Row): ColumnValue
  /** Returns whether the column has the same value in both rows. */
  isSame(before: Row, after: Row): boolean
}
export interface TableLayout {
  readonly table: Table
  readonly columns: readonly Column[]
  readonly byName: ReadonlyMap<string, Column>
  readonly indexes: readonly (readonly Column[])[]
  readonly fixed: readonly string[]
  /** Fields that are not part of `body`: the id, the ord, and the fixed fields. */
  readonly outsideBody: ReadonlySet<string>
}
/** A committed row. `version` counts the writes of the row, and each write names the version that it replaces. */
export interface VersionedRow {
  readonly row: Row
  readonly version: number
}

export const tableNames = Object.keys(tables) as readonly Table[] // the keys of `tables` are the table names

export const tableLayouts = Object.fromEntries(tableNames.map(table => [table, layoutOf(table)])) as Readonly<
  Record<Table, TableLayout>
> // `tableNames` contains every table

function layoutOf(table: Table): TableLayout {
  const spec = tables[table]
  const columns = Object.entries(spec.columns).map(([name, { type, of }]): Column => {
    const read = of as (row: Row) => ColumnValue // a layout is only used with rows of its table
    const isSame = (before: Row, after: Row) => read(before) === read(after)
    return { name, sql: snakeCase(name), type, of: row => sanitizeText(read(row)), isSame }
  })
  const byName = new Map(columns.map(column => [column.name, column]))
  const indexes = spec.indexes.map(names => names.map(name => requireColumn(table, byName.get(name), name)))
  return { table, columns, byName, indexes, fixed: spec.fixed, outsideBody: new Set(['id', 'ord', ...spec.fixed]) }
}

function requireColumn(table: Table, column: Column | undefined, name: string): Column {
  if (!column) throw new Error(`the table ${table} has no column "${name}"`)
  return column
}
export function columnOf(layout: TableLayout, name: string): Column {
  return requireColumn(layout.table, layout.byName.get(name), name)
}

function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, letter => `_${letter.toLowerCase()}`)
}

/** Replaces NUL and lone surrogates, which PostgreSQL cannot store in a text column. Every store does this, so that all stores return the same query results. The JSON of the row keeps these characters in escaped form. */
export function sanitizeText(value: ColumnValue): ColumnValue {
  return typeof value === 'string' ? value.toWellFormed().replaceAll('\0', '\ufffd') : value
}

/** Encodes as JSON the fields that are written only at the insert. Returns null if the table has no such fields. */
export function encodeFixed(layout: TableLayout, row: Row): string | null {
  if (layout.fixed.length === 0) return null
  const fields = row as unknown as Record<string, unknown> // every row is a plain object, so its fields can be read by name
  const fixed: Record<string, unknown> = {}
  for (const name of layout.fixed) if (name !== 'ord') fixed[name] = fields[name]
  return JSON.stringify(fixed)
}

/** Encodes as JSON the fields that updates may change. */
export function encodeBody(layout: TableLayout, row: Row): string {
  const fields = row as unknown as Record<string, unknown> // every row is a plain object, so its fields can be read by name
  const rest: Record<string, unknown> = {}
  for (const name in fields) if (!layout.outsideBody.has(name)) rest[name] = fields[name]
  return JSON.stringify(rest)
}

export function decodeRow(id: string, ord: number, fixed: string | null, body: string): Row {
  const row = JSON.parse(body) as Record<string, unknown> // `encodeBody` wrote this JSON from an object
  if (fixed !== null) Object.assign(row, JSON.parse(fixed))
  row.id = id
  row.ord = ord
  return row as unknown as Row // `encodeFixed` and `encodeBody` together wrote all fields of the row
}

/** Returns whether the query selects this row, ignoring order and limit. */
export function matches(layout: TableLayout, row: Row, query: Query): boolean {
  if (query.afterOrd !== undefined && row.ord <= query.afterOrd) return false
  if (query.beforeOrd !== undefined && row.ord >= query.beforeOrd) return false
  for (const [name, values] of Object.entries(query.where ?? {})) {
    const value = columnOf(layout, name).of(row)
    if (!toValueList(values).includes(value)) return false
  }
  for (const [name, max] of Object.entries(query.atMost ?? {})) {
    const value = columnOf(layout, name).of(row)
    if (value === null || Number(value) > max) return false
  }
  for (const [name, part] of Object.entries(query.contains ?? {})) {
    const value = columnOf(layout, name).of(row)
    if (value === null || !String(value).includes(String(sanitizeText(part)))) return false
  }
  return true
}

export function toValueList(values: ColumnValue | readonly ColumnValue[]): readonly ColumnValue[] {
  return (Array.isArray(values) ? (values as readonly ColumnValue[]) : [values as ColumnValue]).map(sanitizeText) // `isArray` does not narrow readonly arrays
}

/** Returns the comparison that every store sorts by: `ord`, then id. */
export function rowOrder(query: Query): (a: VersionedRow, b: VersionedRow) => number {
  const sign = query.newestFirst ? -1 : 1
  return (a, b) => sign * (a.row.ord - b.row.ord || (a.row.id < b.row.id ? -1 : 1))
}
