/** Deletes keys of secret answers that are no longer needed: keys of answers that were never stored, and keys of sessions that have ended. */
import type { Context } from './context.ts'
import { withoutSecrets } from './request-transitions.ts'
import { requestOfKey } from './secrets.ts'

const intervalMs = 10_000
/** A key is stored before its answer, so a new key may belong to an answer that is being stored. */
const ageMinMs = 60_000

export class KeySweep {
  #nextAt = Number.NEGATIVE_INFINITY

  async run(ctx: Context, now: number): Promise<void> {
    if (now < this.#nextAt) return
    this.#nextAt = now + intervalMs
    for (const id of await ctx.store.keys.list(ageMinMs)) {
      const row = await ctx.store.get('request', requestOfKey(id))
      const session = row?.sealed?.key === id ? await ctx.store.get('session', row.session) : undefined
      if (session && session.state !== 'ended') await ctx.store.keys.share(id)
      else if (session) await removeSecrets(ctx, requestOfKey(id))
      else await ctx.store.keys.delete([id])
    }
  }
}

/** Removes the secrets of an answer that can no longer be delivered. The commit deletes their key. */
function removeSecrets(ctx: Context, id: ReturnType<typeof requestOfKey>) {
  return ctx.commit({
    label: 'removeSecrets',
    reads: [{ table: 'request', id }],
    decide: change => {
      const row = change.get('request', id)
      if (row) change.put('request', withoutSecrets(change, row))
      return { status: 200, body: {} }
    },
  })
}
