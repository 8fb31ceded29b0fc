/** What waits for people, kept current: page and terminal show its snapshots and answer through it. It knows no framework. */
import {
  type Answer,
  type Call,
  Fault,
  type Frame,
  type Hello,
  limits,
  Request,
  type RequestId,
  retry,
  type SessionId,
} from '@holdpoint/protocol'
import { InboxState, type InboxStateSnapshot } from './inbox-state.ts'
import { Transcript } from './transcript.ts'
import type { ConnectionStatus, WatchOptions } from './watch-events.ts'

export interface InboxSnapshot extends InboxStateSnapshot {
  readonly status: ConnectionStatus
  /** Why the stream ended for good: the credential is gone, as a rule. */
  readonly ended: Error | null
}
export interface InboxOptions {
  readonly call: Call
  /** The stream, such as `options => watchEvents(connection, options)`. */
  readonly watch: (options: WatchOptions) => AsyncIterable<Frame>
  readonly session?: SessionId
  readonly now?: () => number
}

/** Sessions beyond these are history; a list that pages is the place for them. */
const sessionPagesMax = 10
const retryPauses = { firstPauseMs: 250, pauseMaxMs: 5000 }

export class Inbox {
  readonly #call: Call
  readonly #session: SessionId | undefined
  readonly #board: InboxState
  readonly #abort = new AbortController()
  readonly #listeners = new Set<() => void>()
  readonly #frameListeners = new Set<(frame: Frame) => void>()
  #status: ConnectionStatus = 'connecting'
  #ended: Error | null = null
  #snapshot: InboxSnapshot | null = null
  #told = false
  /** Counts the loads; a newer hello makes an older load stale. */
  #load = 0

  constructor({ call, watch, session, now }: InboxOptions) {
    this.#call = call
    this.#session = session
    this.#board = new InboxState(now)
    void this.#follow(
      watch({ ...(session && { session }), signal: this.#abort.signal, onStatus: status => this.#setStatus(status) }),
    )
  }

  /** Bound, so that it can be given to `useSyncExternalStore` as it is. */
  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }
  /** Every frame, once it is in the snapshot. */
  readonly onFrame = (listener: (frame: Frame) => void): (() => void) => {
    this.#frameListeners.add(listener)
    return () => this.#frameListeners.delete(listener)
  }
  /** The same object until something changes. */
  readonly getSnapshot = (): InboxSnapshot => {
    this.#snapshot ??= { ...this.#board.snapshot(), status: this.#status, ended: this.#ended }
    return this.#snapshot
  }

  /** Answers what is here, by the digest that was shown. Rejects with the Fault; where somebody was faster, their resolution is in the snapshot. */
  async answer(id: RequestId, answer: Answer): Promise<Request> {
    const shown = this.#board.request(id)
    if (!shown) throw new Fault('not_found', `The request ${id} is not in this inbox.`, { id })
    try {
      const request = await this.#call('answerRequest', { id, digest: shown.digest, answer })
      this.#learn(request)
      return request
    } catch (error) {
      const winner = error instanceof Fault && error.code === 'already_resolved' ? requestIn(error.detail) : null
      if (winner) this.#learn(winner)
      throw error
    }
  }

  /** One session's log, over the same stream. The caller closes it. */
  transcript(session: SessionId): Transcript {
    const blocks = [...this.getSnapshot().blocks.values()].filter(block => block.session === session)
    return new Transcript({ call: this.#call, session, frames: this.onFrame, blocks })
  }

  close(): void {
    this.#abort.abort()
    this.#listeners.clear()
    this.#frameListeners.clear()
  }

  async #follow(frames: AsyncIterable<Frame>): Promise<void> {
    try {
      for await (const frame of frames) {
        this.#board.apply(frame)
        for (const listener of this.#frameListeners) listener(frame)
        this.#changed()
        if (frame.frame === 'hello' && frame.hello.resume === 'gap') void this.#loadRest(frame.hello, ++this.#load)
      }
    } catch (error) {
      this.#ended = error instanceof Error ? error : new Error(String(error))
      this.#setStatus('reconnecting')
    }
  }

  /** Loads the pages that did not fit into hello. Retries until it has them, a newer hello comes or the inbox is closed. */
  async #loadRest(hello: Hello, load: number): Promise<void> {
    if (!hello.more) return
    const isStale = () => load !== this.#load || this.#abort.signal.aborted
    const loadPages = async () => {
      await this.#loadRequests(hello.requests.at(-1)?.id, isStale)
      if (!this.#session) await this.#loadSessions(hello.sessions.at(-1)?.id, isStale)
      if (isStale()) return
      this.#board.complete()
      this.#changed()
    }
    const isRetryable = (error: unknown) => !isStale() && !(error instanceof Fault && error.status < 500)
    // A fault that stays, such as a credential that was revoked, ends the stream too and is reported there.
    await retry(loadPages, { ...retryPauses, isRetryable, signal: this.#abort.signal }).catch(() => {})
  }
  async #loadRequests(last: RequestId | undefined, stale: () => boolean): Promise<void> {
    let after = last
    for (let more = true; more; ) {
      const from = { ...(this.#session && { session: this.#session }), ...(after && { after }) }
      const page = await this.#ask('listRequests', { status: 'pending', limit: limits.pageMax, ...from })
      if (stale()) return
      this.#board.fill([], page.items)
      this.#changed()
      after = page.items.at(-1)?.id ?? after
      more = page.next !== null
    }
  }
  async #loadSessions(last: SessionId | undefined, stale: () => boolean): Promise<void> {
    let before = last
    for (let more = true, pages = 0; more && pages < sessionPagesMax; pages++) {
      const page = await this.#ask('listSessions', { limit: limits.pageMax, ...(before && { before }) })
      if (stale()) return
      this.#board.fill(page.items, [])
      before = page.items.at(-1)?.id ?? before
      more = page.next !== null
    }
  }

  readonly #ask: Call = (op, input) => this.#call(op, input, { signal: this.#abort.signal })

  #learn(request: Request): void {
    this.#board.learn(request)
    this.#changed()
  }

  #setStatus(status: ConnectionStatus): void {
    this.#status = status
    this.#changed()
  }

  /** Listeners hear once of what comes in one go: a burst of frames is drawn once. */
  #changed(): void {
    this.#snapshot = null
    if (this.#told) return
    this.#told = true
    setTimeout(() => {
      this.#told = false
      for (const listener of this.#listeners) listener()
    }, 0)
  }
}

function requestIn(detail: unknown): Request | null {
  const parsed = Request.safeParse((detail as { request?: unknown } | null)?.request) // whatever it is, the schema decides
  return parsed.success ? parsed.data : null
}
