/** A queue of pushed values with one reader, which reads them as an async iterable. */

export interface AsyncQueue<T> extends AsyncIterable<T> {
  push(value: T): void
  /** Ends the iteration and discards unread values. */
  end(): void
  /** Ends the iteration with an error and discards unread values. */
  fail(error: unknown): void
}

export function createAsyncQueue<T>(onEnd: () => void): AsyncQueue<T> {
  const values: T[] = []
  let ending: { readonly error?: unknown } | null = null
  let wake = () => {}
  const finish = (reason: { readonly error?: unknown }) => {
    ending ??= reason
    values.length = 0
    wake()
  }
  return {
    push(value) {
      values.push(value)
      wake()
    },
    end: () => finish({}),
    fail: error => finish({ error }),
    async *[Symbol.asyncIterator]() {
      try {
        for (;;) {
          while (values.length > 0) yield values.shift() as T // the loop condition checks the length
          if (ending) {
            if ('error' in ending) throw ending.error
            return
          }
          await new Promise<void>(resolve => {
            wake = resolve
          })
        }
      } finally {
        onEnd()
      }
    },
  }
}
