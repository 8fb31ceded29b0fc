/** Caches recently read rows in parsed form, because nearly every change reads the same few rows: a session, its runner, a credential. */
import type { Table } from '@holdpoint/engine'
import { tableNames, type VersionedRow } from './row-codec.ts'

/** The cache has two generations of this many rows each. Rows longer than `charsMax` are not cached, so the cache stays below a few MiB. */
const generationMax = 512
const charsMax = 8192

/** The rows of each table by id. One map for all tables would need a new text for every lookup. */
type Generation = ReadonlyMap<Table, Map<string, VersionedRow>>

function newGeneration(): Generation {
  return new Map(tableNames.map(table => [table, new Map()]))
}

export class RowCache {
  #recent = newGeneration()
  #recentSize = 0
  #older = newGeneration()

  get(table: Table, id: string): VersionedRow | undefined {
    const recent = this.#recent.get(table)?.get(id)
    if (recent) return recent
    const older = this.#older.get(table)?.get(id)
    if (older) this.#add(table, older)
    return older
  }

  /** Adds a row that was read from the database, unless the row is too long. */
  add(table: Table, versioned: VersionedRow, chars: number): void {
    if (chars <= charsMax) this.#add(table, versioned)
  }

  /** Updates a cached row after a commit; `versioned` is undefined if the row was deleted. */
  replace(table: Table, id: string, versioned: VersionedRow | undefined, chars: number): void {
    const wasRecent = this.#recent.get(table)?.delete(id) ?? false
    if (wasRecent) this.#recentSize--
    const wasOlder = this.#older.get(table)?.delete(id) ?? false
    if ((wasOlder || wasRecent) && versioned && chars <= charsMax) this.#add(table, versioned)
  }

  clear(): void {
    this.#recent = newGeneration()
    this.#recentSize = 0
    this.#older = newGeneration()
  }

  #add(table: Table, versioned: VersionedRow): void {
    if (this.#recentSize >= generationMax) {
      this.#older = this.#recent
      this.#recent = newGeneration()
      this.#recentSize = 0
    }
    const rows = this.#recent.get(table)
    if (!rows?.has(versioned.row.id)) this.#recentSize++
    rows?.set(versioned.row.id, versioned)
  }
}
