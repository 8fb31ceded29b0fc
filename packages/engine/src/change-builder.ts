/** Collects the writes of one change on top of a view of the store. Reads include the change's own puts, and the last put of a row wins. */
import type { EventBody, SessionId } from '@holdpoint/protocol'
import type { Rows, Table } from './rows.ts'
import type { Put, Query, View, Writes } from './store.ts'

export class ChangeBuilder {
  readonly view: View
  readonly #puts = new Map<string, Put>()
  readonly #deletes = new Map<string, { table: Table; id: string }>()
  readonly #events: { session: SessionId | null; body: EventBody }[] = []
  #purge: SessionId | undefined
  /** The keys of secret answers that nobody needs once this change is committed. */
  readonly releasedKeys: string[] = []

  constructor(view: View) {
    this.view = view
  }
  get now(): number {
    return this.view.now
  }
  /** The seq of the next event of this change. New rows use this seq as their `ord`. */
  get nextSeq(): number {
    return this.view.nextSeq + this.#events.length
  }
  get<K extends Table>(table: K, id: string): Rows[K] | undefined {
    const put = this.#puts.get(`${table}/${id}`)
    return put ? (put.row as Rows[K]) : this.view.get(table, id) // the key contains the table, so the row belongs to that table
  }
  /** Returns the rows that match in the store, each as this change has put it. Rows that only this change adds are not included. */
  find<K extends Table>(table: K, query: Query): Rows[K][] {
    const rows = this.view.find(table, query)
    return rows.map(row => (this.#puts.get(`${table}/${row.id}`)?.row as Rows[K] | undefined) ?? row) // the key contains the table, so the row belongs to that table
  }
  put<K extends Table>(table: K, row: Rows[K]): Rows[K] {
    this.#puts.set(`${table}/${row.id}`, { table, row } as Put) // the signature ensures that the row belongs to the table
    return row
  }
  delete(table: Table, id: string): void {
    this.#deletes.set(`${table}/${id}`, { table, id })
  }
  event(session: SessionId | null, body: EventBody): void {
    this.#events.push({ session, body })
  }
  releaseKey(id: string): void {
    this.releasedKeys.push(id)
  }
  purge(session: SessionId): void {
    this.#purge = session
  }
  writes<T>(result: T): Writes & { readonly result: T } {
    return {
      puts: [...this.#puts.values()],
      deletes: [...this.#deletes.values()],
      events: this.#events,
      ...(this.#purge === undefined ? {} : { purge: this.#purge }),
      result,
    }
  }
}
