/** What a list is narrowed down to, kept with this place of the browser's history: whoever comes back finds the list as it was left. */
import { useEffect, useState } from 'react'
import { useDebounced } from './use-debounced.ts'

interface Kept<T> {
  readonly narrowed?: Partial<T>
}

export function useHistoryFilter<T extends object>(nothing: T): readonly [T, (change: Partial<T>) => void] {
  const [now, setNow] = useState<T>(() => ({ ...nothing, ...(history.state as Kept<T> | null)?.narrowed })) // written below, by the same list
  const settled = useDebounced(now)
  useEffect(() => history.replaceState({ narrowed: settled } satisfies Kept<T>, ''), [settled])
  return [now, change => setNow(before => ({ ...before, ...change }))]
}
