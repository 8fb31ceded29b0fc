/** Whether anybody looks at this gateway's page in any tab of this browser, and which tab speaks for all of them. Both are locks: a tab that dies lets go of its own. */

const lookingLock = 'holdpoint.looking'
const speakerLock = 'holdpoint.speaker'

/** Holds a place among those that look for as long as this tab is visible. */
export function trackTabVisibility(signal: AbortSignal): void {
  let stop: (() => void) | null = null
  const follow = () => {
    if (document.visibilityState === 'visible') stop ??= hold(lookingLock, 'shared', signal)
    else {
      stop?.()
      stop = null
    }
  }
  document.addEventListener('visibilitychange', follow, { signal })
  signal.addEventListener('abort', () => stop?.())
  follow()
}

export async function anyTabVisible(): Promise<boolean> {
  if (document.visibilityState === 'visible') return true
  if (!navigator.locks) return false
  const { held = [] } = await navigator.locks.query()
  return held.some(lock => lock.name === lookingLock)
}

/** Calls `speak` once this tab is the one that speaks; where there are no locks, each speaks for itself. */
export function electLeaderTab(signal: AbortSignal, speak: () => void): void {
  if (!navigator.locks) speak()
  else hold(speakerLock, 'exclusive', signal, speak)
}

/** Returns what lets go of it. */
function hold(name: string, mode: LockMode, signal: AbortSignal, onHeld = () => {}): () => void {
  const over = new AbortController()
  const until = AbortSignal.any([signal, over.signal])
  navigator.locks
    ?.request(name, { mode, signal: until }, () => {
      onHeld()
      return new Promise<void>(resolve => until.addEventListener('abort', () => resolve()))
    })
    .catch(() => {}) // Given up before it was got.
  return () => over.abort()
}
