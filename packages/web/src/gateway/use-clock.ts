/** One timer for all times shown on the page. It runs only while a component uses it. */
import { useSyncExternalStore } from 'react'

const tickMs = 1000
const listeners = new Set<() => void>()
let timer: ReturnType<typeof setInterval> | undefined

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  timer ??= setInterval(() => {
    for (const each of listeners) each()
  }, tickMs)
  return () => {
    listeners.delete(listener)
    if (listeners.size > 0) return
    clearInterval(timer)
    timer = undefined
  }
}

/** This machine's time, rounded down to `everyMs`: a component that shows minutes does not render every second. */
export function useClock(everyMs: number): number {
  return useSyncExternalStore(subscribe, () => Math.floor(Date.now() / everyMs) * everyMs)
}
