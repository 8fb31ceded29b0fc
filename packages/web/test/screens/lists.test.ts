import type { AnswerDraft } from '@holdpoint/client'
import type { AuditEntry, Call, Request, RequestId, Session } from '@holdpoint/protocol'
import { describe, expect, it } from 'vitest'
import { auditQuery, byDay, noFilter } from '../../src/screens/audit/audit-filter.ts'
import { withDelivery } from '../../src/screens/audit/use-audit-log.ts'
import { allowEach, answerAll } from '../../src/screens/inbox/batch-answers.ts'
import {
  byProject,
  matches,
  newSince,
  sessionQuery,
  waitingFirst,
} from '../../src/screens/session-list/session-filter.ts'

const session = (n: number, more: Partial<Session> = {}): Session =>
  ({
    id: `ses_${n}`,
    title: `Title ${n}`,
    cwd: '/src',
    driver: 'claude',
    state: 'idle',
    pending: 0,
    startedAt: n,
    ...more,
  }) as Session // the tests use no other fields

describe('the session list filter', () => {
  it('`sessionQuery` builds the gateway query, and returns null for waiting sessions', () => {
    expect(sessionQuery({ state: 'all', q: ' ' })).toEqual({})
    expect(sessionQuery({ state: 'parked', q: ' api ' })).toEqual({ state: 'parked', q: 'api' })
    expect(sessionQuery({ state: 'waiting', q: '' })).toBeNull()
  })
  it('`matches` compares the state and the text of a session', () => {
    expect(matches(session(1), { state: 'idle', q: 'TITLE' })).toBe(true)
    expect(matches(session(1), { state: 'ended', q: '' })).toBe(false)
    expect(matches(session(1, { pending: 1 }), { state: 'waiting', q: '/src' })).toBe(true)
  })
  it('`waitingFirst` keeps the order within each group', () => {
    const all = [
      session(5),
      session(4, { pending: 2 }),
      session(3, { pending: 1, state: 'ended' }),
      session(2, { pending: 1 }),
    ]
    expect(waitingFirst(all)).toEqual(['ses_4', 'ses_2', 'ses_5', 'ses_3'])
  })
  it('`newSince` returns the sessions that started after the list was loaded', () => {
    const listed = [session(5), session(4)]
    const all = [...listed, session(3), session(6), session(7, { title: 'other' })]
    expect(newSince(listed, all, { state: 'all', q: 'title' }).map(each => each.id)).toEqual(['ses_6'])
  })
})

describe('`byProject`', () => {
  it('`byProject` adds up how long the sessions of a project have waited for people, including the current waiting time', () => {
    const list = [
      session(2, { cwd: '/a', waitedMs: 3000, waitingSince: 10_000 }),
      session(1, { cwd: '/a', waitedMs: 500 }),
      session(3, { cwd: '/b' }),
    ]
    expect(byProject(list, 12_000).map(({ folder, waitedMs }) => [folder, waitedMs])).toEqual([
      ['/a', 5500],
      ['/b', 0],
    ])
  })
  it('`byProject` groups sessions by folder in the order of the list, and adds up the costs that are known', () => {
    const list = [
      session(4, { cwd: '/b', cost: 0.5 }),
      session(3, { cwd: '/a', cost: null }),
      session(2, { cwd: '/b', cost: 0.25 }),
      session(1, { cwd: '/b', cost: null }),
    ]
    expect(
      byProject(list, 0).map(({ folder, sessions, cost }) => [folder, sessions.map(({ id }) => id), cost]),
    ).toEqual([
      ['/b', ['ses_4', 'ses_2', 'ses_1'], 0.75],
      ['/a', ['ses_3'], null],
    ])
  })
})

describe('the audit log', () => {
  const line = (at: number) => ({ kind: 'decision', at, request: `req_${at}`, value: {} }) as unknown as AuditEntry // the tests use no other fields
  it('`auditQuery` includes only the chosen filters', () => {
    expect(auditQuery(noFilter)).toEqual({ include: 'notices' })
    expect(auditQuery({ ...noFilter, by: 'rule', q: ' npm ' })).toEqual({ include: 'notices', by: 'rule', q: 'npm' })
    expect(auditQuery({ ...noFilter, person: 'per_1', folder: ' /srv ' })).toEqual({
      ...{ include: 'notices', person: 'per_1', folder: '/srv' },
    })
  })
  it('`auditQuery` covers the chosen days from the start of the first to the end of the last in the reader’s time zone', () => {
    const { from, to } = auditQuery({ ...noFilter, from: '2026-03-28', to: '2026-03-29' })
    expect([from, to]).toEqual([new Date(2026, 2, 28).getTime(), new Date(2026, 2, 30).getTime()])
    expect(auditQuery({ ...noFilter, from: '2026-03', to: 'soon' })).toEqual({ include: 'notices' })
  })
  it('`byDay` groups entries by day in the reader’s time zone, newest first', () => {
    const noon = new Date(2026, 2, 10, 12).getTime()
    const hours = (count: number) => line(noon - count * 3600_000)
    const days = byDay([hours(1), hours(11), hours(13), hours(60)], noon, 'en-GB')
    expect(days.map(day => [day.name, day.entries.length])).toEqual([
      ['Today', 2],
      ['Yesterday', 1],
      [expect.stringMatching(/Sunday,? 8 March 2026/), 1],
    ])
  })
  it('`withDelivery` updates the delivery state of an entry', () => {
    const lines = [line(1), line(2)]
    const delivery = { state: 'taken', at: 9 } as const
    expect(withDelivery(lines, { request: 'req_2' as RequestId, delivery })[1]).toMatchObject({
      delivery,
      value: { delivery },
    })
    expect(withDelivery(lines, { request: 'req_3' as RequestId, delivery })).toBe(lines)
  })
})

describe('batch answers', () => {
  const requests = Array.from({ length: 150 }, (_, n) => ({ id: `req_${n}`, digest: `d${n}` }) as Request) // the tests use no other fields
  const answers = requests.map(request => ({ request, answer: { kind: 'allow' } as const }))
  it('`answerAll` sends the answers in batches with their digests, and reports each failure with its reason', async () => {
    const sizes: number[] = []
    const call = (async (_op: string, { items }: { items: readonly { id: string; digest: string }[] }) => {
      sizes.push(items.length)
      expect(items[0]?.digest).toBe(`d${items[0]?.id.slice(4)}`)
      return {
        items: items.map(({ id }) =>
          id === 'req_7'
            ? { id, status: 409, error: { code: 'already_resolved', message: 'ben was faster' } }
            : { id, status: 200 },
        ),
      }
    }) as unknown as Call // `answerAll` calls only this operation
    const outcome = await answerAll(call, answers, String)
    expect(sizes).toEqual([100, 50])
    expect(outcome).toEqual({ answered: 149, failed: [{ id: 'req_7', reason: 'ben was faster' }] })
  })
  it('if a batch cannot be sent, `answerAll` reports each of its answers as failed and still sends the next batch', async () => {
    let calls = 0
    const call = (async (_op: string, { items }: { items: readonly { id: string }[] }) => {
      if (calls++ === 0) throw new Error('away')
      return { items: items.map(({ id }) => ({ id, status: 200 })) }
    }) as unknown as Call // `answerAll` calls only this operation
    const outcome = await answerAll(call, answers, error => (error as Error).message)
    expect([outcome.answered, outcome.failed.length, outcome.failed[0]?.reason]).toEqual([50, 100, 'away'])
  })
  it('`allowEach` returns the answer that each card would send, and says why requests were skipped', () => {
    const ask = { kind: 'approval', tool: 'Bash', input: { command: 'ls' }, title: 'x', cwd: '/' }
    const approvals = requests.slice(0, 4).map(request => ({ ...request, ask }) as unknown as Request) // `allowEach` reads only the id and the ask
    const drafts: Record<string, AnswerDraft> = {
      req_0: { note: 'quick' },
      req_2: { edit: 'ls -l' },
      req_3: { reason: 'no' },
    }
    const { answers, started, skipped } = allowEach(approvals, id => drafts[id] ?? {})
    expect(answers.map(({ request, answer }) => [request.id, answer])).toEqual([
      ['req_0', { kind: 'allow', note: 'quick' }],
      ['req_1', { kind: 'allow' }],
    ])
    expect([...started]).toEqual(['req_2', 'req_3'])
    expect(skipped).toBe('2 requests were skipped because you’ve started another answer to them.')
  })
})
