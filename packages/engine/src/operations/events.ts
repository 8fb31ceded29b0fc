/** Reads the event log page by page, forwards or backwards from a cursor; `listEvents` returns the events of one session. */
import {
  type Cursor,
  type Event,
  Fault,
  formatCursor,
  limits,
  type ParsedInput,
  parseCursor,
} from '@holdpoint/protocol'
import { maySee, sessionNotFound } from '../authorization.ts'
import type { Context } from '../context.ts'
import type { Caller } from '../gateway.ts'
import { type EventRange, eventBytes, fillPage, scanEvents } from '../paging.ts'
import type { Store, StoredEvent } from '../store.ts'

export function cursorOf({ epoch, seq }: StoredEvent): Cursor {
  return formatCursor(epoch, seq)
}

export function toEvent(event: StoredEvent): Event {
  return { cursor: cursorOf(event), at: event.at, session: event.session, ...event.body }
}

/** Resolves with the seq of a cursor, or undefined if the cursor does not belong to this log, for example after a backup was restored. */
export async function seqOf(store: Store, cursor: string): Promise<number | undefined> {
  const { epoch, seq } = parseCursor(cursor)
  if (seq === 0) return 0
  return (await store.epochAt(seq)) === epoch ? seq : undefined
}

/** Resolves with the range of events from which a page is filled. With `before`, events are read newest first, so that the page ends at that cursor. */
export async function rangeOf(
  store: Store,
  { after, before }: Pick<ParsedInput<'listEvents'>, 'after' | 'before'>,
): Promise<EventRange> {
  if (before === 'end') return { newestFirst: true }
  const cursor = before ?? after
  if (cursor === undefined) return {}
  const seq = await seqOf(store, cursor)
  if (seq === undefined)
    throw new Fault(
      'gone',
      `The cursor ${cursor} does not belong to this log (a backup may have been restored). Read again from the start, or with before=end`,
      { cursor },
    )
  return before === undefined ? { after: seq } : { before: seq, newestFirst: true }
}

/** Returns the items oldest first, even if the range was read newest first. */
export function inLogOrder<T>(range: EventRange, items: readonly T[]): T[] {
  return range.newestFirst ? items.toReversed() : [...items]
}

export async function listEvents(ctx: Context, caller: Caller, input: ParsedInput<'listEvents'>) {
  const session = await ctx.store.get('session', input.id)
  if (!session || !maySee(caller, session)) throw sessionNotFound(input.id)
  const range = await rangeOf(ctx.store, input)
  const max = { items: input.limit ?? limits.pageDefault, bytes: limits.pageMaxBytes }
  const { items, more } = await fillPage(scanEvents(ctx, { ...range, session: input.id }), max, eventBytes)
  const last = items.at(-1)
  const next = more && last ? cursorOf(last) : null
  return { status: 200, body: { items: inLogOrder(range, items.map(toEvent)), next } }
}
