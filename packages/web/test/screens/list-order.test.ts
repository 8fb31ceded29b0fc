import type { RequestId } from '@holdpoint/protocol'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { heldBack, misplaced, nextPending, orderRequests } from '../../src/screens/inbox/list-order.ts'
import { inGroups } from '../../src/screens/inbox/request-groups.ts'

const id = (name: string | number) => `req_${name}` as RequestId // the order does not depend on the format of the ids
const ids = (...names: readonly (string | number)[]) => names.map(id)
const onScreen = (...names: readonly (string | number)[]) => {
  const shown = new Set(ids(...names))
  return { ...visible, isOnScreen: (name: RequestId) => shown.has(name) }
}
const visible = { isVisible: true, isEndHovered: false, expired: new Set<RequestId>(), isOnScreen: () => true }

describe('orderRequests', () => {
  it('orderRequests follows the order of the inbox while the page is hidden', () => {
    expect(orderRequests(ids(2, 4), ids(1, 2, 3), { ...visible, isVisible: false })).toEqual(ids(1, 2, 3))
  })
  it('orderRequests appends new requests at the end if every card is on screen, the most urgent of them first', () => {
    expect(orderRequests(ids(2, 4), ids(1, 2, 3, 4, 5), visible)).toEqual(ids(2, 4, 1, 3, 5))
  })
  it('orderRequests puts a new request directly below the cards on screen if the new request is more urgent than those cards', () => {
    expect(orderRequests(ids(2, 4, 6), ids(1, 2, 4, 6), onScreen(2))).toEqual(ids(2, 1, 4, 6))
  })
  it('orderRequests sorts a new request into the cards below the screen', () => {
    expect(orderRequests(ids(2, 4, 6), ids(2, 4, 5, 6), onScreen(2))).toEqual(ids(2, 4, 5, 6))
  })
  it('orderRequests keeps a resolved request in place until its receipt expires', () => {
    expect(orderRequests(ids(1, 2, 3), ids(1, 3), visible)).toEqual(ids(1, 2, 3))
    expect(orderRequests(ids(1, 2, 3), ids(1, 3), { ...visible, expired: new Set(ids(2)) })).toEqual(ids(1, 3))
  })
  it('orderRequests appends nothing while the pointer is over the section below the list', () => {
    expect(orderRequests(ids(1), ids(1, 2), { ...visible, isEndHovered: true })).toEqual(ids(1))
    expect(orderRequests([], ids(1, 2), { ...visible, isEndHovered: true })).toEqual(ids(1, 2))
  })
  it('orderRequests delays new requests only while the pointer is over the section below the list', () => {
    const shown = orderRequests(ids(2), ids(1, 2, 3), { ...visible, isEndHovered: true })
    expect(heldBack(shown, ids(1, 2, 3))).toEqual(ids(1, 3))
  })
  it('orderRequests returns the same array if nothing changed', () => {
    const shown = ids(1, 2)
    expect(orderRequests(shown, ids(1, 2), visible)).toBe(shown)
  })
  it('orderRequests never moves a card on screen, and shows every pending request once, for any requests (property)', () => {
    const names = fc.uniqueArray(fc.integer({ min: 0, max: 30 }), { maxLength: 20 })
    fc.assert(
      fc.property(names, names, fc.nat(20), (before, pending, last) => {
        const sorted = [...pending].sort((a, b) => a - b).map(id)
        const fixed = before.slice(0, last)
        const shown = orderRequests(before.map(id), sorted, onScreen(...fixed))
        expect(shown.slice(0, fixed.length)).toEqual(fixed.map(id))
        expect([...shown].sort()).toEqual([...new Set([...before.map(id), ...sorted])].sort())
      }),
    )
  })
})

describe('nextPending', () => {
  const isPending = (name: RequestId) => name !== id('resolved')
  it('nextPending starts at the first or the last request if there is no current request', () => {
    expect(nextPending(ids(1, 2), null, 1, isPending)).toBe(id(1))
    expect(nextPending(ids(1, 2), null, -1, isPending)).toBe(id(2))
  })
  it('nextPending skips resolved requests', () => {
    expect(nextPending([id(1), id('resolved'), id(3)], id(1), 1, isPending)).toBe(id(3))
  })
  it('nextPending returns the current request at the end of the list, or null if the current request is resolved', () => {
    expect(nextPending(ids(1, 2), id(2), 1, isPending)).toBe(id(2))
    expect(nextPending([id(1), id('resolved')], id('resolved'), 1, isPending)).toBeNull()
  })
})

describe('orderRequests with groups', () => {
  const groupOf = (name: RequestId) => name.slice(4, 5)
  const grouped = (...names: readonly string[]) => ({ ...onScreen(...names), groupOf })

  it('orderRequests with groups adds a new request to the end of its group if that is below the screen', () => {
    expect(orderRequests(ids('a1', 'a2', 'b1'), ids('a1', 'a2', 'a3', 'b1'), grouped('a1'))).toEqual(
      ids('a1', 'a2', 'a3', 'b1'),
    )
  })
  it('orderRequests with groups delays a new request if its group ends above the last row on screen', () => {
    const shown = orderRequests(ids('a1', 'b1', 'b2'), ids('a1', 'a2', 'b1', 'b2'), grouped('a1', 'b1'))
    expect(shown).toEqual(ids('a1', 'b1', 'b2'))
    expect(heldBack(shown, ids('a1', 'a2', 'b1', 'b2'))).toEqual(ids('a2'))
  })
  it('orderRequests with groups puts a new group below the groups on screen, before less urgent groups', () => {
    const pending = ids('c1', 'a1', 'a2', 'b1')
    expect(orderRequests(ids('a1', 'a2', 'b1'), pending, grouped('a1'))).toEqual(ids('a1', 'a2', 'c1', 'b1'))
  })
  it('orderRequests with groups never moves a row on screen and never splits a group, for any requests (property)', () => {
    const names = fc.uniqueArray(
      fc.tuple(fc.constantFrom('a', 'b', 'c'), fc.nat(9)).map(([group, n]) => `${group}${n}`),
      { maxLength: 20 },
    )
    fc.assert(
      fc.property(names, names, fc.nat(20), (before, pending, last) => {
        const list = inGroups(before.map(id), groupOf)
        const fixed = list.slice(0, last)
        const shown = orderRequests(list, inGroups(pending.map(id), groupOf), {
          ...visible,
          isOnScreen: name => fixed.includes(name),
          groupOf,
        })
        expect(shown.slice(0, fixed.length)).toEqual(fixed)
        expect(shown).toEqual(inGroups(shown, groupOf))
        expect(new Set(shown).size).toBe(shown.length)
      }),
    )
  })
})

describe('misplaced', () => {
  it('misplaced returns the requests that are listed below less urgent ones', () => {
    expect([...misplaced(ids(2, 3, 1, 4), ids(1, 2, 3, 4))]).toEqual(ids(1))
    expect([...misplaced(ids(1, 2), ids(1, 2))]).toEqual([])
  })
})
