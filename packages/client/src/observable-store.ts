/** An observable value, with the `subscribe` and `get` functions that React's `useSyncExternalStore` expects. */

export interface ObservableStore<T> {
  /** Returns the same object until the next `set`. */
  readonly get: () => T
  /** Replaces the value and notifies the subscribers. If the value is a function, the next `get` calls it to compute the value. */
  readonly set: (value: T | (() => T)) => void
  /** Returns a function that ends the subscription. */
  readonly subscribe: (listener: () => void) => () => void
  readonly unsubscribeAll: () => void
}

export interface ObservableStoreOptions {
  /** Notifies the subscribers once for all changes in one turn of the event loop, so that many changes cause only one render. */
  readonly coalesce?: boolean
}

export function createObservableStore<T>(
  initial: T | (() => T),
  { coalesce = false }: ObservableStoreOptions = {},
): ObservableStore<T> {
  const listeners = new Set<() => void>()
  let current = initial
  let isScheduled = false
  const notify = () => {
    isScheduled = false
    for (const listener of listeners) listener()
  }
  return {
    get() {
      if (typeof current === 'function') current = (current as () => T)() // T is never a function type
      return current
    },
    set(value) {
      current = value
      if (!coalesce) return notify()
      if (!isScheduled) setTimeout(notify, 0)
      isScheduled = true
    },
    subscribe(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    unsubscribeAll: () => listeners.clear(),
  }
}
