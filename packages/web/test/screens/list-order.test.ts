import type { RequestId } from '@holdpoint/protocol'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { heldBack, nextPending, orderRequests } from '../../src/screens/inbox/list-order.ts'

const id = (name: string | number) => `req_${name}` as RequestId // the order does not depend on the format of the ids
const ids = (...names: readonly (string | number)[]) => names.map(id)
/** Uses the number in the name as the opening time, and ignores a letter after the number. */
const openedAt = (name: RequestId) => Number.parseInt(name.slice(4), 10)
const visible = { isVisible: true, isEndHovered: false, expired: new Set<RequestId>(), openedAt }

describe('orderRequests', () => {
  it('follows the gateway’s order while the page is hidden', () => {
    expect(orderRequests(ids(2, 4), ids(1, 2, 3), { ...visible, isVisible: false })).toEqual(ids(1, 2, 3))
  })
  it('appends new requests at the end', () => {
    expect(orderRequests(ids(1, 2), ids(1, 2, 3), visible)).toEqual(ids(1, 2, 3))
  })
  it('leaves out a new request that belongs before a shown request', () => {
    const shown = orderRequests(ids(2, 4), ids(1, 2, 3, 4, 5), visible)
    expect(shown).toEqual(ids(2, 4, 5))
    expect(heldBack(shown, ids(1, 2, 3, 4, 5))).toEqual(ids(1, 3))
  })
  it('appends requests that were opened at the same time as a shown request', () => {
    expect(orderRequests(ids('2b'), ids('2a', '2b', '2c'), visible)).toEqual(ids('2b', '2a', '2c'))
  })
  it('keeps a resolved request in place until its receipt expires', () => {
    expect(orderRequests(ids(1, 2, 3), ids(1, 3), visible)).toEqual(ids(1, 2, 3))
    expect(orderRequests(ids(1, 2, 3), ids(1, 3), { ...visible, expired: new Set(ids(2)) })).toEqual(ids(1, 3))
  })
  it('appends nothing while the pointer is over the section below the list', () => {
    expect(orderRequests(ids(1), ids(1, 2), { ...visible, isEndHovered: true })).toEqual(ids(1))
    expect(orderRequests([], ids(1, 2), { ...visible, isEndHovered: true })).toEqual(ids(1, 2))
  })
  it('returns the same array if nothing changed', () => {
    const shown = ids(1, 2)
    expect(orderRequests(shown, ids(1, 2), visible)).toBe(shown)
  })
  it('never moves a shown request, for any shown and pending requests (property)', () => {
    const names = fc.uniqueArray(fc.integer({ min: 0, max: 30 }), { maxLength: 20 })
    fc.assert(
      fc.property(names, names, (before, pending) => {
        const shown = orderRequests(before.map(id), [...pending].sort((a, b) => a - b).map(id), visible)
        expect(shown.slice(0, before.length)).toEqual(before.map(id))
      }),
    )
  })
})

describe('nextPending', () => {
  const isPending = (name: RequestId) => name !== id('resolved')
  it('starts at the first or the last request if there is no current request', () => {
    expect(nextPending(ids(1, 2), null, 1, isPending)).toBe(id(1))
    expect(nextPending(ids(1, 2), null, -1, isPending)).toBe(id(2))
  })
  it('skips resolved requests', () => {
    expect(nextPending([id(1), id('resolved'), id(3)], id(1), 1, isPending)).toBe(id(3))
  })
  it('returns the current request at the end of the list, or null if the current request is resolved', () => {
    expect(nextPending(ids(1, 2), id(2), 1, isPending)).toBe(id(2))
    expect(nextPending([id(1), id('resolved')], id('resolved'), 1, isPending)).toBeNull()
  })
})
