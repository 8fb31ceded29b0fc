/** The list of `holdpoint tui`: what waits first, then sessions by what they do. */
import { actionLabel, type InboxSnapshot, stateLabel, timeSince } from '@holdpoint/client'
import type { Request, RequestId, Session, SessionId } from '@holdpoint/protocol'
import { type Span, trusted, untrusted } from '../../output/span.ts'
import { cut, cutSpans, type StyledLine, widthOf, widthOfSpans } from '../../output/width.ts'

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
const titleMin = 6
const oneLineFrom = 34

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
  const those = (fits: (session: Session) => boolean): Item[] =>
    all.filter(fits).map(session => ({ kind: 'session', id: session.id, session }))
  return [
    { title: 'Waiting for you', items: waiting },
    { title: 'Working', items: those(isWorking) },
    { title: 'Idle', items: those(({ state }) => state === 'idle') },
    { title: 'Parked', items: those(({ state }) => state === 'parked') },
    { title: 'Ended', items: those(({ state }) => state === 'ended').slice(0, endedMax) },
  ].filter(group => group.items.length > 0)
}

/** One that waits for a person does not work meanwhile; it is in the list with what it asks. */
function isWorking({ state, pending }: Session): boolean {
  return (state === 'starting' || state === 'working') && pending === 0
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
): readonly StyledLine[] {
  const lines: { readonly piece: StyledLine; readonly id: string | null }[] = []
  for (const { title, items } of groups) {
    if (lines.length > 0) lines.push({ piece: [], id: null })
    const waits = title.startsWith('Waiting')
    lines.push({ piece: [trusted(cut(`${title} ${items.length}`, columns), waits ? 'waiting' : 'quiet')], id: null })
    for (const item of items)
      for (const piece of itemPieces(item, item.id === selected, { columns, now, focused }))
        lines.push({ piece, id: item.id })
  }
  const at = Math.max(
    0,
    lines.findIndex(({ id }) => id === selected),
  )
  const top = Math.max(0, Math.min(at - Math.floor(height / 2), lines.length - height))
  return lines.slice(top, top + height).map(({ piece }) => piece)
}

/** What waits has a second line for who asks, where one would not hold both. */
function itemPieces(
  item: Item,
  isSelected: boolean,
  { columns, now, focused }: { columns: number; now: number; focused: boolean },
): readonly StyledLine[] {
  const since = item.kind === 'request' ? item.request.openedAt : item.session.stateChangedAt
  const time = timeSince(since, now)
  const sign = isSelected ? (focused ? '› ' : '· ') : '  '
  const room = Math.max(4, columns - widthOf(sign) - widthOf(time) - 1)
  const look = isSelected ? 'strong' : null
  const title = untrusted(item.session?.title ?? '', look)
  const line = (spans: readonly Span[]): StyledLine => {
    const text = cutSpans(spans, room)
    const gap = ' '.repeat(Math.max(1, columns - widthOf(sign) - widthOfSpans(text) - widthOf(time)))
    return [trusted(sign, look), ...text, trusted(`${gap}${time}`, 'quiet')]
  }
  if (item.kind === 'session') return [line([title])]
  const does = trusted(actionLabel(item.request.ask), look)
  if (columns >= oneLineFrom) {
    // What it does is told whole; a title may be cut.
    const room = Math.max(titleMin, columns - widthOf(sign) - widthOf(time) - widthOf(does.text) - widthOf(dot) - 1)
    return [line([does, trusted(dot, look), ...cutSpans([title], room)])]
  }
  const who = cutSpans([untrusted(item.session?.title ?? '', 'quiet')], columns - widthOf(sign))
  return [line([does]), [trusted(' '.repeat(widthOf(sign))), ...who]]
}
const dot = ' · '

export function headPiece({ pendingCount, sessions, status }: InboxSnapshot, url: string, columns: number): StyledLine {
  const working = [...sessions.values()].filter(isWorking).length
  const waits =
    pendingCount > 0
      ? trusted(`${pendingCount} ${pendingCount === 1 ? 'waits' : 'wait'} for you`, 'waiting')
      : trusted('Nothing waits for you', 'quiet')
  const works = trusted(` · ${working} working`, 'quiet')
  const away =
    status === 'live'
      ? []
      : [trusted(status === 'connecting' ? ' · connecting' : ' · the gateway is away; trying again', 'strong')]
  const left = [trusted('Holdpoint', 'strong'), trusted('  '), waits, works, ...away]
  const place = new URL(url).host
  const gap = columns - widthOfSpans(left) - widthOf(place)
  return gap > 1 ? [...left, trusted(`${' '.repeat(gap)}${place}`, 'quiet')] : cutSpans(left, columns)
}

/** One line about a session, behind a sign of ours. */
export function sessionSpans({ title, driver, cwd, mode, cost }: Session): readonly Span[] {
  const facts = [driver, cwd, ...(mode ? [mode] : []), ...(cost === null ? [] : [`$${cost.toFixed(2)}`])]
  return [
    trusted('▌ ', 'quiet'),
    untrusted(title, 'strong'),
    ...facts.flatMap(fact => [trusted(' · ', 'quiet'), untrusted(fact, 'quiet')]),
  ]
}
/** The head of its pane. */
export function sessionPieces(session: Session, columns: number): readonly StyledLine[] {
  const look = session.pending > 0 && session.state !== 'ended' ? 'waiting' : 'quiet'
  const state = [trusted(stateLabel(session), look), trusted(`  ${session.id}`, 'quiet')]
  return [cutSpans(sessionSpans(session), columns), cutSpans(state, columns)]
}
