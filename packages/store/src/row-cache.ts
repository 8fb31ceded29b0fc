/** Rows that were read lately, parsed: the few rows that nearly every change reads (a session, its runner, a credential) are then free. */
import type { Table } from '@holdpoint/engine'
import type { VersionedRow } from './row-codec.ts'

/** Two generations of so many rows, none of them larger than so many characters: a few MiB at the very most. */
const generationMax = 512
const charsMax = 8192

export class RowCache {
  #young = new Map<string, VersionedRow>()
  #old = new Map<string, VersionedRow>()

  get(table: Table, id: string): VersionedRow | undefined {
    const key = `${table} ${id}`
    const young = this.#young.get(key)
    if (young) return young
    const old = this.#old.get(key)
    if (old) this.#add(key, old)
    return old
  }

  /** A row that was read. */
  add(table: Table, kept: VersionedRow, chars: number): void {
    if (chars <= charsMax) this.#add(`${table} ${kept.row.id}`, kept)
  }

  /** A row that was committed; undefined where it was deleted. */
  replace(table: Table, id: string, kept: VersionedRow | undefined, chars: number): void {
    const key = `${table} ${id}`
    const had = this.#young.delete(key)
    if ((this.#old.delete(key) || had) && kept && chars <= charsMax) this.#add(key, kept)
  }

  clear(): void {
    this.#young.clear()
    this.#old.clear()
  }

  #add(key: string, kept: VersionedRow): void {
    if (this.#young.size >= generationMax) {
      this.#old = this.#young
      this.#young = new Map()
    }
    this.#young.set(key, kept)
  }
}
