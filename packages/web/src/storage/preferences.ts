/** The person's page preferences, stored in localStorage. Without localStorage, preferences last until the page closes. */
import { createObservableStore } from '@holdpoint/client'
import { useSyncExternalStore } from 'react'

/** The name of a value that belongs to one person. It ends with the id of the person. */
export type PersonalName = `${'read' | 'visit'}.${string}`
export type PreferenceName =
  | ('theme' | 'sound' | 'notifications' | 'start' | 'sessionArrangement' | 'grouping' | 'muted')
  | PersonalName

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

/** Forgets what belongs to a person. */
export function removePersonal(me: string): void {
  const isPersonal = (name: string) => name.endsWith(`.${me}`)
  try {
    const keys = Object.keys(localStorage).filter(key => key.startsWith(prefix) && isPersonal(key))
    for (const key of keys) localStorage.removeItem(key)
  } catch {
    // localStorage is blocked, so there is nothing to remove.
  }
  written.set(Object.fromEntries(Object.entries(written.get()).filter(([name]) => !isPersonal(name))))
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
