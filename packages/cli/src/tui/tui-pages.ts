/** Pages of `holdpoint tui` that only tell: the help, and a session before it is opened. */
import type { InboxSnapshot } from '@holdpoint/client'
import type { Session } from '@holdpoint/protocol'
import { sessionRows } from '../text/session.ts'
import { blank, ours, type Row, row } from '../text/span.ts'

const help: readonly (readonly [string, string] | null)[] = [
  ['↑ ↓ j k', 'move in the list'],
  ['Enter →', 'open what is selected'],
  ['Esc ←', 'back to the list'],
  ['Tab', 'the next request that waits'],
  ['n', 'start a session'],
  ['q', 'leave; what waits goes on waiting'],
  null,
  ['a 1 / r 2', 'allow, or reject: what is asked stands above, whole'],
  ['e  n', 'edit it in your editor; add a note'],
  ['R  x', 'reject with a reason; reject and stop the turn'],
  ['1–9 ↑↓ space', 'choose; mark where several may be chosen'],
  ['Enter  o', 'confirm; type another answer'],
  ['space PgDn', 'the next page: what was not shown cannot be allowed'],
  ['Ctrl+C', 'reject what is asked; twice: leave'],
  null,
  ['Enter  i', 'write to an open session'],
  ['I I  E E', 'interrupt its turn; end it'],
]
const nameWidth = 15

export const helpRows: readonly Row[] = [
  row(ours('Keys', 'strong')),
  blank,
  ...help.map(line => (line ? row(ours(line[0].padEnd(nameWidth)), ours(line[1], 'quiet')) : blank)),
]

export function previewRows(session: Session | null, { complete, status }: InboxSnapshot, now: number): readonly Row[] {
  if (session) return [...sessionRows(session, now), blank, row(ours('Enter opens it.', 'quiet'))]
  if (status === 'connecting' || !complete) return [row(ours('Looking …', 'quiet'))]
  return [
    row(ours('Nothing waits for you, and no agent is at work.')),
    blank,
    row(ours('n starts a session.', 'quiet')),
  ]
}
