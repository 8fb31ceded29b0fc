/** A browser that loses its network leaves open streams open: this page would look live until their silence is noticed. So they are cut, and come back where there is a way. */
import type { Connection } from '@holdpoint/client'

let cut = new AbortController()
addEventListener('offline', () => {
  cut.abort()
  cut = new AbortController()
})

export const fetchAbortedOffline: NonNullable<Connection['fetch']> = (url, init) =>
  fetch(url, { ...init, signal: AbortSignal.any([cut.signal, ...(init.signal ? [init.signal] : [])]) })
