/** Tracks whether any tab of this browser shows the page, and elects one tab that sends notifications for all tabs. Web Locks make this safe, because the browser releases the locks of a tab that crashes. */

const visibleTabLock = 'holdpoint.visible-tab'
const leaderTabLock = 'holdpoint.leader-tab'

/** Holds a shared lock while this tab is visible. */
export function trackTabVisibility(signal: AbortSignal): void {
  let releaseLock: (() => void) | null = null
  const update = () => {
    if (document.visibilityState === 'visible') releaseLock ??= holdLock(visibleTabLock, 'shared', signal)
    else {
      releaseLock?.()
      releaseLock = null
    }
  }
  document.addEventListener('visibilitychange', update, { signal })
  signal.addEventListener('abort', () => releaseLock?.())
  update()
}

export async function anyTabVisible(): Promise<boolean> {
  if (document.visibilityState === 'visible') return true
  if (!navigator.locks) return false
  const { held = [] } = await navigator.locks.query()
  return held.some(lock => lock.name === visibleTabLock)
}

/** Calls `onElected` when this tab becomes the leader. Without Web Locks, every tab is a leader. */
export function electLeaderTab(signal: AbortSignal, onElected: () => void): void {
  if (!navigator.locks) onElected()
  else holdLock(leaderTabLock, 'exclusive', signal, onElected)
}

/** Requests the lock and returns a function that releases it. */
function holdLock(name: string, mode: LockMode, signal: AbortSignal, onHeld = () => {}): () => void {
  const released = new AbortController()
  const ended = AbortSignal.any([signal, released.signal])
  navigator.locks
    ?.request(name, { mode, signal: ended }, () => {
      onHeld()
      return new Promise<void>(resolve => ended.addEventListener('abort', () => resolve()))
    })
    .catch(() => {}) // The request fails if it is aborted before the lock is granted.
  return () => released.abort()
}
