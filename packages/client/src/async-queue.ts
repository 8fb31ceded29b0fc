/** Values that are pushed, read as an async iterable by one reader. */

export interface AsyncQueue<T> extends AsyncIterable<T> {
  push(value: T): void
  /** What was pushed and not yet read is dropped. */
  end(): void
  fail(error: unknown): void
}

export function createAsyncQueue<T>(onReturn: () => void): AsyncQueue<T> {
  const values: T[] = []
  let over: { readonly error?: unknown } | null = null
  let wake = () => {}
  const finish = (how: { readonly error?: unknown }) => {
    over ??= how
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
          while (values.length > 0) yield values.shift() as T // the length is checked
          if (over) {
            if ('error' in over) throw over.error
            return
          }
          await new Promise<void>(resolve => {
            wake = resolve
          })
        }
      } finally {
        onReturn()
      }
    },
  }
}
