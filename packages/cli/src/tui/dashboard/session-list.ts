/** The list of `holdpoint tui`: pending requests first, then agents that failed, then the other sessions by state. This file also builds the header lines of the screen and of a session. */
import {
  actionLabel,
  attachCommand,
  type InboxSnapshot,
  rulesNotice,
  shownRisk,
  stateLabel,
  summary,
  summaryText,
  timeSince,
  troubleOf,
} from '@holdpoint/client'
import type { Request, RequestId, Risk, Session, SessionId } from '@holdpoint/protocol'
import { dueLabel } from '../../output/deadline.ts'
import { riskSpan, shortRiskSpan } from '../../output/request.ts'
import { row, type Span, trusted, untrusted, untrustedCode } from '../../output/span.ts'
import { cut, cutSpans, type StyledLine, widthOf, widthOfSpans, wrap } from '../../output/width.ts'
import { dashboardTexts as texts } from './texts.ts'

export type ListItem =
  | {
      readonly kind: 'request'
      readonly id: RequestId
      readonly request: Request
      readonly session: Session | undefined
    }
  | { readonly kind: 'session'; readonly id: SessionId; readonly session: Session }
export interface ListGroup {
  readonly title: string
  readonly items: readonly ListItem[]
}

const endedMax = 20
const titleMin = 6
const oneLineMinColumns = 56

/** A snapshot object does not change, so its groups can be cached by identity. */
const groupsCache = new WeakMap<InboxSnapshot, readonly ListGroup[]>()

export function groupsOf(inbox: InboxSnapshot): readonly ListGroup[] {
  const groups = groupsCache.get(inbox) ?? groupItems(inbox)
  groupsCache.set(inbox, groups)
  return groups
}

function groupItems({ order, requests, sessions }: InboxSnapshot): readonly ListGroup[] {
  const pending = order.flatMap((id): ListItem[] => {
    const request = requests.get(id)
    return request ? [{ kind: 'request', id, request, session: sessions.get(request.session) }] : []
  })
  const all = [...sessions.values()].toSorted((a, b) => b.stateChangedAt - a.stateChangedAt)
  const sessionsThat = (matches: (session: Session) => boolean): ListItem[] =>
    all.filter(matches).map(session => ({ kind: 'session', id: session.id, session }))
  const intactThat = (wanted: Session['state']) =>
    sessionsThat(session => session.state === wanted && !hasFailed(session))
  return [
    { title: 'Waiting for you', items: pending },
    { title: 'Failed', items: sessionsThat(hasFailed) },
    { title: 'Working', items: sessionsThat(isWorking) },
    { title: 'Idle', items: intactThat('idle') },
    { title: 'Parked', items: intactThat('parked') },
    { title: 'Disconnected', items: sessionsThat(({ state }) => state === 'disconnected') },
    { title: 'Ended', items: sessionsThat(({ state }) => state === 'ended').slice(0, endedMax) },
  ].filter(group => group.items.length > 0)
}

/** Returns whether a session that has not ended has an agent that failed or was lost. */
function hasFailed(session: Session): boolean {
  const trouble = troubleOf(session)?.kind
  return session.state !== 'ended' && (trouble === 'failed' || trouble === 'lost')
}

/** Returns whether a session is listed as working. A session with a pending request is not, because the list shows the request instead. */
function isWorking({ state, pending }: Session): boolean {
  return (state === 'starting' || state === 'working') && pending === 0
}

export function itemsOf(groups: readonly ListGroup[]): readonly ListItem[] {
  return groups.flatMap(group => group.items)
}

/** Returns the visible part of the list, with the selected item near the middle. */
export function listLines(
  groups: readonly ListGroup[],
  selected: string | null,
  {
    columns,
    height,
    now,
    isFocused,
  }: { readonly columns: number; readonly height: number; readonly now: number; readonly isFocused: boolean },
): readonly StyledLine[] {
  const lines: { readonly line: StyledLine; readonly id: string | null }[] = []
  for (const { title, items } of groups) {
    if (lines.length > 0) lines.push({ line: [], id: null })
    const style = title.startsWith('Waiting') ? 'waiting' : 'quiet'
    lines.push({ line: [trusted(cut(`${title} ${items.length}`, columns), style)], id: null })
    for (const item of items)
      for (const line of itemLines(item, item.id === selected, { group: title, columns, now, isFocused }))
        lines.push({ line, id: item.id })
  }
  const index = Math.max(
    0,
    lines.findIndex(({ id }) => id === selected),
  )
  const top = Math.max(0, Math.min(index - Math.floor(height / 2), lines.length - height))
  return lines.slice(top, top + height).map(({ line }) => line)
}

/** Returns the lines of one item. The row of a request has its risk, its command or question, and its session. The row of a session has its state, unless the title of the group says it. In a narrow list, what follows the command or the title moves to a second line. */
function itemLines(
  item: ListItem,
  isSelected: boolean,
  { group, columns, now, isFocused }: { group: string; columns: number; now: number; isFocused: boolean },
): readonly StyledLine[] {
  const time = timeSpan(item, now)
  const sign = isSelected ? (isFocused ? '› ' : '· ') : '  '
  const columnsLeft = Math.max(4, columns - widthOf(sign) - widthOf(time.text) - 1)
  const style = isSelected ? 'strong' : null
  const title = untrusted(item.session?.title ?? '', style)
  const line = (spans: readonly Span[]): StyledLine => {
    const text = cutSpans(spans, columnsLeft)
    const gap = ' '.repeat(Math.max(1, columns - widthOf(sign) - widthOfSpans(text) - widthOf(time.text)))
    const whole = [trusted(sign, style), ...text, trusted(gap), time]
    return isSelected && isFocused ? whole.map(span => span.withStyle('selected')) : whole
  }
  const indent = ' '.repeat(widthOf(sign))
  if (item.kind === 'session') {
    const state = stateSpan(item.session, group)
    if (state === null) return [line([title])]
    if (columns < oneLineMinColumns) return [line([title]), cutSpans([trusted(indent), state], columns)]
    const after = [trusted(dot, 'quiet'), state]
    return [line([...cutSpans([title], Math.max(titleMin, columnsLeft - widthOfSpans(after))), ...after])]
  }
  const { ask } = item.request
  const risk = shownRisk(item.request)
  // Low risk needs no attention, so the row of a request names only a higher one.
  const markOf = (span: (of: Risk) => Span) => (risk && risk.level !== 'low' ? [span(risk), trusted(dot, 'quiet')] : [])
  // A command or a path says what it does. Any other text is the agent's own, so our label goes with it.
  const action = summary(ask).isCode ? [] : [trusted(cut(actionLabel(ask), Math.ceil(columns / 2)), 'quiet')]
  const about = trusted(summaryText(ask), style)
  if (columns >= oneLineMinColumns) {
    const rest = [...action, ...(action.length > 0 ? [trusted(dot, 'quiet')] : [])]
    const freeAfter = (mark: readonly Span[]) => columnsLeft - widthOfSpans(mark) - widthOfSpans(rest) - widthOf(dot)
    const titleColumnsOf = (free: number) => Math.max(titleMin, Math.min(widthOf(title.text), Math.floor(free / 3)))
    // The command needs the space more than what it touches, so a row without enough space names only the level.
    const words = markOf(shortRiskSpan)
    const hasSpace = freeAfter(words) - titleColumnsOf(freeAfter(words)) >= widthOf(about.text)
    const mark = hasSpace ? words : markOf(riskSpan)
    const before = [...mark, ...rest]
    const free = freeAfter(mark)
    const titleColumns = titleColumnsOf(free)
    const shown = cutSpans([about], Math.max(titleMin, free - titleColumns))
    const quietTitle = untrusted(item.session?.title ?? '', 'quiet')
    return [line([...before, ...shown, trusted(dot, 'quiet'), ...cutSpans([quietTitle], titleColumns)])]
  }
  const titleSpans = [
    ...action,
    ...(action.length > 0 ? [trusted(dot, 'quiet')] : []),
    untrusted(item.session?.title ?? '', 'quiet'),
  ]
  const mark = markOf(shortRiskSpan)
  const second = [...mark, ...cutSpans(titleSpans, columns - widthOf(sign) - widthOfSpans(mark))]
  return [line([about]), [trusted(indent), ...second]]
}
const dot = ' · '

/** Returns the state of a session, or null if the title of its group says the same. */
function stateSpan(session: Session, group: string): Span | null {
  const label = stateLabel(session)
  if (label === group.toLowerCase()) return null
  return trusted(label, troubleOf(session) ? 'no' : 'quiet')
}

/** Returns how long a request may still wait if it has a deadline, and otherwise how old the item is. */
function timeSpan(item: ListItem, now: number): Span {
  if (item.kind === 'session') return trusted(timeSince(item.session.stateChangedAt, now), 'quiet')
  const due = dueLabel(item.request, now)
  if (due === '') return trusted(timeSince(item.request.openedAt, now), 'quiet')
  return trusted(due === 'overdue' ? due : `due ${due}`, 'waiting')
}

export function headerLine(
  { pendingCount, sessions, status }: InboxSnapshot,
  url: string,
  columns: number,
): StyledLine {
  const working = [...sessions.values()].filter(isWorking).length
  const name = [trusted('Holdpoint', 'strong'), trusted('  ')]
  const count =
    pendingCount > 0 ? trusted(texts.waiting(pendingCount), 'waiting') : trusted(texts.nothingWaiting, 'quiet')
  const connection =
    status === 'live' ? [] : [trusted(status === 'connecting' ? texts.connecting : texts.reconnecting, 'strong')]
  // On a narrow screen, the less important parts are left out, so that nothing is cut.
  const choices = [
    [...name, count, trusted(texts.working(working), 'quiet'), ...connection],
    [...name, count, ...connection],
  ]
  const left = choices.find(spans => widthOfSpans(spans) <= columns) ?? [count, ...connection]
  const { host } = new URL(url)
  const gap = columns - widthOfSpans(left) - widthOf(host)
  return gap > 1 ? [...left, trusted(`${' '.repeat(gap)}${host}`, 'quiet')] : cutSpans(left, columns)
}

/** Formats a session in one line. The leading bar marks text that Holdpoint did not write. */
export function sessionSummary({ title, driver, cwd, mode, cost }: Session): readonly Span[] {
  const facts = [driver, cwd, ...(mode ? [mode] : []), ...(cost === null ? [] : [`$${cost.toFixed(2)}`])]
  return [
    trusted('▌ ', 'quiet'),
    untrusted(title, 'strong'),
    ...facts.flatMap(fact => [trusted(' · ', 'quiet'), untrustedCode(fact, 'quiet')]),
  ]
}
/** Returns the header lines of an open session. */
export function sessionHeaderLines(session: Session, columns: number): readonly StyledLine[] {
  const style = session.pending > 0 && session.state !== 'ended' ? 'waiting' : 'quiet'
  const state = [trusted(stateLabel(session), style), trusted(`  ${session.id}`, 'quiet')]
  const isOpen = session.state !== 'ended'
  const notice = isOpen ? rulesNotice(session) : null
  const command = isOpen ? attachCommand(session) : null
  return [
    cutSpans(sessionSummary(session), columns),
    cutSpans(state, columns),
    ...(notice === null ? [] : wrap(row(trusted(notice, 'quiet')), columns)),
    ...(command === null ? [] : wrap(row(trusted(texts.attach, 'quiet'), untrustedCode(command)), columns)),
  ]
}
