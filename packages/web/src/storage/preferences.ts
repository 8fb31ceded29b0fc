/** The person's page preferences, stored in localStorage. Without localStorage they last until the page closes. */
import { createObservableStore } from '@holdpoint/client'
import { useSyncExternalStore } from 'react'

export type PreferenceName = 'theme' | 'sound' | 'notifications' | 'start'

const prefix = 'holdpoint.'
/** Preferences written by this tab. */
const written = createObservableStore<Readonly<Partial<Record<PreferenceName, string>>>>({})

export function readPreference(name: PreferenceName): string | null {
  const fallback = written.get()[name] ?? null
  try {
    return localStorage.getItem(prefix + name) ?? fallback
  } catch {
    return fallback
  }
}

export function writePreference(name: PreferenceName, value: string): void {
  try {
    localStorage.setItem(prefix + name, value)
  } catch {
    // localStorage is blocked or full; the value lasts until the page closes.
  }
  written.set({ ...written.get(), [name]: value })
}

/** Also notifies about changes from other tabs. */
function subscribe(listener: () => void): () => void {
  const unsubscribe = written.subscribe(listener)
  addEventListener('storage', listener)
  return () => {
    unsubscribe()
    removeEventListener('storage', listener)
  }
}

export function usePreference(name: PreferenceName): string | null {
  return useSyncExternalStore(subscribe, () => readPreference(name))
}
