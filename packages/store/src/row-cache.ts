/** Caches recently read rows in parsed form, because nearly every change reads the same few rows: a session, its runner, a credential. */
import type { Table } from '@holdpoint/engine'
import type { VersionedRow } from './row-codec.ts'

/** The cache has two generations of this many rows each. Rows longer than `charsMax` are not cached, so the cache stays below a few MiB. */
const generationMax = 512
const charsMax = 8192

export class RowCache {
  #recent = new Map<string, VersionedRow>()
  #older = new Map<string, VersionedRow>()

  get(table: Table, id: string): VersionedRow | undefined {
    const key = `${table} ${id}`
    const recent = this.#recent.get(key)
    if (recent) return recent
    const older = this.#older.get(key)
    if (older) this.#add(key, older)
    return older
  }

  /** Adds a row that was read from the database, unless the row is too long. */
  add(table: Table, versioned: VersionedRow, chars: number): void {
    if (chars <= charsMax) this.#add(`${table} ${versioned.row.id}`, versioned)
  }

  /** Updates a cached row after a commit; `versioned` is undefined if the row was deleted. */
  replace(table: Table, id: string, versioned: VersionedRow | undefined, chars: number): void {
    const key = `${table} ${id}`
    const wasRecent = this.#recent.delete(key)
    if ((this.#older.delete(key) || wasRecent) && versioned && chars <= charsMax) this.#add(key, versioned)
  }

  clear(): void {
    this.#recent.clear()
    this.#older.clear()
  }

  #add(key: string, versioned: VersionedRow): void {
    if (this.#recent.size >= generationMax) {
      this.#older = this.#recent
      this.#recent = new Map()
    }
    this.#recent.set(key, versioned)
  }
}
