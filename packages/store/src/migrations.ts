/** The schema versions of the stored data, and the statements that lead from one to the next. A released migration never changes; a change of tables is a new one. */
import { Fault } from '@holdpoint/protocol'
import { createTables, type Dialect, indexResolutions, postgresDialect, sqliteDialect } from './sql.ts'

/** Brings the tables from the version before to `version`. */
export interface Migration {
  readonly version: number
  readonly statements: readonly string[]
}

/** Versions 1 and 2 were never released: their rows use names that this code no longer reads. */
const firstVersion = 3

function migrations(dialect: Dialect): readonly Migration[] {
  return [{ version: firstVersion, statements: [...createTables(dialect), ...indexResolutions(dialect)] }]
}

export const sqliteMigrations = migrations(sqliteDialect)
export const postgresMigrations = migrations(postgresDialect)
export const latestVersion = firstVersion + sqliteMigrations.length - 1

/** The migrations that a store at `version` still needs; 0 is an empty store. `location` names it in the errors, for example a file path. */
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
      `${location} was written by a version of Holdpoint from before the first release (schema ${version}), and this version cannot read it. Move it away, or choose another store, to start with an empty one.`,
      detail,
    )
  return all.filter(migration => migration.version > version)
}
