import type { Session, SessionId } from '@holdpoint/protocol'
import { describe, expect, it } from 'vitest'
import { awayMinMs, parseVisit, visitAt } from '../src/storage/last-visit.ts'
import { newsAt, parseReadTimes, writeReadTimes } from '../src/storage/read-sessions.ts'

const sessionId = (n: number) => `ses_${String(n).padStart(20, '0')}` as SessionId // the string has the format of a session id

describe('the absence of a person', () => {
  it('the absence of a person starts when the page was last visible, if that is long enough ago', () => {
    expect(visitAt(null, 1000)).toEqual({ at: 1000, away: null })
    expect(visitAt({ at: 1000, away: null }, 999 + awayMinMs)).toMatchObject({ away: null })
    const back = 1000 + awayMinMs
    expect(visitAt({ at: 1000, away: null }, back)).toEqual({ at: back, away: { from: 1000, to: back } })
  })
  it('the absence of a person is stored until the person dismisses its summary, and continues with the next absence', () => {
    const away = { from: 1000, to: 1000 + awayMinMs }
    expect(visitAt({ at: away.to, away }, away.to + 1000).away).toEqual(away)
    const later = away.to + 2 * awayMinMs
    expect(visitAt({ at: away.to, away }, later).away).toEqual({ from: 1000, to: later })
  })
  it('the absence of a person covers at most a week', () => {
    const week = 7 * 24 * 3600_000
    expect(visitAt({ at: 1, away: null }, 3 * week).away).toEqual({ from: 2 * week, to: 3 * week })
  })
  it('the absence of a person is unknown if something else wrote the entry', () => {
    expect(['x', '[]', '{"at":"1"}', null].map(parseVisit)).toEqual([null, null, null, null])
    expect(parseVisit('{"at":1,"away":{"from":1}}')).toEqual({ at: 1, away: null })
  })
})

describe('what a person has read', () => {
  it('what a person has read is stored per session, and sessions whose entry was dropped still count as read', () => {
    let read = parseReadTimes('{"since":5,"sessions":{}}')
    for (let n = 1; n <= 201; n++) read = read && parseReadTimes(writeReadTimes(read, sessionId(n), 1000 + n))
    expect(read?.sessions.size).toBe(200)
    expect(read?.sessions.has(sessionId(1))).toBe(false)
    expect(read?.since).toBe(1001)
  })
  it('what a person has read is unknown if something else wrote the entry', () => {
    expect(['x', '3', '{"sessions":{}}', null].map(parseReadTimes)).toEqual([null, null, null, null])
    expect(parseReadTimes(`{"since":1,"sessions":{"a":2,"${sessionId(1)}":"3"}}`)?.sessions.size).toBe(0)
  })
  it('newsAt returns the time of the last message, the last finished turn or the end of a session, and ignores turns and ends that a person caused', () => {
    const at = (more: Partial<Session>) => newsAt({ ending: null, endedAt: null, ...more } as Session) // no other fields are used
    expect(at({})).toBe(0)
    expect(at({ lastMessageAt: 3, lastTurn: { ending: 'done', at: 7 } })).toBe(7)
    expect(at({ lastMessageAt: 3, lastTurn: { ending: 'interrupted', at: 7 } })).toBe(3)
    expect(at({ ending: { reason: 'lost' }, endedAt: 9 })).toBe(9)
    expect(at({ ending: { reason: 'stopped' }, endedAt: 9 })).toBe(0)
  })
})
