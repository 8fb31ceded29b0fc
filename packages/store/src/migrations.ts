/** The schema versions of the stored data, and how a store is migrated from one version to the next. A released migration never changes; every change of the tables or rows is a new migration. */
import type { Table } from '@holdpoint/engine'
import { externalInfo, Fault } from '@holdpoint/protocol'
import { addPersonIds } from './person-ids.ts'
import { encodeBody, encodeFixed, type Row, tableLayouts } from './row-codec.ts'
import {
  createSchema3,
  migrateToSchema4,
  migrateToSchema5,
  migrateToSchema6,
  migrateToSchema7,
  migrateToSchema8,
} from './schema.ts'
import { type Dialect, insertParams, insertText, postgresDialect, type Statement, sqliteDialect } from './sql.ts'

/** Migrates the tables from the previous version to `version`. */
export interface Migration {
  readonly version: number
  readonly statements: readonly string[]
  /** Returns the changes of rows that follow the statements of all pending migrations, because rewritten rows have the columns of the latest version. They are applied table by table, in this order. */
  readonly rewrites?: () => readonly RowRewrite[]
}

/** A row as the version before the migration, or the migration itself, wrote it. */
export type StoredRow = Readonly<Record<string, unknown>> & { readonly id: string; readonly ord: number }
export interface RowRewrite {
  readonly table: Table
  /** Returns the row of the new version, or null to delete the row. */
  rewrite(row: StoredRow): StoredRow | null
}

/** The oldest version that can be migrated, of Holdpoint 0.1. The rows of versions 1 and 2 use names that this code cannot read. */
const firstVersion = 3

function migrations(dialect: Dialect): readonly Migration[] {
  return [
    { version: firstVersion, statements: createSchema3(dialect) },
    { version: 4, statements: migrateToSchema4(dialect), rewrites: addPersonIds },
    { version: 5, statements: migrateToSchema5(dialect) },
    { version: 6, statements: migrateToSchema6(dialect), rewrites: addAgentLeases },
    { version: 7, statements: migrateToSchema7(dialect) },
    { version: 8, statements: migrateToSchema8(dialect) },
  ]
}

/** Gives the agent of every external session that has not ended a lease. The gateway extends it when it starts, and disconnects the session if the agent does not call. */
function addAgentLeases(): readonly RowRewrite[] {
  const isLive = (row: StoredRow) => row.driver === externalInfo.name && row.state !== 'ended'
  const lease = { runner: null, incarnation: 0, expiresAt: 0 }
  return [{ table: 'session', rewrite: row => (isLive(row) ? { ...row, lease } : row) }]
}

export const sqliteMigrations = migrations(sqliteDialect)
export const postgresMigrations = migrations(postgresDialect)
export const latestVersion = firstVersion + sqliteMigrations.length - 1

/** Returns the migrations that a store at `version` still needs; version 0 is an empty store. `location` names the store in errors, for example by its file path. */
export function pendingMigrations(all: readonly Migration[], version: number, location: string): readonly Migration[] {
  const known = all.at(-1)?.version ?? 0
  const detail = { version, known }
  if (version > known)
    throw new Fault(
      'store_newer',
      `${location} was written by a newer version of Holdpoint (schema ${version}; this version knows ${known}). Upgrade Holdpoint, or choose another store.`,
      detail,
    )
  if (version > 0 && version < firstVersion)
    throw new Fault(
      'store_older',
      `${location} was written by a pre-release version of Holdpoint (schema ${version}), and this version cannot read it. To start with an empty store, move this one away or choose another.`,
      detail,
    )
  return all.filter(migration => migration.version > version)
}

/** Returns the statements that replace a row by its rewritten version. */
export function replaceRow(
  table: Table,
  before: { readonly id: string; readonly version: number },
  after: StoredRow | null,
  dialect: Dialect,
): Statement[] {
  const layout = tableLayouts[table]
  const remove = {
    text: `DELETE FROM ${dialect.prefix}${table} WHERE id = ${dialect.placeholder(1)}`,
    params: [before.id],
  }
  if (!after) return [remove]
  const row = after as unknown as Row // the migration rewrote the row into the format of this version
  const params = insertParams(layout, row, before.version, encodeFixed(layout, row), encodeBody(layout, row))
  return [remove, { text: insertText(layout, dialect), params }]
}
