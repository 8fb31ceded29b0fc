/** `holdpoint inbox`: lists the pending requests, the most urgent first. */
import { actionLabel, agentDisconnectedLabels, compareUrgency, summaryText, timeSince } from '@holdpoint/client'
import type { Session } from '@holdpoint/protocol'
import type { GatewayClient } from '../gateway-client/gateway-client.ts'
import { out } from '../output/output.ts'
import { riskSpan } from '../output/request.ts'
import { titleSpan } from '../output/session.ts'
import { type Row, row, trusted, untrusted } from '../output/span.ts'
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
  // On a narrow screen, the command or the question itself says what the agent wants.
  const isNarrow = out.columns !== null && out.columns < 100
  const lines = requests.toSorted(compareUrgency).map(({ id, openedAt, session: sessionId, ask, risk }) => {
    const session = sessionsById.get(sessionId)
    return [
      trusted(shorten(id), 'waiting'),
      trusted(timeSince(openedAt, now)),
      session ? titleSpan(session, out.columns) : untrusted(sessionId),
      risk ? riskSpan(risk) : trusted(''),
      ...(isNarrow ? [] : [trusted(actionLabel(ask))]),
      trusted(
        session?.state === 'disconnected' ? `(${agentDisconnectedLabels.short}) ${summaryText(ask)}` : summaryText(ask),
      ),
    ]
  })
  out.printTable(['id', 'age', 'session', 'risk', ...(isNarrow ? [] : ['action']), 'what'], lines)
  out.printHint(listTexts.answerHint)
}

function emptyInboxRow(sessions: readonly Session[]): Row {
  const working = sessions.filter(({ state }) => state === 'working' || state === 'starting').length
  return row(trusted(listTexts.emptyInbox(working)))
}
