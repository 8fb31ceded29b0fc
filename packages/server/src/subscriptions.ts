/** Everyone who watches through one door. A frame is encoded once however many watch, and a reader that is too slow is let go. */
import type { Caller, FrameListener, Gateway, SerializedFrame, SubscribeOptions, Subscription } from '@holdpoint/engine'
import { Fault, limits } from '@holdpoint/protocol'
import { type Log, toFault } from './http-message.ts'

/** One stream or socket, as the audience needs it. */
export interface FrameSink {
  /** Hello and what was missed; returns how many bytes that was. */
  begin(watch: Subscription): number
  send(frames: readonly SerializedFrame[]): void
  buffered(): number
  beat(): void
  /** Ends in good order, with a last word. */
  close(): void
  /** Ends at once; what is buffered is dropped. */
  drop(): void
}

export interface ClientSubscription {
  /** From here on frames go to the screen; those that came since the watch began go first. */
  open(screen: FrameSink): void
  leave(): void
}

export interface SubscriptionHub {
  seat(caller: Caller, options: SubscribeOptions, renew: () => Promise<Caller>): Promise<ClientSubscription>
  /** Ends every stream in good order and takes no more. */
  close(): void
}

export function createSubscriptionHub(gateway: Pick<Gateway, 'subscribe'>, log: Log): SubscriptionHub {
  const seats = new Set<Place>()
  let closed = false
  let dirty: Place[] = []
  let beat: NodeJS.Timeout | null = null

  function wake(place: Place): void {
    // One pass per turn of the event loop: what a group commit wrote together is sent in one piece.
    if (dirty.push(place) === 1) setImmediate(flush)
  }
  function flush(): void {
    const places = dirty
    dirty = []
    for (const place of places) place.flush()
  }
  function gone(place: Place): void {
    seats.delete(place)
    if (seats.size === 0 && beat) {
      clearInterval(beat)
      beat = null
    }
  }

  return {
    async seat(caller, options, renew) {
      if (closed) throw new Fault('draining', 'This gateway is closing; watch again in a moment.')
      if (seats.size >= limits.subscriptionsMax)
        throw new Fault('too_many', `This gateway has ${limits.subscriptionsMax} watchers already; try again later.`)
      const place = new Place({ wake, gone, renew, log, name: caller.name })
      seats.add(place)
      beat ??= setInterval(() => {
        for (const each of seats) each.beat()
      }, limits.heartbeatMs).unref()
      try {
        place.watch = await gateway.subscribe(caller, options, place)
      } catch (error) {
        gone(place)
        throw error
      }
      return place
    },
    close() {
      closed = true
      for (const place of seats) place.close()
    },
  }
}

interface Surroundings {
  readonly wake: (place: Place) => void
  readonly gone: (place: Place) => void
  readonly renew: () => Promise<Caller>
  readonly log: Log
  readonly name: string
}

class Place implements ClientSubscription, FrameListener {
  watch: Subscription | null = null
  #screen: FrameSink | null = null
  #waiting: SerializedFrame[] = []
  #left = false
  /** A snapshot may be larger than what a slow reader is allowed to leave lying about: its own size is not held against it. */
  #allowance = limits.subscriptionBufferMaxBytes
  readonly #around: Surroundings

  constructor(around: Surroundings) {
    this.#around = around
  }

  frame(frame: SerializedFrame): void {
    if (this.#left) return
    if (this.#waiting.push(frame) === 1 && this.#screen) this.#around.wake(this)
  }

  open(screen: FrameSink): void {
    const { watch } = this
    if (this.#left || !watch) {
      screen.drop()
      return
    }
    this.#screen = screen
    this.#attempt(() => {
      this.#allowance += screen.begin(watch)
    })
    if (this.#waiting.length > 0) this.flush()
  }

  flush(): void {
    const screen = this.#screen
    if (!screen || this.#left) return
    const frames = this.#waiting
    this.#waiting = []
    if (screen.buffered() > this.#allowance) this.#drop(`it left more than ${this.#allowance} bytes of frames unread`)
    else this.#attempt(() => screen.send(frames))
  }

  /** A credential that was revoked meanwhile ends the stream here, at the latest. */
  beat(): void {
    const screen = this.#screen
    if (!screen) return
    this.#attempt(() => screen.beat())
    this.#around.renew().catch((error: unknown) => this.#drop(toFault(error, this.#around.log).message))
  }

  close(): void {
    this.#attempt(() => this.#screen?.close())
    this.leave()
  }

  #drop(why: string): void {
    if (this.#left) return
    this.#around.log({ dropped: this.#around.name, why })
    this.#screen?.drop()
    this.leave()
  }

  /** What breaks one reader's stream must not end the others', nor the process: frames are sent from timers. */
  #attempt(act: () => void): void {
    try {
      act()
    } catch (error) {
      this.#drop(toFault(error, this.#around.log).message)
    }
  }

  leave(): void {
    if (this.#left) return
    this.#left = true
    this.#waiting = []
    this.watch?.stop()
    this.#around.gone(this)
  }
}
