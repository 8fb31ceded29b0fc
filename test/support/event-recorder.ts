/** Someone who watches the stream over every crash and keeps all of it: what tests wait for, and what they compare with the log afterwards. */
import { watchEvents } from '@holdpoint/client'
import type { Event, Frame, SessionId } from '@holdpoint/protocol'

export class Witness {
  readonly events: Event[] = []
  readonly #stop = new AbortController()
  readonly #waiting = new Set<() => void>()
  readonly #done: Promise<void>
  #begun = false
  #failed: unknown

  constructor(frames: (signal: AbortSignal) => AsyncIterable<Frame>) {
    this.#done = this.#watch(frames(this.#stop.signal)).catch(error => {
      this.#failed = error
      this.#wake()
    })
  }
  /** Nothing that happens from now on is missed. */
  static async over(url: string, token: string): Promise<Witness> {
    const witness = new Witness(signal => watchEvents({ url, token }, { signal }))
    await witness.begun()
    return witness
  }
  async begun(): Promise<void> {
    while (!this.#begun) await this.#more()
  }

  async #watch(frames: AsyncIterable<Frame>): Promise<void> {
    for await (const frame of frames) {
      if (frame.frame === 'hello' && frame.hello.resume === 'gap' && this.events.length > 0)
        throw new Error(`the stream has a gap at ${frame.hello.cursor}`)
      if (frame.frame === 'hello') {
        this.#begun = true
        this.#wake()
      }
      if (frame.frame !== 'event') continue
      this.events.push(frame.event)
      this.#wake()
    }
  }

  of(session: SessionId): Event[] {
    return this.events.filter(event => event.session === session)
  }

  /** The first event, from `from` on, that fits. */
  async seen<E extends Event>(fits: (event: Event) => event is E, from?: number): Promise<E>
  async seen(fits: (event: Event) => boolean, from?: number): Promise<Event>
  async seen(fits: (event: Event) => boolean, from = 0): Promise<Event> {
    for (let at = from; ; at++) {
      while (at >= this.events.length) await this.#more()
      const event = this.events[at]
      if (event && fits(event)) return event
    }
  }
  async #more(): Promise<void> {
    if (!this.#failed) await new Promise<void>(resolve => this.#waiting.add(resolve))
    if (this.#failed) throw this.#failed
  }
  #wake(): void {
    const woken = [...this.#waiting]
    this.#waiting.clear()
    for (const wake of woken) wake()
  }

  async close(): Promise<void> {
    this.#stop.abort()
    await this.#done
  }
}

type Typed<T extends Event['type']> = Event & { readonly type: T }
/** An event of this session and of this type. */
export function told<const T extends Event['type']>(session: SessionId, type: T) {
  return (event: Event): event is Typed<T> => event.session === session && event.type === type
}

const patienceMs = 20_000
/** The promise, unless it takes so long that whatever it waits for will not come. */
export async function within<T>(promise: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`nothing for ${patienceMs} ms`)), patienceMs)
  })
  return Promise.race([promise, late]).finally(() => clearTimeout(timer))
}
