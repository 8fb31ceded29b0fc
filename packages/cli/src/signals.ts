/** Signal handling for the commands that run until a signal stops them. */

/** Returns an AbortSignal that aborts on the first of these signals. If the same signal arrives again, it ends the process as usual. */
export function abortOnSignal(...names: readonly NodeJS.Signals[]): AbortSignal {
  const abort = new AbortController()
  for (const name of names) process.once(name, () => abort.abort())
  return abort.signal
}

export interface SignalWatch {
  /** Resolves with the first signal that arrives. */
  readonly received: Promise<NodeJS.Signals>
  stop(): void
}

/** Like `abortOnSignal`, for callers that need to know which signal arrived, or that stop listening later. */
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
