/** The numbered steps by which an archive's tables came to be as they are. A step that was released never changes; a change of tables is a new step. */
import { createTables, type Dialect, indexResolutions, postgresDialect, sqliteDialect } from './sql.ts'

/** Step n brings an archive from version n - 1 to n. */
export interface Step {
  readonly version: number
  readonly statements: readonly string[]
}

function steps(dialect: Dialect): readonly Step[] {
  return [
    { version: 1, statements: createTables(dialect) },
    { version: 2, statements: indexResolutions(dialect) },
  ]
}

export const sqliteSteps = steps(sqliteDialect)
export const postgresSteps = steps(postgresDialect)
export const latestVersion = sqliteSteps.length
