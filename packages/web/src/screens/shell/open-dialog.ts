/** Stores which dialog is open. At most one dialog is open at a time. */
import { createObservableStore } from '@holdpoint/client'
import { useSyncExternalStore } from 'react'

export type DialogName = 'start' | 'help' | 'palette' | 'stop'

const openName = createObservableStore<DialogName | null>(null)

export const openDialog: (name: DialogName | null) => void = openName.set

export function useOpenDialog(): DialogName | null {
  return useSyncExternalStore(openName.subscribe, openName.get)
}
