import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { Fault, isTransient, pause, retry, retryPauseMs, systemClock, within } from '../src/index.ts'

const pauses = { firstPauseMs: 100, pauseMaxMs: 1000 }
const restarting = new Fault('draining', 'The gateway is restarting.')

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

describe('retry', () => {
  it('retry repeats a call after retryable errors and resolves with the first success', async () => {
    const run = vi.fn<() => Promise<string>>().mockRejectedValueOnce(restarting).mockResolvedValueOnce('done')
    const result = retry(run, { ...pauses, isRetryable: isTransient })
    await vi.advanceTimersByTimeAsync(100)
    expect(await result).toBe('done')
    expect(run).toHaveBeenCalledTimes(2)
  })

  it('retry rejects at once with an error that is not retryable', async () => {
    const run = vi.fn(() => Promise.reject(new Fault('forbidden', 'No.')))
    await expect(retry(run, { ...pauses, isRetryable: isTransient })).rejects.toMatchObject({ code: 'forbidden' })
    expect(run).toHaveBeenCalledTimes(1)
  })

  it('retry rejects with the last error when its attempts are used up', async () => {
    const run = vi.fn(() => Promise.reject(restarting))
    const result = expect(retry(run, { ...pauses, attempts: 3, isRetryable: isTransient })).rejects.toBe(restarting)
    await vi.advanceTimersByTimeAsync(300)
    await result
    expect(run).toHaveBeenCalledTimes(3)
  })

  it('retry rejects with the reason of its signal if the signal aborts during a pause', async () => {
    const controller = new AbortController()
    const run = vi.fn(() => Promise.reject(restarting))
    const result = retry(run, { ...pauses, isRetryable: isTransient, signal: controller.signal })
    const rejected = expect(result).rejects.toThrow('stopped')
    await vi.advanceTimersByTimeAsync(10)
    controller.abort(new Error('stopped'))
    await rejected
    expect(run).toHaveBeenCalledTimes(1)
    expect(vi.getTimerCount()).toBe(0)
  })

  it('retry doubles its pauses up to the maximum and shortens each by at most half', () => {
    for (const [failures, wholeMs] of [100, 200, 400, 800, 1000, 1000].entries()) {
      const ms = retryPauseMs(failures + 1, pauses)
      expect(ms).toBeGreaterThanOrEqual(wholeMs / 2)
      expect(ms).toBeLessThanOrEqual(wholeMs)
    }
    expect(retryPauseMs(10_000, pauses)).toBeLessThanOrEqual(1000)
  })
})

describe('isTransient', () => {
  it('isTransient returns true for a restart, an unavailable store and a missing reply, and false for all other errors', () => {
    const unreachable = Object.assign(new Error('no reply'), { name: 'Unreachable' })
    expect([restarting, new Fault('store_full', 'full'), unreachable].map(isTransient)).toEqual([true, true, true])
    expect([new Fault('not_found', 'gone'), new Error('bug'), 'text', null].map(isTransient)).not.toContain(true)
  })
})

describe('systemClock', () => {
  it('systemClock fires a timer at the right time even if it is longer than the longest timer of the platform', async () => {
    const callback = vi.fn()
    const longMs = 2 ** 31 + 5000
    systemClock.after(longMs, callback)
    await vi.advanceTimersByTimeAsync(longMs - 1)
    expect(callback).not.toHaveBeenCalled()
    await vi.advanceTimersByTimeAsync(1)
    expect(callback).toHaveBeenCalledTimes(1)
  })

  it('systemClock keeps the process alive for a timer, but not for a background timer', () => {
    vi.useRealTimers()
    const timers = vi.spyOn(globalThis, 'setTimeout')
    const cancels = [systemClock.after(1000, () => {}), systemClock.after(1000, () => {}, { background: true })]
    const hasRef = timers.mock.results.map(({ value }) => (value as NodeJS.Timeout).hasRef())
    for (const cancel of cancels) cancel()
    timers.mockRestore()
    expect(hasRef).toEqual([true, false])
  })

  it('systemClock leaves no timer after an aborted pause or a promise that settled in time', async () => {
    const controller = new AbortController()
    const paused = expect(pause(systemClock, 1000, controller.signal)).rejects.toThrow('stopped')
    controller.abort(new Error('stopped'))
    await paused
    expect(await within(systemClock, 1000, Promise.resolve('in time'))).toBe('in time')
    expect(vi.getTimerCount()).toBe(0)
  })
})
