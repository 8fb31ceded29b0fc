/** The transcript of one session: entries that are loaded page by page from the end of the log and kept up to date by the event stream. */
import {
  type Call,
  type Cursor,
  type Event,
  Fault,
  type Frame,
  limits,
  retry,
  type SessionId,
  type StreamingBlock,
} from '@holdpoint/protocol'
import { createObservableStore } from './observable-store.ts'
import type { Entry } from './transcript-entry.ts'
import { TranscriptState } from './transcript-state.ts'

export interface TranscriptSnapshot {
  /** The loaded entries, oldest first. */
  readonly entries: readonly Entry[]
  /** Whether the log contains events before the first loaded entry. The value is `loading` while a page is being loaded. */
  readonly earlier: 'some' | 'loading' | 'none'
  /** Whether the newest page is loaded. */
  readonly loaded: boolean
  /** The error of the last attempt to load the newest page; null if the attempt succeeded. */
  readonly problem: Error | null
}
export interface TranscriptOptions {
  readonly call: Call
  readonly session: SessionId
  /** Subscribes to the event stream, for example the `onFrame` of an inbox. */
  readonly frames: (listener: (frame: Frame) => void) => () => void
  /** The blocks that are already being streamed. */
  readonly blocks?: readonly StreamingBlock[]
}

const pageEvents = 300
const retryPauses = { firstPauseMs: 250, pauseMaxMs: 5000 }

export class Transcript {
  readonly #call: Call
  readonly #session: SessionId
  readonly #abort = new AbortController()
  readonly #store = createObservableStore(() => this.#takeSnapshot(), { coalesce: true })
  readonly #unsubscribe: () => void
  #state = new TranscriptState()
  /** Events that arrive while the newest page is loading; null after the page is loaded. */
  #buffered: Event[] | null = []
  #before: Cursor | null = null
  #earlier: TranscriptSnapshot['earlier'] = 'loading'
  #loaded = false
  #problem: Error | null = null
  #loadingEarlier: Promise<void> | null = null
  /** Counts the loads of the newest page. After a newer load or `close`, the result of an older load is ignored. */
  #load = 0

  constructor({ call, session, frames, blocks = [] }: TranscriptOptions) {
    this.#call = call
    this.#session = session
    this.#state.setStreamingBlocks(blocks)
    this.#unsubscribe = frames(frame => this.#onFrame(frame))
    void this.#loadNewest()
  }

  readonly subscribe = this.#store.subscribe
  /** Returns the same object until something changes. */
  readonly getSnapshot = this.#store.get

  /** Loads the page before the first entry, or waits for the page that is being loaded. Rejects if the page cannot be loaded, and keeps the loaded entries in that case. */
  loadEarlier(): Promise<void> {
    this.#loadingEarlier ??= this.#loadEarlier().finally(() => {
      this.#loadingEarlier = null
    })
    return this.#loadingEarlier
  }

  async #loadEarlier(): Promise<void> {
    if (this.#earlier !== 'some' || this.#before === null) return
    const load = this.#load
    this.#earlier = 'loading'
    this.#changed()
    try {
      const page = await this.#page(this.#before)
      if (load !== this.#load) return
      this.#state.prepend(page.items)
      this.#setEarlier(page.next)
    } catch (error) {
      if (load === this.#load) this.#earlier = 'some'
      throw error
    } finally {
      this.#changed()
    }
  }

  close(): void {
    this.#load++
    this.#abort.abort()
    this.#unsubscribe()
    this.#store.unsubscribeAll()
  }

  /** Loads the newest page. Retries until the page is loaded, the transcript is closed or the gateway replies with a 4xx fault. */
  async #loadNewest(): Promise<void> {
    const load = ++this.#load
    this.#buffered = []
    this.#earlier = 'loading'
    const loadPage = async () => {
      const page = await this.#page('end')
      if (load !== this.#load) return
      this.#state = this.#state.emptied()
      for (const event of [...page.items, ...(this.#buffered ?? [])]) this.#state.apply(event)
      this.#buffered = null
      this.#loaded = true
      this.#problem = null
      this.#setEarlier(page.next)
      this.#changed()
    }
    const isRetryable = (error: unknown) => {
      if (load !== this.#load) return false
      this.#problem = error instanceof Error ? error : new Error(String(error))
      this.#changed()
      return !(error instanceof Fault && error.status < 500)
    }
    // Ignore the rejection, because the snapshot already reports the error in `problem`.
    await retry(loadPage, { ...retryPauses, isRetryable, signal: this.#abort.signal }).catch(() => {})
  }

  #page(before: Cursor | 'end') {
    const limit = Math.min(pageEvents, limits.pageMax)
    return this.#call('listEvents', { id: this.#session, before, limit }, { signal: this.#abort.signal })
  }

  #setEarlier(next: string | null): void {
    this.#before = next
    this.#earlier = next === null ? 'none' : 'some'
  }

  #onFrame(frame: Frame): void {
    if (frame.frame === 'hello') {
      this.#state.setStreamingBlocks(frame.hello.blocks.filter(block => block.session === this.#session))
      // `gap` means that the event stream has skipped events, so the loaded entries may be incomplete.
      if (frame.hello.resume === 'gap' && this.#loaded) void this.#loadNewest()
    } else if (frame.frame === 'delta' && frame.delta.session === this.#session) {
      this.#state.addDelta(frame.delta)
    } else if (frame.frame === 'event' && frame.event.session === this.#session) {
      if (this.#buffered) this.#buffered.push(frame.event)
      else this.#state.apply(frame.event)
    } else return
    this.#changed()
  }

  #changed(): void {
    this.#store.set(() => this.#takeSnapshot())
  }
  #takeSnapshot(): TranscriptSnapshot {
    return {
      entries: this.#state.entries(),
      earlier: this.#earlier,
      loaded: this.#loaded,
      problem: this.#problem,
    }
  }
}
