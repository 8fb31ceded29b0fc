/** Everyone who watches through one door. A frame is encoded once however many watch, and a reader that is too slow is let go. */
import type { Caller, Desk, LiveFrame, Watch, Watcher, WatchOptions } from '@holdpoint/engine'
import { Fault, limits } from '@holdpoint/protocol'

/** One stream or socket, as the audience needs it. */
export interface Screen {
  /** Hello and what was missed; returns how many bytes that was. */
  begin(watch: Watch): number
  send(frames: readonly LiveFrame[]): void
  buffered(): number
  beat(): void
  /** Ends in good order, with a last word. */
  close(): void
  /** Ends at once; what is buffered is dropped. */
  drop(): void
}

export interface Seat {
  /** From here on frames go to the screen; those that came since the watch began go first. */
  open(screen: Screen): void
  leave(): void
}

export interface Audience {
  seat(caller: Caller, options: WatchOptions, renew: () => Promise<Caller>): Promise<Seat>
  /** Ends every stream in good order and takes no more. */
  close(): void
}

export function createAudience(desk: Pick<Desk, 'watch'>): Audience {
  const seats = new Set<Place>()
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
      if (seats.size >= limits.watchersMax)
        throw new Fault('too_many', `This gateway has ${limits.watchersMax} watchers already; try again later.`)
      const place = new Place(wake, gone, renew)
      seats.add(place)
      beat ??= setInterval(() => {
        for (const each of seats) each.beat()
      }, limits.heartbeatMs).unref()
      try {
        place.watch = await desk.watch(caller, options, place)
      } catch (error) {
        gone(place)
        throw error
      }
      return place
    },
    close() {
      for (const place of seats) place.close()
    },
  }
}

class Place implements Seat, Watcher {
  watch: Watch | null = null
  #screen: Screen | null = null
  #waiting: LiveFrame[] = []
  #left = false
  /** A snapshot may be larger than what a slow reader is allowed to leave lying about: its own size is not held against it. */
  #allowance = limits.watcherBufferMaxBytes
  readonly #wake: (place: Place) => void
  readonly #gone: (place: Place) => void
  readonly #renew: () => Promise<Caller>

  constructor(wake: (place: Place) => void, gone: (place: Place) => void, renew: () => Promise<Caller>) {
    this.#wake = wake
    this.#gone = gone
    this.#renew = renew
  }

  frame(frame: LiveFrame): void {
    if (this.#left) return
    if (this.#waiting.push(frame) === 1 && this.#screen) this.#wake(this)
  }

  open(screen: Screen): void {
    if (this.#left || !this.watch) screen.drop()
    else {
      this.#screen = screen
      this.#allowance += screen.begin(this.watch)
      if (this.#waiting.length > 0) this.flush()
    }
  }

  flush(): void {
    if (!this.#screen || this.#left) return
    const frames = this.#waiting
    this.#waiting = []
    if (this.#screen.buffered() > this.#allowance) this.#drop()
    else this.#screen.send(frames)
  }

  /** A credential that was revoked meanwhile ends the stream here, at the latest. */
  beat(): void {
    if (!this.#screen) return
    this.#screen.beat()
    this.#renew().catch(() => this.#drop())
  }

  close(): void {
    this.#screen?.close()
    this.leave()
  }

  #drop(): void {
    this.#screen?.drop()
    this.leave()
  }

  leave(): void {
    if (this.#left) return
    this.#left = true
    this.#waiting = []
    this.watch?.stop()
    this.#gone(this)
  }
}
