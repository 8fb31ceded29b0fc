/** The page's one voice for what happens without being looked at: a polite live region, and a line that can be read for a moment. */
import { useSyncExternalStore } from 'react'

export interface Toast {
  readonly words: string
  readonly shown: boolean
  /** Of each announcement its own, so that the same words are said again where they are announced again. */
  readonly turn: number
}

const shownMs = 4000
/** Longer than the style's motion takes: words go with the line that they stand in, not before it. */
const fadeMs = 250

let now: Toast = { words: '', shown: false, turn: 0 }
let timer: ReturnType<typeof setTimeout> | undefined
const listeners = new Set<() => void>()

export function showToast(words: string): void {
  clearTimeout(timer)
  tell({ words, shown: true, turn: now.turn + 1 })
  timer = setTimeout(dismissToast, shownMs)
}
/** What was announced does not hold any more. */
export function dismissToast(): void {
  clearTimeout(timer)
  tell({ ...now, shown: false })
  timer = setTimeout(() => tell({ ...now, words: '' }), fadeMs)
}

function tell(next: Toast): void {
  now = next
  for (const listener of listeners) listener()
}
function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

export function useToast(): Toast {
  return useSyncExternalStore(subscribe, () => now)
}
