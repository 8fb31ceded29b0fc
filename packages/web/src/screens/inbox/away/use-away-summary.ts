/** Loads what happened while the person was away: a limited part of the audit log, and the rules that answered. The rest is in the inbox already. */
import type { AuditDecision, AuditEntry, Call, Cursor, Rule } from '@holdpoint/protocol'
import { useEffect, useState } from 'react'
import { useGateway, useInboxPart } from '../../../gateway/gateway-context.ts'
import type { Away } from '../../../storage/last-visit.ts'
import { type AwayGroup, summarizeAway } from './away-summary.ts'

/** How many decisions are read at most, and with how many calls. A page of the log can be short or even empty. */
const decisionsMax = 100
const pagesMax = 4

export interface AwaySummary {
  readonly groups: readonly AwayGroup[]
  /** False if there were more decisions than those that were read. */
  readonly isComplete: boolean
}

/** The last summary, so that a person who returns to the inbox from another screen sees it at once. */
let last: { readonly key: string; readonly summary: AwaySummary } | null = null

/** Returns null until the summary is loaded. The summary does not change afterwards, so that nothing below it moves. */
export function useAwaySummary(away: Away): AwaySummary | null {
  const { call, inbox, me } = useGateway()
  const isReady = useInboxPart(({ status, complete }) => status === 'live' && complete)
  const key = `${me} ${away.from} ${away.to}`
  const [loaded, setLoaded] = useState(() => (last?.key === key ? last.summary : null))
  useEffect(() => {
    if (!isReady || loaded) return
    const controller = new AbortController()
    const load = async (): Promise<AwaySummary> => {
      const { clockSkewMs } = inbox.getSnapshot()
      const time = { from: Math.max(0, away.from + clockSkewMs), to: away.to + clockSkewMs }
      const { decisions, isComplete } = await readDecisions(call, time, controller.signal)
      const rules = await readRules(call, decisions, controller.signal)
      const { sessions, requests } = inbox.getSnapshot()
      return {
        groups: summarizeAway({ away: time, decisions, rules, sessions, requests: [...requests.values()], me }),
        isComplete,
      }
    }
    load().then(
      found => {
        if (controller.signal.aborted) return
        last = { key, summary: found }
        setLoaded(found)
      },
      () => {}, // the inbox works without a summary, and the next connection loads it again
    )
    return () => controller.abort()
  }, [call, inbox, me, isReady, loaded, away, key])
  return loaded
}

async function readDecisions(
  call: Call,
  { from, to }: Away,
  signal: AbortSignal,
): Promise<{ readonly decisions: readonly AuditDecision[]; readonly isComplete: boolean }> {
  const decisions: AuditDecision[] = []
  let before: Cursor | 'end' | null = 'end'
  for (let pages = 0; before !== null && pages < pagesMax && decisions.length < decisionsMax; pages++) {
    const page: { items: AuditEntry[]; next: string | null } = await call(
      'listAudit',
      { from, to: to + 1, before, limit: decisionsMax - decisions.length },
      { signal },
    )
    decisions.push(...page.items.toReversed().filter(entry => entry.kind === 'decision'))
    before = page.next
  }
  return { decisions, isComplete: before === null }
}

/** Reads the rules only if one of them has answered. */
async function readRules(
  call: Call,
  decisions: readonly AuditDecision[],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, Rule>> {
  if (!decisions.some(({ resolution }) => resolution.by === 'rule')) return new Map()
  const { items } = await call('listRules', {}, { signal })
  return new Map(items.map(rule => [rule.id, rule]))
}
