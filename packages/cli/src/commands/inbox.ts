/** `holdpoint inbox`: lists the pending requests, the most urgent first, or counts them. */
import { compareUrgency } from '@holdpoint/client'
import { Fault, type Session } from '@holdpoint/protocol'
import type { GatewayAddress, GatewayClient } from '../gateway-client/gateway-client.ts'
import { inboxTable, narrowInbox } from '../output/inbox.ts'
import { out, printEmptyList } from '../output/output.ts'
import { row, trusted } from '../output/span.ts'
import { watchInbox } from '../tui/inbox-watch.ts'
import { isInteractive } from '../tui/terminal/terminal.ts'
import { findSession, idShortener } from './ids.ts'
import { liveSessions, pendingRequests } from './queries.ts'
import { listTexts } from './texts.ts'

export interface InboxOptions extends GatewayAddress {
  readonly session?: string
  readonly count?: boolean
  readonly watch?: boolean
  readonly json?: boolean
}

export async function inbox(client: GatewayClient, options: InboxOptions): Promise<void> {
  const { call } = client
  const only = options.session === undefined ? undefined : await findSession(call, options.session)
  if (options.watch) {
    if (!isInteractive()) throw new Fault('bad_input', listTexts.watchNeedsTerminal)
    return watchInbox(client, only?.id)
  }
  const requests = await pendingRequests(call, only?.id)
  if (options.json) return out.json({ items: requests, next: null })
  if (options.count) return out.print(row(trusted(String(requests.length))))
  const [sessions, { now }] = await Promise.all([liveSessions(call), call('whoAmI', {})])
  if (requests.length === 0) return printEmptyList(emptyInboxText(sessions))
  const { head, lines } = inboxTable(requests.toSorted(compareUrgency), {
    sessions: new Map(sessions.map(session => [session.id, session])),
    shorten: idShortener(requests.map(({ id }) => id)),
    now,
    columns: out.columns,
  })
  out.printTable(head, lines, narrowInbox)
  out.printHint(listTexts.answerHint)
}

function emptyInboxText(sessions: readonly Session[]): string {
  const working = sessions.filter(({ state }) => state === 'working' || state === 'starting').length
  return listTexts.emptyInbox(working)
}
