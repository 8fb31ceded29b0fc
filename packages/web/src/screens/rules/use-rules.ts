/** Loads the rules, and loads them again when one changes or answers. */
import type { Event, Rule } from '@holdpoint/protocol'
import { useCallback, useEffect, useState } from 'react'
import { useGateway } from '../../gateway/gateway-context.ts'

/** Changes within this time are fetched with one call. */
const gatherMs = 200

export interface RuleList {
  /** Null until the rules are loaded. */
  readonly rules: readonly Rule[] | null
  readonly problem: unknown
  readonly reload: () => void
}

export function useRules(): RuleList {
  const { call, inbox } = useGateway()
  const [rules, setRules] = useState<readonly Rule[] | null>(null)
  const [problem, setProblem] = useState<unknown>(null)
  const [loads, setLoads] = useState(0)
  const reload = useCallback(() => setLoads(count => count + 1), [])
  // biome-ignore lint/correctness/useExhaustiveDependencies: `loads` starts a new load
  useEffect(() => {
    const controller = new AbortController()
    call('listRules', {}, { signal: controller.signal }).then(
      ({ items }) => {
        setRules(items)
        setProblem(null)
      },
      (error: unknown) => {
        if (!controller.signal.aborted) setProblem(error)
      },
    )
    return () => controller.abort()
  }, [call, loads])
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined
    const stop = inbox.onFrame(frame => {
      if (frame.frame !== 'hello' && !(frame.frame === 'event' && changesRules(frame.event))) return
      timer ??= setTimeout(() => {
        timer = undefined
        reload()
      }, gatherMs)
    })
    return () => {
      stop()
      clearTimeout(timer)
    }
  }, [inbox, reload])
  return { rules, problem, reload }
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
