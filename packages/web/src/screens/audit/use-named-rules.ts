/** The rules that entries of the audit log name: those that exist, and removed ones as the log last described them. */
import type { AuditEntry, Call, Cursor, Rule } from '@holdpoint/protocol'
import { useEffect, useMemo, useState } from 'react'
import { useGateway } from '../../gateway/gateway-context.ts'

/** The page searches the log for at most this many removed rules, and reads at most this many pages for each. */
const searchesMax = 20
const pagesMax = 10

export interface NamedRule {
  readonly rule: Rule
  readonly isRemoved: boolean
}

const noRules: ReadonlyMap<string, Rule> = new Map()

/** Returns the rules by their ids. Rules that were removed too long ago are missing. */
export function useNamedRules(entries: readonly AuditEntry[]): ReadonlyMap<string, NamedRule> {
  const { call } = useGateway()
  const [existing, setExisting] = useState<ReadonlyMap<string, Rule> | null>(null)
  const [found, setFound] = useState<ReadonlyMap<string, Rule | null>>(new Map())
  const logged = useMemo(() => rulesIn(entries), [entries])
  const named = useMemo(() => entries.flatMap(entry => ruleNamedBy(entry) ?? []), [entries])
  const newest = entries.find(entry => ruleNamedBy(entry) !== null)?.cursor
  useEffect(() => {
    if (newest === undefined) return
    const controller = new AbortController()
    call('listRules', {}, { signal: controller.signal }).then(
      ({ items }) => setExisting(new Map(items.map(rule => [rule.id, rule]))),
      () => {}, // without the rules, the entries say only that a rule has answered
    )
    return () => controller.abort()
  }, [call, newest])
  const isMissing = (id: string) => existing !== null && !existing.has(id) && !logged.has(id) && !found.has(id)
  const missing = found.size < searchesMax ? named.find(isMissing) : undefined
  useEffect(() => {
    if (missing === undefined) return
    const controller = new AbortController()
    findInLog(call, missing, controller.signal).then(
      rule => setFound(before => new Map(before).set(missing, rule)),
      () => {},
    )
    return () => controller.abort()
  }, [call, missing])
  return useMemo(() => {
    const rules = new Map<string, NamedRule>()
    for (const known of [found, logged])
      for (const [id, rule] of known) if (rule) rules.set(id, { rule, isRemoved: existing?.has(id) === false })
    for (const [id, rule] of existing ?? noRules) rules.set(id, { rule, isRemoved: false })
    return rules
  }, [existing, logged, found])
}

function ruleNamedBy(entry: AuditEntry): string | null {
  if (entry.kind === 'decision') return entry.resolution.rule ?? null
  return entry.event.type === 'rule.removed' ? entry.event.rule : null
}

/** The newest description of each rule in these entries, which are newest first. */
function rulesIn(entries: readonly AuditEntry[]): ReadonlyMap<string, Rule> {
  const rules = new Map<string, Rule>()
  for (const entry of entries) {
    const rule = describedBy(entry)
    if (rule && !rules.has(rule.id)) rules.set(rule.id, rule)
  }
  return rules
}

function describedBy(entry: AuditEntry): Rule | null {
  if (entry.kind !== 'notice') return null
  const { event } = entry
  return event.type === 'rule.added' || event.type === 'rule.changed' ? event.value : null
}

/** Searches the log back from its end for the last description of a rule. */
async function findInLog(call: Call, id: string, signal: AbortSignal): Promise<Rule | null> {
  let before: Cursor | 'end' | null = 'end'
  for (let read = 0; before !== null && read < pagesMax; read++) {
    const page: { items: AuditEntry[]; next: string | null } = await call(
      'listAudit',
      { q: id, include: 'notices', before },
      { signal },
    )
    const rule = rulesIn(page.items.toReversed()).get(id)
    if (rule) return rule
    before = page.next
  }
  return null
}
