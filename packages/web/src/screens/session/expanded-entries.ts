/** State that transcript rows share: whether the agent is working, and which entries are expanded. Rows can't hold this state themselves, because the virtual list unmounts them. */
import type { RequestId } from '@holdpoint/protocol'
import { createContext, use, useSyncExternalStore } from 'react'

export class ExpandedEntries {
  readonly #keys = new Set<string>()
  readonly #listeners = new Set<() => void>()

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }
  has(key: string): boolean {
    return this.#keys.has(key)
  }
  set(key: string, isExpanded: boolean): void {
    if (isExpanded) this.#keys.add(key)
    else this.#keys.delete(key)
    for (const listener of this.#listeners) listener()
  }
}

export const ExpandedContext = createContext(new ExpandedEntries())
/** False if the agent can't be running any tool. An unfinished tool call is then shown as “no result”. */
export const WorkingContext = createContext(true)
/** Shows the card of a pending request. */
export const ShowRequestContext = createContext<(id: RequestId) => void>(() => {})
/** The id of the entry that is marked, because the person searched for it or went to it. */
export const MarkedContext = createContext<string | null>(null)

export function useExpanded(key: string): readonly [open: boolean, toggle: () => void] {
  const expanded = use(ExpandedContext)
  const open = useSyncExternalStore(expanded.subscribe, () => expanded.has(key))
  return [open, () => expanded.set(key, !open)]
}
