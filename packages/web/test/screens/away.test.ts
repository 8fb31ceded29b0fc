import type { AuditDecision, Request, Rule, Session } from '@holdpoint/protocol'
import { describe, expect, it } from 'vitest'
import { type AwayFacts, summarizeAway } from '../../src/screens/inbox/away/away-summary.ts'

const ask = {
  kind: 'approval',
  tool: 'Bash',
  input: { command: 'npm test' },
  title: '',
  cwd: '/',
  editable: true,
} as const
const session = (n: number, more: Partial<Session>): Session =>
  ({
    id: `ses_${n}`,
    title: `s${n}`,
    driver: 'external',
    state: 'idle',
    pending: 0,
    lastMessage: '',
    ...more,
  }) as Session // the tests use no other fields
const decision = (n: number, resolution: Partial<AuditDecision['resolution']>): AuditDecision =>
  ({
    kind: 'decision',
    cursor: `c${n}`,
    at: 100 + n,
    session: 'ses_1',
    request: `req_${n}`,
    value: { ask },
    resolution: { at: 100 + n, by: 'person', answer: { kind: 'allow' }, ...resolution },
    title: 'api',
    driver: 'external',
  }) as unknown as AuditDecision // the tests use no other fields
const pending = (n: number, more: Partial<Request> = {}): Request =>
  ({ id: `req_${n}`, session: 'ses_1', status: 'pending', ask, openedAt: 150, deadlineAt: null, ...more }) as Request // the tests use no other fields

function summarize(facts: Partial<Omit<AwayFacts, 'sessions'>> & { readonly sessions?: readonly Session[] }) {
  const { sessions = [], ...more } = facts
  const groups = summarizeAway({
    away: { from: 100, to: 200 },
    decisions: [],
    rules: new Map(),
    requests: [],
    me: 'per_ada',
    ...more,
    sessions: new Map(sessions.map(each => [each.id, each])),
  })
  return groups.map(({ name, count, entries }) => [name, count, entries.map(({ note }) => note)])
}

describe('the summary of an absence', () => {
  it('the summary of an absence is empty if nothing happened', () => {
    expect(summarize({ sessions: [session(1, { lastTurn: { ending: 'done', at: 50 } })] })).toEqual([])
  })
  it('the summary of an absence lists sessions that failed, were lost or disconnected, or finished during the absence', () => {
    const sessions = [
      session(1, { lastTurn: { ending: 'failed', at: 150 } }),
      session(2, { state: 'disconnected', stateChangedAt: 160 }),
      session(3, { state: 'ended', ending: { reason: 'lost' }, endedAt: 170 }),
      session(4, { lastTurn: { ending: 'done', at: 110 } }),
      session(5, { state: 'ended', ending: { reason: 'done' }, endedAt: 120 }),
      session(6, { lastTurn: { ending: 'done', at: 99 } }),
      session(7, { lastTurn: { ending: 'done', at: 201 } }),
      session(8, { state: 'working', lastTurn: { ending: 'done', at: 150 } }),
      session(9, { state: 'ended', ending: { reason: 'stopped' }, endedAt: 150 }),
    ]
    expect(summarize({ sessions })).toEqual([
      ['failed', 3, ['ended: lost', 'disconnected', 'last turn failed']],
      ['finished', 2, ['finished', 'finished']],
    ])
  })
  it('the summary of an absence says who or which rule answered, with one entry for each rule', () => {
    const rule = { id: 'rul_1', effect: 'allow', command: 'npm test' } as unknown as Rule // the label uses only these properties
    const decisions = [
      decision(9, { by: 'rule', rule: 'rul_1' as Rule['id'] }),
      decision(8, { person: 'bob', personId: 'per_bob' as never }),
      decision(7, { by: 'rule', rule: 'rul_1' as Rule['id'] }),
      decision(6, { by: 'rule', rule: 'rul_2' as Rule['id'] }),
    ]
    expect(summarize({ decisions, rules: new Map([['rul_1', rule]]) })).toEqual([
      [
        'answered',
        4,
        ['2 × allowed by the rule “Allow npm test”', 'allowed by bob', 'allowed by a rule that was removed'],
      ],
    ])
  })
  it('the summary of an absence lists requests that expired, were withdrawn or are overdue separately from requests that are still pending', () => {
    const decisions = [decision(9, { by: 'deadline' }), decision(8, { by: 'agent', reason: 'withdrawn' })]
    const requests = [
      pending(1),
      pending(2, { openedAt: 50, overdue: true, deadlineAt: 105 }),
      pending(3, { openedAt: 50 }),
      pending(4, { status: 'resolved' }),
    ]
    expect(summarize({ decisions, requests })).toEqual([
      ['expired', 3, ['nobody answered in time', 'withdrawn by the agent', 'nobody answered in time, still waiting']],
      ['asked', 1, ['waiting for you']],
    ])
  })
  it('the summary of an absence shows at most five entries of each group, and counts the others', () => {
    const requests = Array.from({ length: 40 }, (_, n) => pending(n))
    expect(summarize({ requests })).toMatchObject([['asked', 40, { length: 5 }]])
  })
})
