/** A `fetch` for event streams that aborts when the browser goes offline. Browsers do not close the stream by themselves, so the page would look live until a timeout. */
import type { Connection } from '@holdpoint/client'

let offline = new AbortController()
addEventListener('offline', () => {
  offline.abort()
  offline = new AbortController()
})

export const fetchAbortedOffline: NonNullable<Connection['fetch']> = (url, init) =>
  fetch(url, { ...init, signal: AbortSignal.any([offline.signal, ...(init.signal ? [init.signal] : [])]) })
