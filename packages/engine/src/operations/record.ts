/** Reading the log: a session's own lines, and the record of resolutions, which is a view of the same book (G10). */
import { type Event, Fault, limits, type Parsed, readCursor, spellCursor } from '@holdpoint/protocol'
import type { Context } from '../context.ts'
import type { Caller } from '../desk.ts'
import { maySee, noSession } from '../guard.ts'
import { eventBytes, fillPage, scanEvents } from '../page.ts'
import type { Store, StoredEvent } from '../port.ts'

export function showEvent(event: StoredEvent): Event {
  return { cursor: spellCursor(event.epoch, event.seq), at: event.at, session: event.session, ...event.body }
}

/** The place a cursor names; undefined where it is of another lineage: a restored backup, another gateway's archive. */
export async function placeOf(store: Store, cursor: string): Promise<number | undefined> {
  const { epoch, seq } = readCursor(cursor)
  if (seq === 0) return 0
  return (await store.epochAt(seq)) === epoch ? seq : undefined
}

async function readLog(
  ctx: Context,
  input: { after?: string | undefined; limit?: number | undefined },
  filter: Partial<Parameters<Store['events']>[0]>,
) {
  const after = input.after === undefined ? 0 : await placeOf(ctx.store, input.after)
  if (after === undefined)
    throw new Fault(
      'gone',
      `The cursor ${input.after} is not of this log (a backup may have been restored); read again from the start`,
      { cursor: input.after },
    )
  const max = { items: input.limit ?? limits.pageDefault, bytes: limits.pageMaxBytes }
  const page = await fillPage(scanEvents(ctx.store, { ...filter, after }), max, eventBytes)
  const items = page.items.map(showEvent)
  return { status: 200, body: { items, next: page.more ? (items.at(-1)?.cursor ?? null) : null } }
}

export async function listEvents(ctx: Context, caller: Caller, input: Parsed<'listEvents'>) {
  const session = await ctx.store.get('session', input.id)
  if (!session || !maySee(caller, session)) throw noSession(input.id)
  return readLog(ctx, input, { session: input.id })
}

export function listAudit(ctx: Context, _caller: Caller, input: Parsed<'listAudit'>) {
  return readLog(ctx, input, { types: ['request.resolved'], ...(input.session ? { session: input.session } : {}) })
}
