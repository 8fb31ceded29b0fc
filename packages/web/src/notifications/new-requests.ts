/** Finds the requests that are new since the page opened. */
import type { InboxSnapshot } from '@holdpoint/client'
import type { RequestId } from '@holdpoint/protocol'

/** Remembers the requests of the last snapshot to find new requests. Requests that were pending when the page opened are not new. */
export class NewRequests {
  #known: Set<RequestId> | null = null

  /** Returns the requests that are new since the last call. */
  update({ order, complete, status }: Pick<InboxSnapshot, 'order' | 'complete' | 'status'>): readonly RequestId[] {
    if (status !== 'live' || !complete) return []
    const known = this.#known
    this.#known = new Set(order)
    return known ? order.filter(id => !known.has(id)) : []
  }
}
