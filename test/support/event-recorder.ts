/** Records the event stream across gateway crashes. Tests use the recorder to wait for events, and compare its events with the log afterwards. */
import { watchEvents } from '@holdpoint/client'
import type { Event, Frame, SessionId } from '@holdpoint/protocol'

export class EventRecorder {
  readonly events: Event[] = []
  readonly #stop = new AbortController()
  readonly #waiters = new Set<() => void>()
  readonly #done: Promise<void>
  #connected = false
  #failed: unknown

  constructor(frames: (signal: AbortSignal) => AsyncIterable<Frame>) {
    this.#done = this.#record(frames(this.#stop.signal)).catch(error => {
      this.#failed = error
      this.#wake()
    })
  }
  /** Resolves when the stream is connected. Every later event is recorded. */
  static async connect(url: string, token: string): Promise<EventRecorder> {
    const recorder = new EventRecorder(signal => watchEvents({ url, token }, { signal }))
    await recorder.connected()
    return recorder
  }
  async connected(): Promise<void> {
    while (!this.#connected) await this.#nextChange()
  }

  async #record(frames: AsyncIterable<Frame>): Promise<void> {
    for await (const frame of frames) {
      if (frame.frame === 'hello' && frame.hello.resume === 'gap' && this.events.length > 0)
        throw new Error(`the event stream has a gap before ${frame.hello.cursor}`)
      if (frame.frame === 'hello') {
        this.#connected = true
        this.#wake()
      }
      if (frame.frame !== 'event') continue
      this.events.push(frame.event)
      this.#wake()
    }
  }

  eventsOf(session: SessionId): Event[] {
    return this.events.filter(event => event.session === session)
  }

  /** Waits for the first event at or after index `from` that matches. */
  async waitFor<E extends Event>(matches: (event: Event) => event is E, from?: number): Promise<E>
  async waitFor(matches: (event: Event) => boolean, from?: number): Promise<Event>
  async waitFor(matches: (event: Event) => boolean, from = 0): Promise<Event> {
    for (let index = from; ; index++) {
      while (index >= this.events.length) await this.#nextChange()
      const event = this.events[index]
      if (event && matches(event)) return event
    }
  }
  async #nextChange(): Promise<void> {
    if (!this.#failed) await new Promise<void>(resolve => this.#waiters.add(resolve))
    if (this.#failed) throw this.#failed
  }
  #wake(): void {
    const waiters = [...this.#waiters]
    this.#waiters.clear()
    for (const wake of waiters) wake()
  }

  async close(): Promise<void> {
    this.#stop.abort()
    await this.#done
  }
}

type EventOfType<T extends Event['type']> = Event & { readonly type: T }
/** Matches events of this session and type. */
export function isEvent<const T extends Event['type']>(session: SessionId, type: T) {
  return (event: Event): event is EventOfType<T> => event.session === session && event.type === type
}

const timeoutMs = 60_000
/** Rejects if the promise takes too long. */
export async function withTimeout<T>(promise: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const timeout = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`timed out after ${timeoutMs} ms`)), timeoutMs)
  })
  return Promise.race([promise, timeout]).finally(() => clearTimeout(timer))
}
