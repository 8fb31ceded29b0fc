/** Stores which dialog is open. At most one dialog is open at a time. */
import { createObservableStore } from '@holdpoint/client'
import { useSyncExternalStore } from 'react'

export type DialogName = 'start' | 'help' | 'palette' | 'stop'
interface OpenDialog {
  readonly name: DialogName
  /** The agent that the New session dialog preselects. */
  readonly driver?: string
}

const openNow = createObservableStore<OpenDialog | null>(null)

export function openDialog(name: DialogName | null): void {
  openNow.set(name && { name })
}

export function openNewSession(driver: string): void {
  openNow.set({ name: 'start', driver })
}

export function useOpenDialog(): OpenDialog | null {
  return useSyncExternalStore(openNow.subscribe, openNow.get)
}
