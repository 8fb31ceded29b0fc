import type { Request, RequestId, Session, SessionId } from '@holdpoint/protocol'
import { describe, expect, it } from 'vitest'
import { composeNotification, summaryTag } from '../src/notifications/compose-notification.ts'
import { NewRequests } from '../src/notifications/new-requests.ts'
import { badgeText, pageTitle } from '../src/notifications/title-badge.ts'

const id = (n: number) => `req_${String(n).padStart(20, '0')}` as RequestId // The string has the form of a request id.
const session = (n: number) => ({ id: `ses_${String(n).padStart(20, '0')}` as SessionId, title: `s${n}` }) as Session // A notification reads only these fields.

describe('the pending count in the title and on the tab icon', () => {
  it('the pending count is in the title while the page is connected', () => {
    expect(pageTitle(0, true)).toBe('Holdpoint')
    expect(pageTitle(3, true)).toBe('(3) Holdpoint')
    expect(pageTitle(3, false)).toBe('… Holdpoint')
  })
  it('the pending count on the tab icon is limited to two digits', () => {
    expect([1, 99, 1000].map(badgeText)).toEqual(['1', '99', '99'])
  })
})

describe('notifications about new requests', () => {
  const snapshot = (...order: readonly RequestId[]) => ({ order, complete: true, status: 'live' as const })
  it('notifications are shown only for requests that arrived after the page was opened', () => {
    const newRequests = new NewRequests()
    expect(newRequests.update(snapshot(id(1)))).toEqual([])
    expect(newRequests.update(snapshot(id(1), id(2)))).toEqual([id(2)])
    expect(newRequests.update(snapshot(id(2)))).toEqual([])
  })
  it('notifications are delayed until all requests are loaded and the page is connected', () => {
    const newRequests = new NewRequests()
    expect(newRequests.update({ ...snapshot(id(1)), complete: false })).toEqual([])
    expect(newRequests.update(snapshot(id(1), id(2)))).toEqual([])
    expect(newRequests.update({ ...snapshot(id(3)), status: 'reconnecting' })).toEqual([])
    expect(newRequests.update(snapshot(id(1), id(2), id(3)))).toEqual([id(3)])
  })
  it('notifications about new requests describe a single request, give the number of several requests, and escape invisible characters', () => {
    const sessions = new Map([1, 2].map(n => [session(n).id, session(n)]))
    const request = (n: number, command: string) =>
      ({
        id: id(n),
        session: session(n).id,
        ask: { kind: 'approval', tool: 'Bash', input: { command } },
      }) as unknown as Request // A notification reads only these fields.
    expect(composeNotification([], { sessions })).toBeNull()
    expect(composeNotification([request(1, 'ls\u202e')], { sessions })).toEqual({
      tag: id(1),
      title: 'Run a command · s1',
      body: 'ls\\u{202e}',
      request: id(1),
    })
    expect(composeNotification([request(1, 'one\ntwo')], { sessions })?.body).toBe('one ↵ two')
    expect(composeNotification([request(1, 'a'), request(2, 'b')], { sessions })).toMatchObject({
      tag: summaryTag,
      title: '2 requests waiting',
      body: 's1, s2',
      request: null,
    })
  })
})
