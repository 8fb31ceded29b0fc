/** The person's page preferences, stored in localStorage. Without localStorage, preferences last until the page closes. */
import { createObservableStore } from '@holdpoint/client'
import { useSyncExternalStore } from 'react'

export type PreferenceName = 'theme' | 'sound' | 'notifications' | 'start' | 'sessionArrangement' | 'grouping' | 'muted'

const prefix = 'holdpoint.'
/** Preferences that this tab has written, in case localStorage is blocked. */
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
    // localStorage is blocked or full, so the value lasts until the page closes.
  }
  written.set({ ...written.get(), [name]: value })
}

/** Calls the listener after a change in this tab or in another tab. */
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
