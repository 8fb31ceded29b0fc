/** Formats a list of sessions, or one session in full. */
import { attachCommand, plainText, rulesNotice, stateLabel, timeSince, waitedFor, waitedTime } from '@holdpoint/client'
import type { Repository, Session } from '@holdpoint/protocol'
import {
  labelled,
  type Row,
  row,
  type Span,
  type Style,
  trusted,
  untrusted,
  untrustedCode,
  untrustedLine,
} from './span.ts'
import { type NarrowTable, titleColumns } from './table.ts'
import { cut } from './width.ts'

export const sessionColumns = ['id', 'state', 'since', 'title', 'agent', 'folder'] as const
export const narrowSessions: NarrowTable = { spare: ['agent', 'folder', 'since', 'state'], lastMin: 10 }

/** Returns the cells of a session in the order of `sessionColumns`. */
export function sessionCells(
  session: Session,
  shorten: (id: string) => string,
  now: number,
  columns: number | null,
): readonly Span[] {
  return [
    trusted(shorten(session.id)),
    trusted(stateLabel(session), stateStyle(session)),
    trusted(timeSince(session.stateChangedAt, now)),
    titleSpan(session, columns),
    untrustedCode(session.driver),
    untrustedCode(session.cwd),
  ]
}

/** Cuts a long title on a terminal, so that the other columns fit. */
export function titleSpan({ title }: Session, columns: number | null) {
  return untrusted(title).shortened(text => (columns === null ? text : cut(text, titleColumns(columns))))
}

export function sessionRows(session: Session, now: number): readonly Row[] {
  const isOpen = session.state !== 'ended'
  const notice = isOpen ? rulesNotice(session) : null
  const command = isOpen ? attachCommand(session) : null
  const waited = waitedTime(waitedFor(session, now))
  const details: readonly (readonly [string, Span | null])[] = [
    ['Agent', untrustedCode(session.driver)],
    ['Folder', untrustedCode(session.cwd)],
    ['Repository', session.repository ? repositorySpan(session.repository) : null],
    ['Mode', session.mode === null ? null : untrustedCode(session.mode)],
    ['Model', session.model === null ? null : untrustedCode(session.model)],
    ['Cost', session.cost === null ? null : trusted(`$${session.cost.toFixed(2)}`)],
    ['Waited', waited === null ? null : trusted(`${waited} for people`)],
    ['Rules', notice === null ? null : trusted(notice, 'quiet')],
    ['Terminal', command === null ? null : untrustedCode(command)],
    ['Last turn', lastTurnSpan(session)],
    ['Ended', session.ending?.detail ? untrustedLine(session.ending.detail) : null],
    ['Message', session.lastMessage ? untrustedLine(plainText(session.lastMessage)) : null],
  ]
  return [
    row(
      trusted('▌ ', 'quiet'),
      untrusted(session.title, 'strong'),
      trusted('  '),
      trusted(`${stateLabel(session)} · ${timeSince(session.stateChangedAt, now)}`, stateStyle(session)),
      trusted(`  ${session.id}`, 'quiet'),
    ),
    ...details.flatMap(([label, value]) => (value === null ? [] : [labelled(label, value)])),
  ]
}

/** Says which branch of which repository is checked out, or the start of the commit if no branch is. */
function repositorySpan({ root, branch, commit }: Repository): Span {
  const checkedOut = branch === null ? `at ${commit?.slice(0, commitLength) ?? ''}` : `on ${branch}`
  return untrustedCode(`${root} ${checkedOut}`)
}
const commitLength = 10

function lastTurnSpan({ lastTurn }: Session): Span | null {
  if (lastTurn?.ending !== 'failed') return null
  return lastTurn.problem === undefined
    ? trusted('failed', 'no')
    : untrustedLine(`failed: ${plainText(lastTurn.problem)}`, 'no')
}

function stateStyle({ state, pending }: Session): Style | null {
  if (state === 'ended') return 'quiet'
  return pending > 0 ? 'waiting' : null
}
