/** Records when each credential was last used. A row is written at most once per minute, so that a busy credential costs nothing. */
import type { Context } from './context.ts'
import type { Caller } from './gateway.ts'

const intervalMs = 60_000

export class TokenUse {
  /** The rows of credentials that were used since they were last written. */
  readonly #used = new Set<string>()
  /** When each row was written, if that was within the interval. */
  readonly #storedAt = new Map<string, number>()

  note({ credential }: Caller): void {
    if (credential !== undefined) this.#used.add(credential)
  }

  /** Writes the rows that are due. The sweep calls this. */
  async store(ctx: Context, now: number): Promise<void> {
    for (const [id, at] of this.#storedAt) if (now - at >= intervalMs) this.#storedAt.delete(id)
    const due = [...this.#used].filter(id => !this.#storedAt.has(id))
    if (due.length === 0) return
    for (const id of due) {
      this.#used.delete(id)
      this.#storedAt.set(id, now)
    }
    await ctx.commit({
      label: 'tokenUse',
      reads: due.map(id => ({ table: 'token', id })),
      decide: change => {
        for (const id of due) {
          const row = change.get('token', id)
          if (row?.revokedAt === null) change.put('token', { ...row, lastUsedAt: change.now })
        }
        return { status: 200, body: {} }
      },
    })
  }
}
