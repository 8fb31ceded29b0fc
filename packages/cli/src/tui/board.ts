/** The list of `holdpoint tui`: what waits first, then sessions by what they do. */
import { ago, deed, type InboxSnapshot, stateWords } from '@holdpoint/client'
import type { Request, RequestId, Session, SessionId } from '@holdpoint/protocol'
import { ours, type Row, row, theirs } from '../text/span.ts'
import { cut, type Piece, widthOf, wrap } from '../text/width.ts'
import { cutSpans } from './entry.ts'

export type Item =
  | {
      readonly kind: 'request'
      readonly id: RequestId
      readonly request: Request
      readonly session: Session | undefined
    }
  | { readonly kind: 'session'; readonly id: SessionId; readonly session: Session }
export interface Group {
  readonly title: string
  readonly items: readonly Item[]
}

const endedMax = 20

/** A snapshot is one object until something changes: it is sorted once. */
const sorted = new WeakMap<InboxSnapshot, readonly Group[]>()

export function groupsOf(inbox: InboxSnapshot): readonly Group[] {
  const groups = sorted.get(inbox) ?? sort(inbox)
  sorted.set(inbox, groups)
  return groups
}

function sort({ order, requests, sessions }: InboxSnapshot): readonly Group[] {
  const waiting = order.flatMap((id): Item[] => {
    const request = requests.get(id)
    return request ? [{ kind: 'request', id, request, session: sessions.get(request.session) }] : []
  })
  const all = [...sessions.values()].toSorted((a, b) => b.stateChangedAt - a.stateChangedAt)
  const having = (...states: readonly Session['state'][]): Item[] =>
    all.filter(({ state }) => states.includes(state)).map(session => ({ kind: 'session', id: session.id, session }))
  return [
    { title: 'Waiting for you', items: waiting },
    { title: 'Working', items: having('starting', 'working') },
    { title: 'Idle', items: having('idle') },
    { title: 'Parked', items: having('parked') },
    { title: 'Ended', items: having('ended').slice(0, endedMax) },
  ].filter(group => group.items.length > 0)
}

export function itemsOf(groups: readonly Group[]): readonly Item[] {
  return groups.flatMap(group => group.items)
}

/** The list in so many columns and lines, with what is selected in sight. */
export function listPieces(
  groups: readonly Group[],
  selected: string | null,
  {
    columns,
    height,
    now,
    focused,
  }: { readonly columns: number; readonly height: number; readonly now: number; readonly focused: boolean },
): readonly Piece[] {
  const lines: { readonly piece: Piece; readonly id: string | null }[] = []
  for (const { title, items } of groups) {
    if (lines.length > 0) lines.push({ piece: [], id: null })
    const waits = title.startsWith('Waiting')
    lines.push({ piece: [ours(cut(`${title} ${items.length}`, columns), waits ? 'waiting' : 'quiet')], id: null })
    for (const item of items)
      lines.push({ piece: itemPiece(item, item.id === selected, { columns, now, focused }), id: item.id })
  }
  const at = Math.max(
    0,
    lines.findIndex(({ id }) => id === selected),
  )
  const top = Math.max(0, Math.min(at - Math.floor(height / 2), lines.length - height))
  return lines.slice(top, top + height).map(({ piece }) => piece)
}

function itemPiece(
  item: Item,
  isSelected: boolean,
  { columns, now, focused }: { columns: number; now: number; focused: boolean },
): Piece {
  const since = item.kind === 'request' ? item.request.openedAt : item.session.stateChangedAt
  const time = ago(since, now)
  const sign = isSelected ? (focused ? '› ' : '· ') : '  '
  const room = Math.max(4, columns - widthOf(sign) - widthOf(time) - 1)
  const look = isSelected ? 'strong' : null
  const deeds = item.kind === 'request' ? [ours(`${deed(item.request.ask)} · `, look)] : []
  const text = cutSpans([...deeds, theirs(item.session?.title ?? '', look)], room)
  const used = text.reduce((sum, span) => sum + widthOf(span.text), 0)
  const gap = ' '.repeat(Math.max(1, columns - widthOf(sign) - used - widthOf(time)))
  return [ours(sign, look), ...text, ours(`${gap}${time}`, 'quiet')]
}

export function headPiece({ pendingCount, sessions, status }: InboxSnapshot, url: string, columns: number): Piece {
  const working = [...sessions.values()].filter(({ state }) => state === 'working' || state === 'starting').length
  const waits =
    pendingCount > 0
      ? ours(`${pendingCount} ${pendingCount === 1 ? 'waits' : 'wait'} for you`, 'waiting')
      : ours('Nothing waits for you', 'quiet')
  const works = ours(` · ${working} working`, 'quiet')
  const away =
    status === 'live'
      ? []
      : [ours(status === 'connecting' ? ' · connecting' : ' · the gateway is away; trying again', 'strong')]
  const left = [ours('Holdpoint', 'strong'), ours('  '), waits, works, ...away]
  const used = left.reduce((sum, span) => sum + widthOf(span.text), 0)
  const place = new URL(url).host
  return columns - used > place.length + 1
    ? [...left, ours(`${' '.repeat(columns - used - place.length)}${place}`, 'quiet')]
    : left
}

/** One line about a session, for the top of its pane. */
export function sessionRow({ title, driver, cwd, mode, cost }: Session): Row {
  const facts = [driver, cwd, ...(mode ? [mode] : []), ...(cost === null ? [] : [`$${cost.toFixed(2)}`])]
  return row(theirs(title, 'strong'), ...facts.flatMap(fact => [ours(' · ', 'quiet'), theirs(fact, 'quiet')]))
}
export function statePiece(session: Session, columns: number): Piece {
  const look = session.pending > 0 && session.state !== 'ended' ? 'waiting' : 'quiet'
  return wrap(row(ours(stateWords(session), look), ours(`  ${session.id}`, 'quiet')), columns)[0] ?? []
}
