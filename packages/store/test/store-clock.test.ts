/** Tests the store's clock: a table of cases, properties over random clocks, and the detection of sleep. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { jumpMinMs, MachineTime, readClocks, StoreClock } from '../src/store-clock.ts'

const start = 1_800_000_000_000
const hour = 3600_000

/** A wall clock and a monotonic clock that a test moves. */
class TestTime {
  wall = start
  elapsed = 0
  now = () => this.wall
  monotonic = () => this.elapsed
  pass(ms: number): void {
    this.wall += ms
    this.elapsed += ms
  }
}

/** Plays steps on a fresh clock and returns the store's time relative to the start after each step. */
function play(steps: readonly (readonly ['pass' | 'set', number])[], lastCommitAt = start) {
  const time = new TestTime()
  const clock = new StoreClock(lastCommitAt)
  clock.read(readClocks(time))
  const times = steps.map(([step, ms]) => {
    if (step === 'pass') time.pass(ms)
    else time.wall += ms
    return clock.read(readClocks(time)) - start
  })
  return { times, jumps: clock.takeJumps().map(jump => jump.ms) }
}

describe('F17: the store’s clock', () => {
  it.each([
    ['runs with the wall clock', [['pass', 10_000]], [10_000], []],
    ['follows the wall clock forward, and reports the jump', [['set', 2 * hour]], [2 * hour], [2 * hour]],
    [
      'does not go back with the wall clock, and keeps running',
      [
        ['set', -2 * hour],
        ['pass', 2000],
      ],
      [0, 1960],
      [-2 * hour],
    ],
    [
      'keeps running after the wall clock went two hours forward and back',
      [
        ['set', 2 * hour],
        ['set', -2 * hour],
        ['pass', 2100],
      ],
      [2 * hour, 2 * hour, 2 * hour + 2058],
      [2 * hour, -2 * hour],
    ],
    [
      'keeps running after the wall clock went twelve years forward and back',
      [
        ['set', 12 * 365 * 24 * hour],
        ['set', -12 * 365 * 24 * hour],
        ['pass', 100_000],
      ],
      [12 * 365 * 24 * hour, 12 * 365 * 24 * hour, 12 * 365 * 24 * hour + 98_000],
      [12 * 365 * 24 * hour, -12 * 365 * 24 * hour],
    ],
    [
      'keeps running if the wall clock is set to 1970',
      [
        ['set', -start],
        ['pass', 50_000],
      ],
      [0, 49_000],
      [-start],
    ],
    [
      'agrees with the wall clock again after a clock that was behind is corrected',
      [
        ['set', -hour],
        ['set', hour],
        ['pass', 1000],
      ],
      [0, 0, 1000],
      [-hour, hour],
    ],
    [
      'absorbs a small correction without a jump',
      [
        ['set', -1000],
        ['pass', 10_000],
        ['pass', 40_000],
        ['pass', 10_000],
      ],
      [0, 9800, 49_000, 59_000],
      [],
    ],
    ['does not report a jump at the limit', [['set', jumpMinMs]], [jumpMinMs], []],
  ] as const)('F17: the store’s clock %s', (_name, steps, times, jumps) => {
    expect(play(steps)).toEqual({ times, jumps })
  })

  it('F17: the store’s clock continues from the last commit after a restart with a wall clock that is behind, and reports that once', () => {
    const { times, jumps } = play([['pass', 1000]], start + hour)
    expect(times).toEqual([hour + 980])
    expect(jumps).toEqual([-hour])
  })

  it('F17: the store’s clock follows the wall clock after a restart with a wall clock that is ahead, and reports nothing', () => {
    expect(play([['pass', 1000]], start - hour)).toEqual({ times: [1000], jumps: [] })
  })

  it('the store’s clock is never behind a commit of another gateway', () => {
    const time = new TestTime()
    const clock = new StoreClock(0)
    expect(clock.read(readClocks(time), start + 500)).toBe(start + 500)
    time.pass(100)
    expect(clock.read(readClocks(time), start + 500)).toBe(start + 598)
    expect(clock.takeJumps()).toEqual([])
  })

  it('F17: the store’s clock does not report a jump if the process was stopped between two readings', () => {
    const clock = new StoreClock(start)
    clock.read({ wall: start, before: 0, after: 0 })
    // The wall clock was read, then the process was stopped for an hour, then the monotonic clock was read.
    expect(clock.read({ wall: start + 10, before: 10, after: 10 + hour })).toBeGreaterThan(start + 0.9 * hour)
    clock.read({ wall: start + 20 + hour, before: 20 + hour, after: 20 + hour })
    expect(clock.takeJumps()).toEqual([])
  })

  it('F17: the store’s clock never goes backwards, and lets a deadline pass in time, however the wall clock is set', () => {
    const step = fc.oneof(
      fc.tuple(fc.constant('pass' as const), fc.integer({ min: 0, max: 10 * hour })),
      fc.tuple(fc.constant('set' as const), fc.integer({ min: -20 * 365 * 24 * hour, max: 20 * 365 * 24 * hour })),
    )
    fc.assert(
      fc.property(fc.array(step, { maxLength: 30 }), fc.integer({ min: 1000, max: 10_000 }), (steps, deadlineMs) => {
        const { times } = play([...steps, ['pass', Math.ceil(deadlineMs / 0.98)]])
        for (const [index, time] of times.entries()) expect(time).toBeGreaterThanOrEqual(times[index - 1] ?? 0)
        const [before = 0, after = 0] = times.slice(-2)
        if (steps.length > 0) expect(after - before).toBeGreaterThanOrEqual(deadlineMs - 1)
        // Time that passes is never counted twice: without jumps forward, the store is never ahead of the elapsed time.
        const passed = steps.reduce((sum, [kind, ms]) => sum + (kind === 'pass' || ms > 0 ? ms : 0), 0)
        expect(after).toBeLessThanOrEqual(passed + Math.ceil(deadlineMs / 0.98) + 1)
      }),
    )
  })
})

describe('T2: the monotonic time of the machine', () => {
  function machine() {
    const clocks = { wall: start, running: 500, uptime: 90_000 }
    const time = new MachineTime({
      wall: () => clocks.wall,
      running: () => clocks.running,
      uptime: () => clocks.uptime,
    })
    const pass = (ms: number, asleep = false) => {
      clocks.wall += ms
      clocks.uptime += ms
      if (!asleep) clocks.running += ms
    }
    return { clocks, time, pass }
  }

  it('T2: the monotonic time of the machine counts the time in which the machine slept', () => {
    const { time, pass } = machine()
    const before = time.monotonic()
    pass(1000)
    pass(8 * hour, true)
    expect(time.monotonic() - before).toBe(8 * hour + 1000)
    pass(3 * hour, true)
    pass(250)
    expect(time.monotonic() - before).toBe(11 * hour + 1250)
  })

  it('T2: the monotonic time of the machine does not change when the wall clock is set', () => {
    const { clocks, time, pass } = machine()
    const before = time.monotonic()
    clocks.wall += 2 * hour
    pass(1000)
    expect(time.monotonic() - before).toBe(1000)
    clocks.wall -= 5 * hour
    expect(time.monotonic() - before).toBe(1000)
  })

  it('T2: the monotonic time of the machine lets a deadline pass during sleep even if the store’s clock is ahead of the wall clock', () => {
    const { clocks, time, pass } = machine()
    const clock = new StoreClock(start)
    clock.read(readClocks(time))
    clocks.wall -= 2 * hour
    const before = clock.read(readClocks(time))
    pass(hour, true)
    expect(clock.read(readClocks(time)) - before).toBeGreaterThan(0.97 * hour)
    expect(clock.takeJumps().map(jump => jump.ms)).toEqual([-2 * hour])
  })
})
