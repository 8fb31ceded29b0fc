/** Reading the log by pages: from which place, in which direction, and a session's own lines. */
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

function showEvent(event: StoredEvent): Event {
  return { cursor: cursorOf(event), at: event.at, session: event.session, ...event.body }
}

/** The place a cursor names; undefined where it is of another lineage: a restored backup, another gateway's archive. */
export async function seqOf(store: Store, cursor: string): Promise<number | undefined> {
  const { epoch, seq } = parseCursor(cursor)
  if (seq === 0) return 0
  return (await store.epochAt(seq)) === epoch ? seq : undefined
}

/** The events that a page is taken from, those that belong in it first: in reverse, where it is read back from a place. */
export async function rangeOf(
  store: Store,
  { after, before }: Pick<ParsedInput<'listEvents'>, 'after' | 'before'>,
): Promise<EventRange> {
  if (before === 'end') return { newestFirst: true }
  const cursor = before ?? after
  if (cursor === undefined) return {}
  const place = await seqOf(store, cursor)
  if (place === undefined)
    throw new Fault(
      'gone',
      `The cursor ${cursor} is not of this log (a backup may have been restored); read again from the start, or from before=end`,
      { cursor },
    )
  return before === undefined ? { after: place } : { before: place, newestFirst: true }
}

/** What was read from a range, as a page shows it: in the order of the log. */
export function inOrder<T>(range: EventRange, read: readonly T[]): T[] {
  return range.newestFirst ? read.toReversed() : [...read]
}

export async function listEvents(ctx: Context, caller: Caller, input: ParsedInput<'listEvents'>) {
  const session = await ctx.store.get('session', input.id)
  if (!session || !maySee(caller, session)) throw sessionNotFound(input.id)
  const range = await rangeOf(ctx.store, input)
  const max = { items: input.limit ?? limits.pageDefault, bytes: limits.pageMaxBytes }
  const { items, more } = await fillPage(scanEvents(ctx.store, { ...range, session: input.id }), max, eventBytes)
  const last = items.at(-1)
  const next = more && last ? cursorOf(last) : null
  return { status: 200, body: { items: inOrder(range, items.map(showEvent)), next } }
}
