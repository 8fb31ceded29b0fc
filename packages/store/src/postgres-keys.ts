/** Shares the keys of secret answers between the gateways on one PostgreSQL. The table is unlogged, so that write-ahead log, replicas and base backups never contain a key. PostgreSQL empties such a table after a crash; therefore the gateway that accepted an answer also keeps its key in a folder, and stores it in the table again. */
import type { KeyStore } from '@holdpoint/engine'
import { type Database, databaseMaxMs, postgresFault, type Sql } from './postgres-connection.ts'

export class PostgresKeys implements KeyStore {
  readonly #database: Database
  readonly #location: string
  /** The folder of this gateway; null if it keeps no keys of its own. */
  readonly #folder: KeyStore | null

  constructor(database: Database, location: string, folder: KeyStore | null) {
    this.#database = database
    this.#location = location
    this.#folder = folder
  }

  async put(id: string, key: string): Promise<void> {
    await this.#folder?.put(id, key)
    await this.#insert(id, key)
  }
  async #insert(id: string, key: string): Promise<void> {
    await this.#run(
      sql => sql`INSERT INTO holdpoint.secret_key (id, key) VALUES (${id}, ${key}) ON CONFLICT (id) DO NOTHING`,
    )
  }

  async get(id: string): Promise<string | undefined> {
    const own = await this.#folder?.get(id)
    if (own !== undefined) return own
    const [row] = await this.#run(sql => sql<{ key: string }[]>`SELECT key FROM holdpoint.secret_key WHERE id = ${id}`)
    return row?.key
  }

  async delete(ids: readonly string[]): Promise<void> {
    await this.#folder?.delete(ids)
    await this.#run(
      sql =>
        sql`DELETE FROM holdpoint.secret_key WHERE id = ANY (ARRAY(SELECT json_array_elements_text(${JSON.stringify(ids)}::text::json)))`,
    )
    // PostgreSQL keeps a deleted row in its file until it is vacuumed. Another gateway may be doing that now.
    await this.#run(sql => sql`VACUUM (SKIP_LOCKED) holdpoint.secret_key`).catch(() => {})
  }

  async list(ageMs: number): Promise<readonly string[]> {
    const own = (await this.#folder?.list(ageMs)) ?? []
    const rows = await this.#run(
      sql =>
        sql<
          { id: string }[]
        >`SELECT id FROM holdpoint.secret_key WHERE at <= extract(epoch FROM clock_timestamp()) * 1000 - ${ageMs}`,
    )
    return [...new Set([...own, ...rows.map(({ id }) => id)])]
  }

  async share(id: string): Promise<void> {
    const own = await this.#folder?.get(id)
    if (own !== undefined) await this.#insert(id, own)
  }

  async #run<T>(work: (sql: Sql) => PromiseLike<T>): Promise<T> {
    try {
      return await this.#database.run(databaseMaxMs.read, async sql => await work(sql))
    } catch (error) {
      throw postgresFault(this.#location, error)
    }
  }
}
