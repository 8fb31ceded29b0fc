/** The page's one voice for what happens without being looked at: a polite live region, and a line that can be read for a moment. */
import { useSyncExternalStore } from 'react'

const shownMs = 4000
let line = ''
let timer: ReturnType<typeof setTimeout> | undefined
const listeners = new Set<() => void>()

export function announce(words: string): void {
  clearTimeout(timer)
  timer = setTimeout(() => tell(''), shownMs)
  tell(words)
}

function tell(words: string): void {
  line = words
  for (const listener of listeners) listener()
}
function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

export function useAnnouncement(): string {
  return useSyncExternalStore(subscribe, () => line)
}
