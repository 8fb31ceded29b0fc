/** Which dialog of the app is open; at most one at a time. */
import { useSyncExternalStore } from 'react'

export type DialogName = 'start' | 'help' | 'palette'

let open: DialogName | null = null
const listeners = new Set<() => void>()

export function openDialog(name: DialogName | null): void {
  open = name
  for (const listener of listeners) listener()
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

export function useOpenDialog(): DialogName | null {
  return useSyncExternalStore(subscribe, () => open)
}
