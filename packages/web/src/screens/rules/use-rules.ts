/** Loads the rules, and loads them again when one changes or answers. */
import type { Event, Rule } from '@holdpoint/protocol'
import { useCallback } from 'react'
import { useGateway } from '../../gateway/gateway-context.ts'
import { type Reloaded, useReloaded } from '../../gateway/use-reloaded.ts'

export function useRules(): Reloaded<readonly Rule[]> {
  const { call } = useGateway()
  const load = useCallback(async (signal: AbortSignal) => (await call('listRules', {}, { signal })).items, [call])
  return useReloaded(load, changesRules)
}

/** Returns whether an event changes a rule or its number of uses. */
function changesRules(event: Event): boolean {
  switch (event.type) {
    case 'rule.added':
    case 'rule.changed':
    case 'rule.removed':
      return true
    case 'request.resolved':
      return event.resolution.by === 'rule'
    default:
      return false
  }
}
