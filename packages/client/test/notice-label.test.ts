/** Tests the sentences for notices of the audit log. */
import type { Event, Rule } from '@holdpoint/protocol'
import { expect, it } from 'vitest'
import { noticeLabel } from '../src/index.ts'

const label = (body: object) => noticeLabel({ cursor: 'e1-1', at: 1, session: null, ...body } as Event) // each test passes the body of one event type

it.each([
  [7_200_000, 'The clock was set forward by 2 hours'],
  [-60_000, 'The clock was set back by 1 minute'],
  [-12 * 365 * 24 * 3600_000, 'The clock was set back by 4380 days'],
])('the notice about a clock jump of %i ms uses the largest unit', (ms, text) => {
  expect(label({ type: 'clock.jumped', ms })).toBe(text)
})

it('the removal of a rule says what the rule was, if the caller knows the rule', () => {
  const event = { cursor: 'e1-1', at: 1, session: null, type: 'rule.removed', rule: 'rul_1' } as Event // only these fields are read
  const rule = { effect: 'deny', command: 'git push', scope: { cwd: '/srv' } } as Rule // only these fields are read
  expect(noticeLabel(event)).toBe('Rule rul_1 was removed')
  expect(noticeLabel(event, rule)).toBe('A rule was removed: deny git push in /srv')
})

it('the notice about a deleted session says who deleted the session and how many decisions are kept', () => {
  expect(label({ type: 'session.deleted', by: 'person', person: 'ada', decisions: [{}] })).toBe(
    'A session was deleted by ada; 1 decision is kept in the log',
  )
  expect(label({ type: 'session.deleted', by: 'retention' })).toBe(
    'A session was deleted because its retention time was over',
  )
})

it('the notice about a restored or damaged store says what was lost, revoked and left unknown', () => {
  expect(label({ type: 'store.restored', seq: 5, lostEvents: 3, tokens: 2, unknown: 1 })).toBe(
    'A backup was restored. 3 later events were undone. 2 credentials were revoked, and the delivery of 1 answer became unknown.',
  )
  expect(label({ type: 'store.lost', lastSeq: 9, lastAt: 1, seq: 7, tokens: 0, unknown: 0 })).toBe(
    'Events after position 7 were lost; the last known position was 9. 0 credentials were revoked, and the delivery of 0 answers became unknown.',
  )
})

it('the notice about a rule says who added the rule, and the notice about an unusable rules file says why', () => {
  const value = { effect: 'deny', command: 'git push', scope: { cwd: '/srv' }, madeBy: 'ada' }
  expect(label({ type: 'rule.added', value })).toBe('“ada” added a rule: deny git push in /srv')
  const source = { file: '/srv/holdpoint.rules.json', trusted: false, project: true, runner: 'run_1' }
  expect(label({ type: 'rule.added', value: { ...value, source } })).toBe(
    '/srv/holdpoint.rules.json added a rule: deny git push in /srv',
  )
  const broken = { ...value, source: { ...source, problem: 'line 3, column 1: this is not valid JSON. Correct it.' } }
  for (const type of ['rule.added', 'rule.changed'])
    expect(label({ type, value: broken })).toBe(
      '/srv/holdpoint.rules.json cannot be used, so a person decides about every call there. line 3, column 1: this is not valid JSON. Correct it.',
    )
})

it('the notice about a credential that an agent sent has its id, the session and the advice to replace it', () => {
  const exposed = { type: 'token.exposed', operation: 'appendEvents', by: 'local runner' }
  expect(label({ ...exposed, token: 'tok_1', name: 'owner', in: 'ses_1' })).toBe(
    'local runner sent the credential of “owner” (tok_1) in session ses_1. Replace it by deleting its file in the data folder and restarting the gateway',
  )
  expect(label({ ...exposed, in: null })).toBe(
    'local runner sent text that looks like a credential of Holdpoint. Replace it by deleting its file in the data folder and restarting the gateway',
  )
})

it.each([
  [
    { what: 'answerRequest', code: 'forbidden', by: 'ci', role: 'agent', request: 'req_1' },
    '“ci” (agent) tried to answer req_1, but its credential does not allow that',
  ],
  [
    { what: 'backup', code: 'forbidden', by: 'bob', role: 'person', omitted: 3 },
    '“bob” (person) tried to call backup, but its credential does not allow that; 3 more attempts in the same minute',
  ],
  [
    { what: 'authenticate', code: 'unauthenticated', by: 'ci', role: 'agent' },
    'A revoked credential of “ci” (agent) was used',
  ],
  [
    { what: 'signIn', code: 'too_many', by: '10.0.0.1', omitted: 1 },
    'Too many wrong tokens or sign-in links were sent from 10.0.0.1; 1 more attempt in the same minute',
  ],
])('L7: the refused attempt %j is described in plain words', (attempt, text) => {
  expect(label({ type: 'attempt.refused', ...attempt })).toBe(text)
})

it('names that people or agents chose are escaped in notices', () => {
  expect(label({ type: 'token.added', role: 'agent', name: 'ci\u202e\n' })).not.toMatch(/[\u202e\n]/)
})

it('an event that the audit log does not list has no notice', () => {
  expect(label({ type: 'turn.finished', ending: 'done' })).toBeNull()
})
