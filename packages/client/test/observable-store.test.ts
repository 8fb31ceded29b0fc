import { createObservableStore } from '@holdpoint/client'
import { describe, expect, it, vi } from 'vitest'

describe('an observable store', () => {
  it('an observable store notifies its subscribers at once of every change', () => {
    const store = createObservableStore(1)
    const listener = vi.fn()
    const unsubscribe = store.subscribe(listener)
    store.set(2)
    store.set(3)
    expect([store.get(), listener.mock.calls.length]).toEqual([3, 2])
    unsubscribe()
    store.set(4)
    expect(listener).toHaveBeenCalledTimes(2)
  })

  it('an observable store notifies once for several changes if `coalesce` is set, and returns the new value even before it notifies', async () => {
    const store = createObservableStore(1, { coalesce: true })
    const listener = vi.fn()
    store.subscribe(listener)
    store.set(2)
    store.set(3)
    expect([store.get(), listener.mock.calls.length]).toEqual([3, 0])
    await expect.poll(() => listener.mock.calls.length).toBe(1)
    store.set(4)
    await expect.poll(() => listener.mock.calls.length).toBe(2)
  })

  it('an observable store computes a lazy value once, on the first read after the change', () => {
    const compute = vi.fn(() => ({ count: 1 }))
    const store = createObservableStore(compute)
    store.set(compute)
    expect(compute).not.toHaveBeenCalled()
    expect(store.get()).toBe(store.get())
    expect(compute).toHaveBeenCalledTimes(1)
  })

  it('an observable store notifies no subscriber after unsubscribeAll, not even of an earlier change', async () => {
    const store = createObservableStore(1, { coalesce: true })
    const listener = vi.fn()
    store.subscribe(listener)
    store.set(2)
    store.unsubscribeAll()
    await new Promise(resolve => setTimeout(resolve, 5))
    expect(listener).not.toHaveBeenCalled()
  })
})
