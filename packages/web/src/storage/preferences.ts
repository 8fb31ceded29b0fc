/** The person's page preferences, stored in localStorage. Without localStorage they last until the page closes. */
import { useSyncExternalStore } from 'react'

export type PreferenceName = 'theme' | 'sound' | 'notifications' | 'start'

const prefix = 'holdpoint.'
const fallback = new Map<PreferenceName, string>()
const listeners = new Set<() => void>()

export function readPreference(name: PreferenceName): string | null {
  try {
    return localStorage.getItem(prefix + name) ?? fallback.get(name) ?? null
  } catch {
    return fallback.get(name) ?? null
  }
}

export function writePreference(name: PreferenceName, value: string): void {
  fallback.set(name, value)
  try {
    localStorage.setItem(prefix + name, value)
  } catch {
    // localStorage is blocked or full; the fallback map has the value.
  }
  for (const listener of listeners) listener()
}

/** Also notifies about changes from other tabs. */
function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  addEventListener('storage', listener)
  return () => {
    listeners.delete(listener)
    removeEventListener('storage', listener)
  }
}

export function usePreference(name: PreferenceName): string | null {
  return useSyncExternalStore(subscribe, () => readPreference(name))
}
