/** Signal handling for the commands that run until a signal stops them. */

/** Aborts on the first of these signals. A second one ends the process, as if there were no handler. */
export function abortOnSignal(...names: readonly NodeJS.Signals[]): AbortSignal {
  const abort = new AbortController()
  for (const name of names) process.once(name, () => abort.abort())
  return abort.signal
}

export interface SignalWatch {
  /** Resolves with the first signal. */
  readonly received: Promise<NodeJS.Signals>
  stop(): void
}

/** Like `abortOnSignal`, for a caller that needs to know which signal it was, and when to stop listening. */
export function watchSignals(...names: readonly NodeJS.Signals[]): SignalWatch {
  let onSignal = (_: NodeJS.Signals) => {}
  const received = new Promise<NodeJS.Signals>(resolve => {
    onSignal = resolve
  })
  for (const name of names) process.once(name, onSignal)
  return {
    received,
    stop: () => {
      for (const name of names) process.off(name, onSignal)
    },
  }
}
