/** The inbox of page and terminal: pending requests and sessions, kept up to date by the event stream. The inbox does not depend on any UI framework. */
import {
  type Answer,
  type Call,
  Fault,
  type Frame,
  type Hello,
  limits,
  type Request,
  type RequestId,
  retry,
  type SessionId,
} from '@holdpoint/protocol'
import { InboxState, type InboxStateSnapshot } from './inbox-state.ts'
import { createObservableStore } from './observable-store.ts'
import type { TranscriptOptions } from './transcript.ts'
import type { ConnectionStatus, WatchOptions } from './watch-events.ts'

export interface InboxSnapshot extends InboxStateSnapshot {
  readonly status: ConnectionStatus
  /** The error that ended the event stream permanently, for example because the credential was revoked. */
  readonly ended: Error | null
}
export interface InboxOptions {
  readonly call: Call
  /** Opens the event stream, for example with `options => watchEvents(connection, options)`. */
  readonly watch: (options: WatchOptions) => AsyncIterable<Frame>
  /** Limits the inbox to one session. */
  readonly session?: SessionId
  readonly now?: () => number
}

/** How many pages of sessions the inbox loads in addition to the sessions in `hello`. Session lists load older sessions themselves. */
const sessionPagesMax = 10
const retryPauses = { firstPauseMs: 250, pauseMaxMs: 5000 }

export class Inbox {
  readonly #call: Call
  readonly #session: SessionId | undefined
  readonly #state: InboxState
  readonly #abort = new AbortController()
  readonly #frameListeners = new Set<(frame: Frame) => void>()
  readonly #store = createObservableStore(() => this.#takeSnapshot(), { coalesce: true })
  #status: ConnectionStatus = 'connecting'
  #ended: Error | null = null
  /** Counts the loads. A new `hello` starts a new load, and results of older loads are ignored. */
  #load = 0

  constructor({ call, watch, session, now }: InboxOptions) {
    this.#call = call
    this.#session = session
    this.#state = new InboxState(now)
    void this.#follow(
      watch({ ...(session && { session }), signal: this.#abort.signal, onStatus: status => this.#setStatus(status) }),
    )
  }

  readonly subscribe = this.#store.subscribe
  /** Returns the same object until something changes. */
  readonly getSnapshot = this.#store.get
  /** Calls the listener with every frame, after the frame was applied to the snapshot. */
  readonly onFrame = (listener: (frame: Frame) => void): (() => void) => {
    this.#frameListeners.add(listener)
    return () => this.#frameListeners.delete(listener)
  }

  /** Answers a request with the digest from the snapshot. Rejects with a Fault if the answer is refused. If someone else answered first, the snapshot then contains that resolution. */
  async answer(id: RequestId, answer: Answer): Promise<Request> {
    const known = this.#state.request(id)
    if (!known)
      throw new Fault(
        'not_found',
        `Request ${id} is not in this inbox. Reload the page, or open the request by its id.`,
        { id },
      )
    try {
      const request = await this.#call('answerRequest', { id, digest: known.digest, answer })
      this.#addReply(request)
      return request
    } catch (error) {
      const resolved = error instanceof Fault && error.code === 'already_resolved' ? requestIn(error.detail) : null
      if (resolved) this.#addReply(resolved)
      throw error
    }
  }

  /** Returns the options of a `Transcript` of a session on the same event stream. The inbox does not open it itself: the first screen of the page has no transcript, and need not load its code. */
  transcriptOptions(session: SessionId): TranscriptOptions {
    const blocks = [...this.getSnapshot().blocks.values()].filter(block => block.session === session)
    return { call: this.#call, session, frames: this.onFrame, blocks }
  }

  close(): void {
    this.#abort.abort()
    this.#store.unsubscribeAll()
    this.#frameListeners.clear()
  }

  async #follow(frames: AsyncIterable<Frame>): Promise<void> {
    try {
      for await (const frame of frames) {
        this.#state.apply(frame)
        for (const listener of this.#frameListeners) listener(frame)
        this.#changed()
        if (frame.frame === 'hello' && frame.hello.resume === 'gap') void this.#loadRest(frame.hello, ++this.#load)
      }
    } catch (error) {
      this.#ended = error instanceof Error ? error : new Error(String(error))
      this.#setStatus('reconnecting')
    }
  }

  /** Loads the pages that did not fit into `hello`. Retries until all pages are loaded, a newer `hello` arrives or the inbox is closed. */
  async #loadRest(hello: Hello, load: number): Promise<void> {
    if (!hello.more) return
    const isStale = () => load !== this.#load || this.#abort.signal.aborted
    const loadPages = async () => {
      await this.#loadRequests(hello.requests.at(-1)?.id, isStale)
      if (!this.#session) await this.#loadSessions(hello.sessions.at(-1)?.id, isStale)
      if (isStale()) return
      this.#state.finishLoading()
      this.#changed()
    }
    const isRetryable = (error: unknown) => !isStale() && !(error instanceof Fault && error.status < 500)
    // Ignore a permanent fault, such as a revoked credential, because the event stream ends with the same fault and reports it.
    await retry(loadPages, { ...retryPauses, isRetryable, signal: this.#abort.signal }).catch(() => {})
  }
  async #loadRequests(last: RequestId | undefined, isStale: () => boolean): Promise<void> {
    let after = last
    for (let more = true; more; ) {
      const from = { ...(this.#session && { session: this.#session }), ...(after && { after }) }
      const page = await this.#read('listRequests', { status: 'pending', limit: limits.pageMax, ...from })
      if (isStale()) return
      this.#state.addPage([], page.items)
      this.#changed()
      after = page.items.at(-1)?.id ?? after
      more = page.next !== null
    }
  }
  async #loadSessions(last: SessionId | undefined, isStale: () => boolean): Promise<void> {
    let before = last
    for (let more = true, pages = 0; more && pages < sessionPagesMax; pages++) {
      const page = await this.#read('listSessions', { limit: limits.pageMax, ...(before && { before }) })
      if (isStale()) return
      this.#state.addPage(page.items, [])
      before = page.items.at(-1)?.id ?? before
      more = page.next !== null
    }
  }

  readonly #read: Call = (op, input) => this.#call(op, input, { signal: this.#abort.signal })

  #addReply(request: Request): void {
    this.#state.addReply(request)
    this.#changed()
  }

  #setStatus(status: ConnectionStatus): void {
    this.#status = status
    this.#changed()
  }

  #changed(): void {
    this.#store.set(() => this.#takeSnapshot())
  }
  #takeSnapshot(): InboxSnapshot {
    return { ...this.#state.snapshot(), status: this.#status, ended: this.#ended }
  }
}

function requestIn(detail: unknown): Request | null {
  // The gateway's faults have the details that the contract declares.
  return (detail as { readonly request?: Request } | null | undefined)?.request ?? null
}
