/** A value with subscribers, in the shape that React's `useSyncExternalStore` expects. */

export interface ObservableStore<T> {
  /** Returns the same object until the next `set`. */
  readonly get: () => T
  /** Replaces the value and notifies the subscribers. A function is called on the next `get`. */
  readonly set: (value: T | (() => T)) => void
  /** Returns a function that ends the subscription. */
  readonly subscribe: (listener: () => void) => () => void
  readonly unsubscribeAll: () => void
}

export interface ObservableStoreOptions {
  /** Notify once for all changes of one turn of the event loop, so that a burst is drawn once. */
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
      if (typeof current === 'function') current = (current as () => T)() // a value of a store is never a function
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
