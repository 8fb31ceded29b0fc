/** `holdpoint inbox` and `holdpoint sessions`: what waits for people, and who is at work. */
import { actionLabel, summary, timeSince } from '@holdpoint/client'
import { Fault, limits, type Session, type SessionState } from '@holdpoint/protocol'
import type { GatewayClient } from '../gateway-client/gateway-client.ts'
import { out } from '../output/output.ts'
import { sessionsTable, titleSpan } from '../output/session.ts'
import { type Row, row, trusted, untrusted, untrustedLine } from '../output/span.ts'
import { tableRows } from '../output/table.ts'
import { findSession, idShortener } from './ids.ts'
import { byUrgency, liveSessions, pendingRequests } from './lists.ts'

export interface InboxOptions {
  readonly session?: string
  readonly json?: boolean
}

export async function inbox({ call }: GatewayClient, { session: spelled, json }: InboxOptions): Promise<void> {
  const only = spelled === undefined ? undefined : await findSession(call, spelled)
  const [requests, sessions, { now }] = await Promise.all([
    pendingRequests(call, only?.id),
    json ? [] : liveSessions(call),
    call('whoAmI', {}),
  ])
  if (json) return out.json({ items: requests, next: null })
  if (requests.length === 0) return out.print(emptyInboxRow(sessions))
  const of = new Map(sessions.map(session => [session.id, session]))
  const short = idShortener(requests.map(({ id }) => id))
  const lines = requests.map(({ id, openedAt, session, ask }) => {
    const known = of.get(session)
    return [
      trusted(short(id), 'waiting'),
      trusted(timeSince(openedAt, now)),
      known ? titleSpan(known, out.columns) : untrusted(session),
      trusted(actionLabel(ask)),
      untrustedLine(summary(ask)),
    ]
  })
  out.print(...tableRows(['id', 'waits', 'session', 'asks', ''], lines, out.columns))
  out.print(row(), row(trusted('holdpoint show ID shows one whole; allow, deny and answer reply to it.', 'quiet')))
}

function emptyInboxRow(sessions: readonly Session[]): Row {
  const working = sessions.filter(({ state }) => state === 'working' || state === 'starting').length
  const agents = working === 0 ? '' : working === 1 ? ' One agent is working.' : ` ${working} agents are working.`
  return row(trusted(`Nothing waits for you.${agents}`))
}

export interface SessionsOptions {
  readonly all?: boolean
  readonly state?: SessionState
  readonly search?: string
  readonly limit?: string
  readonly json?: boolean
}

/** Without options, those that have not ended. */
export async function sessions({ call }: GatewayClient, options: SessionsOptions): Promise<void> {
  const { items, next } = await sessionsPage(call, options)
  if (options.json) return out.json({ items, next })
  if (items.length === 0) return out.print(row(trusted('There are no such sessions.')))
  const { now } = await call('whoAmI', {})
  out.print(...sessionsTable(items, idShortener(items.map(({ id }) => id)), now, out.columns))
  if (next !== null)
    out.print(row(), row(trusted('There are more: --limit N shows up to 500, --search narrows it down.', 'quiet')))
}

async function sessionsPage(call: GatewayClient['call'], { all, state, search, limit }: SessionsOptions) {
  if (!all && state === undefined && search === undefined && limit === undefined)
    return { items: await liveSessions(call), next: null }
  const count = Number(limit ?? limits.pageDefault)
  if (!Number.isInteger(count) || count < 1 || count > limits.pageMax)
    throw new Fault('bad_input', `--limit must be a whole number from 1 to ${limits.pageMax}`)
  const page = await call('listSessions', {
    limit: count,
    ...(state && { state }),
    ...(search && { q: search }),
  })
  return { items: byUrgency(page.items), next: page.next }
}
