/** One session's log as entries a person reads: from its end backwards, a page at a time, and kept current by the stream. */
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
import type { Entry } from './transcript-entry.ts'
import { TranscriptState } from './transcript-state.ts'

export interface TranscriptSnapshot {
  /** Oldest first. */
  readonly entries: readonly Entry[]
  /** What lies before the first entry. */
  readonly earlier: 'some' | 'loading' | 'none'
  /** Whether the newest page is here. */
  readonly loaded: boolean
  /** Why it could not be read. */
  readonly problem: Error | null
}
export interface TranscriptOptions {
  readonly call: Call
  readonly session: SessionId
  /** The stream, such as an inbox's `onFrame`. */
  readonly frames: (listener: (frame: Frame) => void) => () => void
  /** What streams already. */
  readonly blocks?: readonly StreamingBlock[]
}

const pageEvents = 300
const retryPauses = { firstPauseMs: 250, pauseMaxMs: 5000 }

export class Transcript {
  readonly #call: Call
  readonly #session: SessionId
  readonly #abort = new AbortController()
  readonly #listeners = new Set<() => void>()
  readonly #stopFrames: () => void
  #account = new TranscriptState()
  /** Live events wait here while the newest page is read. */
  #early: Event[] | null = []
  #before: Cursor | null = null
  #earlier: TranscriptSnapshot['earlier'] = 'loading'
  #loaded = false
  #problem: Error | null = null
  #snapshot: TranscriptSnapshot | null = null
  #told = false
  #load = 0

  constructor({ call, session, frames, blocks = [] }: TranscriptOptions) {
    this.#call = call
    this.#session = session
    this.#account.stream(blocks)
    this.#stopFrames = frames(frame => this.#hear(frame))
    void this.#loadNewest()
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }
  readonly getSnapshot = (): TranscriptSnapshot => {
    this.#snapshot ??= {
      entries: this.#account.entries(),
      earlier: this.#earlier,
      loaded: this.#loaded,
      problem: this.#problem,
    }
    return this.#snapshot
  }

  /** Fetches the page before the first entry. Rejects where that fails; what is here stays. */
  async loadEarlier(): Promise<void> {
    if (this.#earlier !== 'some' || this.#before === null) return
    const load = this.#load
    this.#earlier = 'loading'
    this.#changed()
    try {
      const page = await this.#page(this.#before)
      if (load !== this.#load) return
      this.#account.prepend(page.items)
      this.#reach(page.next)
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
    this.#stopFrames()
    this.#listeners.clear()
  }

  /** Loads the newest page. Retries until it has it or the transcript is closed; a 4xx fault ends the retries. */
  async #loadNewest(): Promise<void> {
    const load = ++this.#load
    this.#early = []
    this.#earlier = 'loading'
    const loadPage = async () => {
      const page = await this.#page('end')
      if (load !== this.#load) return
      this.#account = this.#account.renewed()
      for (const event of [...page.items, ...(this.#early ?? [])]) this.#account.fold(event)
      this.#early = null
      this.#loaded = true
      this.#problem = null
      this.#reach(page.next)
      this.#changed()
    }
    const isRetryable = (error: unknown) => {
      if (load !== this.#load) return false
      this.#problem = error instanceof Error ? error : new Error(String(error))
      this.#changed()
      return !(error instanceof Fault && error.status < 500)
    }
    await retry(loadPage, { ...retryPauses, isRetryable, signal: this.#abort.signal }).catch(() => {})
  }

  #page(before: Cursor | 'end') {
    const limit = Math.min(pageEvents, limits.pageMax)
    return this.#call('listEvents', { id: this.#session, before, limit }, { signal: this.#abort.signal })
  }

  #reach(next: string | null): void {
    this.#before = next
    this.#earlier = next === null ? 'none' : 'some'
  }

  #hear(frame: Frame): void {
    if (frame.frame === 'hello') {
      this.#account.stream(frame.hello.blocks.filter(block => block.session === this.#session))
      // Too much was missed: what is here may have a hole behind it.
      if (frame.hello.resume === 'gap' && this.#loaded) void this.#loadNewest()
    } else if (frame.frame === 'delta' && frame.delta.session === this.#session) {
      this.#account.grow(frame.delta)
    } else if (frame.frame === 'event' && frame.event.session === this.#session) {
      if (this.#early) this.#early.push(frame.event)
      else this.#account.fold(frame.event)
    } else return
    this.#changed()
  }

  /** Listeners hear once of what comes in one go. */
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
