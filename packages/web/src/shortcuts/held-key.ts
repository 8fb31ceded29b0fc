/** The key that is carried out after a short pause, unless another key follows. Its button shows this. */
import { createObservableStore } from '@holdpoint/client'
import { useSyncExternalStore } from 'react'

/** The button that the held key presses: the active card's, the batch bar's, or the one that interrupts the session. */
export type HeldKeyTarget = 'card' | 'batch' | 'interrupt'

export const heldKey = createObservableStore<HeldKeyTarget | null>(null)

export function useIsKeyHeld(target: HeldKeyTarget): boolean {
  return useSyncExternalStore(heldKey.subscribe, heldKey.get) === target
}
