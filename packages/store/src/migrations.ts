/** The schema versions of the stored data, and the statements that migrate from one version to the next. A released migration never changes; every change of the tables is a new migration. */
import { Fault } from '@holdpoint/protocol'
import { createSchema3, migrateToSchema4 } from './schema.ts'
import { type Dialect, postgresDialect, sqliteDialect } from './sql.ts'

/** Migrates the tables from the previous version to `version`. */
export interface Migration {
  readonly version: number
  readonly statements: readonly string[]
}

/** The first released version. Versions 1 and 2 were never released, and their rows use names that this code cannot read. */
const firstVersion = 3

function migrations(dialect: Dialect): readonly Migration[] {
  return [
    { version: firstVersion, statements: createSchema3(dialect) },
    { version: 4, statements: migrateToSchema4(dialect) },
  ]
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
