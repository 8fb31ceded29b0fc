/** The time of a store. It follows the wall clock, never goes backwards, and keeps running at the speed of a monotonic clock while the wall clock is behind it. */
import { uptime } from 'node:os'
import type { ClockJump } from '@holdpoint/engine'

/** The two clocks of a machine, in milliseconds. */
export interface TimeSource {
  /** The wall clock, which a person or a time server can set forward and back. */
  now(): number
  /** A clock that nobody can set. It also counts while the machine sleeps. Only differences between its values are meaningful. */
  monotonic(): number
}

/** A value of the wall clock, and the monotonic time before and after it was read. The two differ if the reading took long, for example because the process was stopped in between. */
export interface ClockReading {
  readonly wall: number
  readonly before: number
  readonly after: number
}

/** A change of the wall clock by more than this counts as a jump. */
export const jumpMinMs = 5000
/** While the store's time is ahead of the wall clock, it runs slower by this fraction, until the two agree. */
const slowdown = 0.02

export class StoreClock {
  #time: number
  #last: ClockReading | null = null
  #jumps: ClockJump[] = []

  /** `time` is the time of the last commit, from which the store's time continues. */
  constructor(time: number) {
    this.#time = time
  }

  /** Returns the store's time, which is at least the time of the last commit of any gateway. */
  read(reading: ClockReading, lastCommitAt = 0): number {
    const elapsed = this.#last === null ? 0 : Math.max(0, reading.after - this.#last.after)
    const continued = this.#time + elapsed
    const ahead = continued - reading.wall
    const slowed = ahead > 0 ? continued - Math.min(ahead, elapsed * slowdown) : reading.wall
    this.#noteJump(reading, continued)
    this.#time = Math.max(slowed, lastCommitAt)
    this.#last = reading
    return Math.floor(this.#time)
  }

  /** Returns the jumps since the last call. */
  takeJumps(): readonly ClockJump[] {
    const jumps = this.#jumps
    this.#jumps = []
    return jumps
  }

  #noteJump(reading: ClockReading, continued: number): void {
    const aheadMs = Math.round(Math.max(0, continued - reading.wall))
    // After a start, only a wall clock that is behind the last commit shows that it was set; the gateway may have been stopped for any time.
    if (this.#last === null) {
      if (aheadMs > jumpMinMs) this.#jumps.push({ ms: -aheadMs, aheadMs, atStart: true })
      return
    }
    const ms = jumpBetween(this.#last, reading)
    if (Math.abs(ms) > jumpMinMs) this.#jumps.push({ ms: Math.round(ms), aheadMs, atStart: false })
  }
}

/** Returns by how much the wall clock was set between two readings, or 0 if the time that the readings took can explain the difference. */
function jumpBetween(last: ClockReading, next: ClockReading): number {
  const gained = next.wall - last.wall
  const elapsedMin = next.before - last.after
  const elapsedMax = next.after - last.before
  if (gained > elapsedMax) return gained - elapsedMax
  return gained < elapsedMin ? gained - elapsedMin : 0
}

export function readClocks(source: TimeSource): ClockReading {
  const before = source.monotonic()
  const wall = source.now()
  return { wall, before, after: source.monotonic() }
}

/** If the wall clock gains more than this on the monotonic clock, the machine may have slept. */
const sleepMinMs = 1000

/** Combines a monotonic clock that stops while the machine sleeps with the machine's uptime, which does not stop but is coarse and slow to read. */
export class MachineTime implements TimeSource {
  readonly #clocks: { readonly wall: () => number; readonly running: () => number; readonly uptime: () => number }
  readonly #uptimeAtZero: number
  #sleptMs = 0
  #lastLead: number

  constructor(clocks: { wall: () => number; running: () => number; uptime: () => number }) {
    this.#clocks = clocks
    this.#uptimeAtZero = clocks.uptime() - clocks.running()
    this.#lastLead = clocks.wall() - clocks.running()
  }
  now(): number {
    return this.#clocks.wall()
  }
  monotonic(): number {
    const running = this.#clocks.running()
    const lead = this.#clocks.wall() - running
    if (lead - this.#lastLead > sleepMinMs) {
      const slept = this.#clocks.uptime() - running - this.#uptimeAtZero
      if (slept - this.#sleptMs > sleepMinMs) this.#sleptMs = slept
    }
    this.#lastLead = lead
    return running + this.#sleptMs
  }
}

/** The clocks of this machine. On Linux, `performance.now` stops while the machine sleeps. */
export function machineTime(): TimeSource {
  return new MachineTime({
    wall: () => Date.now(),
    running: () => performance.now(),
    uptime: () => uptime() * 1000,
  })
}
