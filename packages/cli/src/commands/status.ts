/** `holdpoint status`: says where the gateway runs, how many requests are pending, and what the sessions do. */
import { isDangerous, stateLabel } from '@holdpoint/client'
import type { GatewayClient } from '../gateway-client/gateway-client.ts'
import { out } from '../output/output.ts'
import { labelled, row, trusted, untrusted, untrustedCode } from '../output/span.ts'
import { liveSessions, pendingRequests } from './queries.ts'
import { statusTexts as texts } from './texts.ts'

export async function status({ url, call }: GatewayClient, { json }: { readonly json?: boolean }): Promise<void> {
  const [requests, sessions, drivers, runners] = await Promise.all([
    pendingRequests(call),
    liveSessions(call),
    call('listDrivers', {}),
    call('listRunners', {}),
  ])
  const summary = {
    url,
    pending: requests.length,
    dangerous: requests.filter(isDangerous).length,
    overdue: requests.filter(({ overdue }) => overdue).length,
    sessions: countBy(sessions.map(({ state }) => state)),
    waitingSessions: sessions.filter(({ pending }) => pending > 0).length,
    runners: runners.items.filter(({ live }) => live).length,
    agents: drivers.items.filter(({ ready, runner }) => ready && runner !== null).map(({ name }) => name),
  }
  if (json) return out.json(summary)
  const states = Object.entries(countBy(sessions.map(stateLabel))).map(([state, count]) => `${count} ${state}`)
  out.print(
    row(trusted(texts.running), untrustedCode(url)),
    labelled('Requests', trusted(texts.pending(summary), summary.pending > 0 ? 'waiting' : null)),
    labelled('Sessions', trusted(states.length === 0 ? texts.none : states.join(' · '))),
    labelled('Runners', trusted(summary.runners === 0 ? texts.noRunner : String(summary.runners))),
    labelled('Agents', summary.agents.length === 0 ? trusted(texts.none) : untrusted(summary.agents.join(', '))),
  )
}

function countBy(names: readonly string[]): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {}
  for (const name of names) counts[name] = (counts[name] ?? 0) + 1
  return counts
}
