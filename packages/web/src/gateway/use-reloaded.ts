/** Loads something from the gateway, and loads it again when the connection is back or an event changes it. */
import type { Event } from '@holdpoint/protocol'
import { useCallback, useEffect, useState } from 'react'
import { useGateway } from './gateway-context.ts'

/** Changes within this time are fetched with one call. */
const gatherMs = 200

export interface Reloaded<T> {
  /** Null until it is loaded. */
  readonly value: T | null
  readonly problem: unknown
  readonly reload: () => void
}

/** `load` and `changes` must be the same functions in every render, or the value is loaded again. */
export function useReloaded<T>(
  load: (signal: AbortSignal) => Promise<T>,
  changes: (event: Event) => boolean,
): Reloaded<T> {
  const { inbox } = useGateway()
  const [value, setValue] = useState<T | null>(null)
  const [problem, setProblem] = useState<unknown>(null)
  const [loads, setLoads] = useState(0)
  const reload = useCallback(() => setLoads(count => count + 1), [])
  // biome-ignore lint/correctness/useExhaustiveDependencies: `loads` starts a new load
  useEffect(() => {
    const controller = new AbortController()
    load(controller.signal).then(
      loaded => {
        if (controller.signal.aborted) return
        setValue(loaded)
        setProblem(null)
      },
      (error: unknown) => {
        if (!controller.signal.aborted) setProblem(error)
      },
    )
    return () => controller.abort()
  }, [load, loads])
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined
    const stop = inbox.onFrame(frame => {
      if (frame.frame !== 'hello' && !(frame.frame === 'event' && changes(frame.event))) return
      timer ??= setTimeout(() => {
        timer = undefined
        reload()
      }, gatherMs)
    })
    return () => {
      stop()
      clearTimeout(timer)
    }
  }, [inbox, reload, changes])
  return { value, problem, reload }
}
