/** Limits the number and size of pending requests per session. A request counts while it is being opened, before it is stored. */
import { type Ask, limits, type SessionId } from '@holdpoint/protocol'

/** Access to the pending requests in the store. */
interface PendingRequests {
  count(session: SessionId): Promise<number>
  asks(session: SessionId): AsyncIterable<{ readonly ask: Ask }>
}
/** Counts one request that is being opened, until the reservation is released. */
export interface QuotaReservation {
  /** Resolves with a sentence that says why the request exceeds the quota, or null if it does not. */
  problem(): Promise<string | null>
  release(): void
}

/** Maximum number of sessions whose size is cached. */
const measuredSessionsMax = 10_000

export class PendingQuota {
  readonly #stored: PendingRequests
  readonly #reserved = new Map<SessionId, { count: number; bytes: number }>()
  /** Upper bound of the bytes of the stored pending requests per session. The bound is not lowered when requests resolve. If a new request does not fit under it, the exact size is measured again. */
  readonly #storedBytesMax = new Map<SessionId, number>()
  /** Measurements in progress. `added` is the total size of the requests that were opened during the measurement. The measured size may or may not include these requests. */
  readonly #measuring = new Map<SessionId, { readonly done: Promise<void>; added: number }>()

  constructor(stored: PendingRequests) {
    this.#stored = stored
  }

  reserve(session: SessionId, ask: Ask): QuotaReservation {
    const bytes = bytesOf(ask)
    const reserved = this.#reserved.get(session) ?? { count: 0, bytes: 0 }
    this.#reserved.set(session, reserved)
    reserved.count++
    reserved.bytes += bytes
    const reservedBefore = { ...reserved }
    return {
      problem: () => this.#problem(session, reservedBefore),
      release: () => {
        reserved.count--
        reserved.bytes -= bytes
        if (reserved.count === 0) this.#reserved.delete(session)
        this.#add(session, bytes)
      },
    }
  }

  async #problem(
    session: SessionId,
    reserved: { readonly count: number; readonly bytes: number },
  ): Promise<string | null> {
    if ((await this.#stored.count(session)) + reserved.count > limits.pendingPerSessionMax)
      return `Session ${session} has ${limits.pendingPerSessionMax} pending requests; wait for answers before you ask again`
    const fits = () =>
      (this.#storedBytesMax.get(session) ?? Number.POSITIVE_INFINITY) + reserved.bytes <=
      limits.pendingBytesPerSessionMax
    if (!fits()) await this.#measure(session)
    if (fits()) return null
    return `The pending requests of session ${session} would exceed ${limits.pendingBytesPerSessionMax} bytes; wait for answers before you ask again`
  }

  #add(session: SessionId, bytes: number): void {
    const measuring = this.#measuring.get(session)
    const known = this.#storedBytesMax.get(session)
    if (measuring) measuring.added += bytes
    else if (known !== undefined) this.#storedBytesMax.set(session, known + bytes)
  }

  /** Measures the stored bytes of a session. Concurrent callers share one measurement. */
  #measure(session: SessionId): Promise<void> {
    const running = this.#measuring.get(session)
    if (running) return running.done
    this.#storedBytesMax.delete(session)
    const measuring = { added: 0, done: this.#sum(session).finally(() => this.#measuring.delete(session)) }
    this.#measuring.set(session, measuring)
    return measuring.done
  }
  async #sum(session: SessionId): Promise<void> {
    let bytes = 0
    for await (const { ask } of this.#stored.asks(session)) bytes += bytesOf(ask)
    if (this.#storedBytesMax.size >= measuredSessionsMax) this.#storedBytesMax.clear()
    this.#storedBytesMax.set(session, bytes + (this.#measuring.get(session)?.added ?? 0))
  }
}

function bytesOf(ask: Ask): number {
  return Buffer.byteLength(JSON.stringify(ask))
}
