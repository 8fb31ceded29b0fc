/** What this browser keeps of a person's choices about the page. Where it keeps nothing, they last until the page is closed. */
import { useSyncExternalStore } from 'react'

export type PreferenceName = 'theme' | 'sound' | 'notifications' | 'start'

const prefix = 'holdpoint.'
const here = new Map<PreferenceName, string>()
const listeners = new Set<() => void>()

export function readPreference(name: PreferenceName): string | null {
  try {
    return localStorage.getItem(prefix + name) ?? here.get(name) ?? null
  } catch {
    return here.get(name) ?? null
  }
}

export function writePreference(name: PreferenceName, value: string): void {
  here.set(name, value)
  try {
    localStorage.setItem(prefix + name, value)
  } catch {
    // A browser that keeps nothing for this page: what is said here has to do.
  }
  for (const listener of listeners) listener()
}

/** Also hears what another tab keeps. */
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
