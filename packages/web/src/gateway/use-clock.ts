/** One clock for everything on the page that tells time: it runs while somebody looks at it. */
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

/** This machine's time, the same for so long: whoever asks for minutes is not drawn again every second. */
export function useClock(everyMs: number): number {
  return useSyncExternalStore(subscribe, () => Math.floor(Date.now() / everyMs) * everyMs)
}
