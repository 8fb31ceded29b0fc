/** What waits in each session, by number and by weight. Requests being opened right now count before they can be counted in the archive. */
import { type Ask, limits, type SessionId } from '@holdpoint/protocol'

interface Archive {
  count(session: SessionId): Promise<number>
  asks(session: SessionId): AsyncIterable<{ readonly ask: Ask }>
}
/** A request on its way into the queue. */
export interface QuotaReservation {
  /** Why it does not fit, as a sentence; null where it does. */
  full(): Promise<string | null>
  leave(): void
}

/** Sessions whose weight is remembered; one that was forgotten is weighed again. */
const weightsMax = 10_000

export class PendingQuota {
  readonly #archive: Archive
  readonly #entering = new Map<SessionId, { count: number; bytes: number }>()
  /** What waits weighs no more than this; how much less is looked up only where the limit seems reached. */
  readonly #atMost = new Map<SessionId, number>()
  /** `added`: what came in meanwhile, whether or not the archive has shown it already. */
  readonly #weighing = new Map<SessionId, { readonly done: Promise<void>; added: number }>()

  constructor(archive: Archive) {
    this.#archive = archive
  }

  enter(session: SessionId, ask: Ask): QuotaReservation {
    const bytes = bytesOf(ask)
    const entering = this.#entering.get(session) ?? { count: 0, bytes: 0 }
    this.#entering.set(session, entering)
    entering.count++
    entering.bytes += bytes
    const before = { ...entering }
    return {
      full: () => this.#full(session, before),
      leave: () => {
        entering.count--
        entering.bytes -= bytes
        if (entering.count === 0) this.#entering.delete(session)
        this.#add(session, bytes)
      },
    }
  }

  async #full(
    session: SessionId,
    entering: { readonly count: number; readonly bytes: number },
  ): Promise<string | null> {
    if ((await this.#archive.count(session)) + entering.count > limits.pendingPerSessionMax)
      return `Session ${session} has ${limits.pendingPerSessionMax} requests waiting; wait for answers first`
    const fits = () =>
      (this.#atMost.get(session) ?? Number.POSITIVE_INFINITY) + entering.bytes <= limits.pendingBytesPerSessionMax
    if (!fits()) await this.#weigh(session)
    if (fits()) return null
    return `What waits in session ${session} would be larger than ${limits.pendingBytesPerSessionMax} bytes; wait for answers first`
  }

  #add(session: SessionId, bytes: number): void {
    const weighing = this.#weighing.get(session)
    const known = this.#atMost.get(session)
    if (weighing) weighing.added += bytes
    else if (known !== undefined) this.#atMost.set(session, known + bytes)
  }

  /** Once for all who ask at the same moment. */
  #weigh(session: SessionId): Promise<void> {
    const under = this.#weighing.get(session)
    if (under) return under.done
    this.#atMost.delete(session)
    const weighing = { added: 0, done: this.#sum(session).finally(() => this.#weighing.delete(session)) }
    this.#weighing.set(session, weighing)
    return weighing.done
  }
  async #sum(session: SessionId): Promise<void> {
    let bytes = 0
    for await (const { ask } of this.#archive.asks(session)) bytes += bytesOf(ask)
    if (this.#atMost.size >= weightsMax) this.#atMost.clear()
    this.#atMost.set(session, bytes + (this.#weighing.get(session)?.added ?? 0))
  }
}

function bytesOf(ask: Ask): number {
  return Buffer.byteLength(JSON.stringify(ask))
}
