/** `holdpoint inbox`: lists the pending requests, the most urgent first. */
import { actionLabel, agentDisconnectedLabels, compareUrgency, summaryText, timeSince } from '@holdpoint/client'
import type { Session } from '@holdpoint/protocol'
import type { GatewayClient } from '../gateway-client/gateway-client.ts'
import { out } from '../output/output.ts'
import { riskSpan } from '../output/request.ts'
import { titleSpan } from '../output/session.ts'
import { blankRow, type Row, row, trusted, untrusted } from '../output/span.ts'
import { tableRows } from '../output/table.ts'
import { findSession, idShortener } from './ids.ts'
import { liveSessions, pendingRequests } from './queries.ts'
import { listTexts } from './texts.ts'

export interface InboxOptions {
  readonly session?: string
  readonly json?: boolean
}

export async function inbox({ call }: GatewayClient, { session: typedId, json }: InboxOptions): Promise<void> {
  const only = typedId === undefined ? undefined : await findSession(call, typedId)
  const [requests, sessions, { now }] = await Promise.all([
    pendingRequests(call, only?.id),
    json ? [] : liveSessions(call),
    call('whoAmI', {}),
  ])
  if (json) return out.json({ items: requests, next: null })
  if (requests.length === 0) return out.print(emptyInboxRow(sessions))
  const sessionsById = new Map(sessions.map(session => [session.id, session]))
  const shorten = idShortener(requests.map(({ id }) => id))
  const lines = requests.toSorted(compareUrgency).map(({ id, openedAt, session: sessionId, ask, risk }) => {
    const session = sessionsById.get(sessionId)
    return [
      trusted(shorten(id), 'waiting'),
      trusted(timeSince(openedAt, now)),
      session ? titleSpan(session, out.columns) : untrusted(sessionId),
      risk ? riskSpan(risk) : trusted(''),
      trusted(
        session?.state === 'disconnected' ? `${actionLabel(ask)} (${agentDisconnectedLabels.short})` : actionLabel(ask),
      ),
      trusted(summaryText(ask)),
    ]
  })
  out.print(...tableRows(['id', 'age', 'session', 'risk', 'action', ''], lines, out.columns))
  out.print(blankRow, row(trusted(listTexts.answerHint, 'quiet')))
}

function emptyInboxRow(sessions: readonly Session[]): Row {
  const working = sessions.filter(({ state }) => state === 'working' || state === 'starting').length
  return row(trusted(listTexts.emptyInbox(working)))
}
