/** The names of the rules that have answered, for the audit log. They are loaded once an entry needs one. */
import { ruleLabel } from '@holdpoint/client'
import type { AuditEntry } from '@holdpoint/protocol'
import { useEffect, useState } from 'react'
import { useGateway } from '../../gateway/gateway-context.ts'

const noNames: ReadonlyMap<string, string> = new Map()

/** Returns the escaped names by the id of the rule. A rule that was removed has none. */
export function useRuleNames(entries: readonly AuditEntry[]): ReadonlyMap<string, string> {
  const { call } = useGateway()
  const [names, setNames] = useState(noNames)
  const newest = entries.find(entry => entry.kind === 'decision' && entry.resolution.by === 'rule')?.cursor
  useEffect(() => {
    if (newest === undefined) return
    const controller = new AbortController()
    call('listRules', {}, { signal: controller.signal }).then(
      ({ items }) => setNames(new Map(items.map(rule => [rule.id, ruleLabel(rule)]))),
      () => {}, // without the names, the entries say only that a rule has answered
    )
    return () => controller.abort()
  }, [call, newest])
  return names
}
