/** Sessions as lines: a list of them, and one in full. */
import { ago, stateWords } from '@holdpoint/client'
import type { Session } from '@holdpoint/protocol'
import { type Look, ours, type Row, row, theirs } from './span.ts'
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
    ours(stateWords(session), stateLook(session)),
    ours(ago(session.stateChangedAt, now)),
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
  const facts: readonly (readonly [string, string | null])[] = [
    ['Agent', session.driver],
    ['Folder', session.cwd],
    ['Mode', session.mode],
    ['Model', session.model],
    ['Cost', session.cost === null ? null : `$${session.cost.toFixed(2)}`],
    ['Ended', session.ending?.detail ?? null],
    ['Last words', session.lastWords || null],
  ]
  return [
    row(
      theirs(session.title, 'strong'),
      ours('  '),
      ours(`${stateWords(session)} · ${ago(session.stateChangedAt, now)}`, stateLook(session)),
      ours(`  ${session.id}`, 'quiet'),
    ),
    ...facts.flatMap(([name, value]) => (value === null ? [] : [row(ours(name.padEnd(12), 'quiet'), theirs(value))])),
  ]
}

function stateLook({ state, pending }: Session): Look | null {
  if (state === 'ended') return 'quiet'
  return pending > 0 ? 'waiting' : null
}
