import type { RequestId } from '@holdpoint/protocol'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { heldBack, orderRequests, step } from '../src/screens/inbox/list-order.ts'

const id = (name: string | number) => `req_${name}` as RequestId // its spelling does not matter to an order
const ids = (...names: readonly (string | number)[]) => names.map(id)
/** Opened at the time that its name says, up to a letter behind it. */
const openedAt = (name: RequestId) => Number.parseInt(name.slice(4), 10)
const calm = { looking: true, endHeld: false, left: new Set<RequestId>(), openedAt }

describe('the order of the inbox', () => {
  it('is the gateway’s while nobody looks', () => {
    expect(orderRequests(ids(2, 4), ids(1, 2, 3), { ...calm, looking: false })).toEqual(ids(1, 2, 3))
  })
  it('takes in at its end what came last', () => {
    expect(orderRequests(ids(1, 2), ids(1, 2, 3), calm)).toEqual(ids(1, 2, 3))
  })
  it('holds back what would stand before something that is shown', () => {
    const shown = orderRequests(ids(2, 4), ids(1, 2, 3, 4, 5), calm)
    expect(shown).toEqual(ids(2, 4, 5))
    expect(heldBack(shown, ids(1, 2, 3, 4, 5))).toEqual(ids(1, 3))
  })
  it('takes in those of the same moment, whichever of them it heard of first', () => {
    expect(orderRequests(ids('2b'), ids('2a', '2b', '2c'), calm)).toEqual(ids('2b', '2a', '2c'))
  })
  it('keeps a resolved one in its place until its time is over', () => {
    expect(orderRequests(ids(1, 2, 3), ids(1, 3), calm)).toEqual(ids(1, 2, 3))
    expect(orderRequests(ids(1, 2, 3), ids(1, 3), { ...calm, left: new Set(ids(2)) })).toEqual(ids(1, 3))
  })
  it('adds nothing at its end while the pointer is on what stands there', () => {
    expect(orderRequests(ids(1), ids(1, 2), { ...calm, endHeld: true })).toEqual(ids(1))
    expect(orderRequests([], ids(1, 2), { ...calm, endHeld: true })).toEqual(ids(1, 2))
  })
  it('is the same list where nothing has changed, so that nothing is drawn again', () => {
    const shown = ids(1, 2)
    expect(orderRequests(shown, ids(1, 2), calm)).toBe(shown)
  })
  it('never moves what is shown, whatever comes and goes', () => {
    const names = fc.uniqueArray(fc.integer({ min: 0, max: 30 }), { maxLength: 20 })
    fc.assert(
      fc.property(names, names, (before, pending) => {
        const shown = orderRequests(before.map(id), [...pending].sort((a, b) => a - b).map(id), calm)
        expect(shown.slice(0, before.length)).toEqual(before.map(id))
      }),
    )
  })
})

describe('moving by keys', () => {
  const waits = (name: RequestId) => name !== id('gone')
  it('begins at either end', () => {
    expect(step(ids(1, 2), null, 1, waits)).toBe(id(1))
    expect(step(ids(1, 2), null, -1, waits)).toBe(id(2))
  })
  it('passes over what is resolved', () => {
    expect(step([id(1), id('gone'), id(3)], id(1), 1, waits)).toBe(id(3))
  })
  it('stays where there is nothing further, unless it is gone itself', () => {
    expect(step(ids(1, 2), id(2), 1, waits)).toBe(id(2))
    expect(step([id(1), id('gone')], id('gone'), 1, waits)).toBeNull()
  })
})
