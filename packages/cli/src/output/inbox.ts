/** Formats the list of pending requests. */
import { actionLabel, agentDisconnectedLabels, shownRisk, summaryText, timeSince } from '@holdpoint/client'
import type { Request, Session } from '@holdpoint/protocol'
import { dueLabel } from './deadline.ts'
import { riskSpan, riskWordSpan } from './request.ts'
import { titleSpan } from './session.ts'
import { type Span, trusted, untrusted } from './span.ts'
import type { NarrowTable } from './table.ts'
import { cut } from './width.ts'

/** On a screen narrower than this, the label of the action is left out, because the command or the question shows what the agent wants. */
const actionFromColumns = 100

export interface InboxTableContext {
  readonly sessions: ReadonlyMap<Session['id'], Session>
  readonly shorten: (id: string) => string
  /** The gateway's time, epoch ms. */
  readonly now: number
  /** The width of the terminal, or null in a pipe, where every line has all columns. */
  readonly columns: number | null
}

/** How many columns the label of an action takes at most, because the names of MCP tools can be long. */
const actionMaxColumns = 24

/** On a narrow screen, the command is more important than the other columns. */
export const narrowInbox: NarrowTable = { spare: ['action', 'session', 'age', 'due', 'risk'], lastMin: 20 }

/** Returns the head of the list and the cells of each request. On a terminal, the list has no column for deadlines if no request has one. */
export function inboxTable(
  requests: readonly Request[],
  { sessions, shorten, now, columns }: InboxTableContext,
): { readonly head: readonly string[]; readonly lines: readonly (readonly Span[])[] } {
  const hasDue = columns === null || requests.some(({ deadlineAt }) => deadlineAt !== null)
  const hasAction = columns === null || columns >= actionFromColumns
  const lines = requests.map(request => {
    const { id, ask } = request
    const risk = shownRisk(request)
    const session = sessions.get(request.session)
    const disconnected = session?.state === 'disconnected' ? `(${agentDisconnectedLabels.short}) ` : ''
    return [
      trusted(shorten(id), 'waiting'),
      trusted(timeSince(request.openedAt, now)),
      ...(hasDue ? [trusted(dueLabel(request, now), 'waiting')] : []),
      session ? titleSpan(session, columns) : untrusted(request.session),
      risk ? (columns === null ? riskWordSpan : riskSpan)(risk) : trusted(''),
      ...(hasAction ? [trusted(columns === null ? actionLabel(ask) : cut(actionLabel(ask), actionMaxColumns))] : []),
      trusted(`${disconnected}${summaryText(ask)}`),
    ]
  })
  const head = ['id', 'age', ...(hasDue ? ['due'] : []), 'session', 'risk', ...(hasAction ? ['action'] : []), 'what']
  return { head, lines }
}
