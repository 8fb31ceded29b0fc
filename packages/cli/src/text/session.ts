/** Sessions as lines: a list of them, and one in full. */
import { plainText, stateLabel, timeSince } from '@holdpoint/client'
import type { Session } from '@holdpoint/protocol'
import { brief, fact, type Look, ours, type Row, row, type Span, theirs } from './span.ts'
import { tableRows, titleColumns } from './table.ts'
import { cut } from './width.ts'

export function sessionsTable(
  sessions: readonly Session[],
  short: (id: string) => string,
  now: number,
  columns: number | null,
): readonly Row[] {
  const lines = sessions.map(session => [
    ours(short(session.id)),
    ours(stateLabel(session), stateLook(session)),
    ours(timeSince(session.stateChangedAt, now)),
    titleSpan(session, columns),
    theirs(session.driver),
    theirs(session.cwd),
  ])
  return tableRows(['id', 'state', 'since', 'title', 'agent', 'folder'], lines, columns)
}

/** On a screen a long title makes room for the rest of its line. */
export function titleSpan({ title }: Session, columns: number | null) {
  return theirs(title).shortened(text => (columns === null ? text : cut(text, titleColumns)))
}

export function sessionRows(session: Session, now: number): readonly Row[] {
  const facts: readonly (readonly [string, Span | null])[] = [
    ['Agent', theirs(session.driver)],
    ['Folder', theirs(session.cwd)],
    ['Mode', session.mode === null ? null : theirs(session.mode)],
    ['Model', session.model === null ? null : theirs(session.model)],
    ['Cost', session.cost === null ? null : ours(`$${session.cost.toFixed(2)}`)],
    ['Ended', session.ending?.detail ? brief(session.ending.detail) : null],
    ['Last words', session.lastMessage ? brief(plainText(session.lastMessage)) : null],
  ]
  return [
    row(
      ours('▌ ', 'quiet'),
      theirs(session.title, 'strong'),
      ours('  '),
      ours(`${stateLabel(session)} · ${timeSince(session.stateChangedAt, now)}`, stateLook(session)),
      ours(`  ${session.id}`, 'quiet'),
    ),
    ...facts.flatMap(([name, value]) => (value === null ? [] : [fact(name, value)])),
  ]
}

function stateLook({ state, pending }: Session): Look | null {
  if (state === 'ended') return 'quiet'
  return pending > 0 ? 'waiting' : null
}
