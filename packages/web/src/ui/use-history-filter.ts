/** Stores the filter of a list in the browser's history entry, so that going back shows the list with the same filter. */
import { useEffect, useState } from 'react'
import { useDebounced } from './use-debounced.ts'

interface HistoryState<T> {
  readonly filter?: Partial<T>
}

export function useHistoryFilter<T extends object>(initial: T): readonly [T, (change: Partial<T>) => void] {
  const [filter, setFilter] = useState<T>(() => ({ ...initial, ...(history.state as HistoryState<T> | null)?.filter })) // other code only sets `history.state` to null
  const debounced = useDebounced(filter)
  useEffect(() => history.replaceState({ filter: debounced } satisfies HistoryState<T>, ''), [debounced])
  return [filter, change => setFilter(before => ({ ...before, ...change }))]
}
