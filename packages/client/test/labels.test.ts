import {
  deliveryLabel,
  driverLabel,
  resolutionText,
  resolutionTone,
  sessionName,
  stateLabel,
  suggestionScopeLabel,
  timeSince,
} from '@holdpoint/client'
import { type Answer, formatId, type Resolution, type Session } from '@holdpoint/protocol'
import { describe, expect, it } from 'vitest'

const me = formatId('per', new Uint8Array(20).fill(1))
const by = (answer: Answer, more: Partial<Resolution> = {}): Resolution => ({
  at: 1,
  by: 'person',
  person: 'ana',
  answer,
  ...more,
})

describe('the labels of a resolution', () => {
  it.each<[string, Resolution]>([
    ['allowed by ana', by({ kind: 'allow' })],
    ['allowed by you', by({ kind: 'allow' }, { person: 'ana', personId: me, via: 'page' })],
    // Another person with the same name.
    ['allowed by ana', by({ kind: 'allow' }, { person: 'ana', personId: formatId('per', new Uint8Array(20).fill(2)) })],
    ['allowed with changes by ana: careful', by({ kind: 'allow', note: 'careful' }, { editedDigest: 'd' })],
    ['allowed by ana, continuing in mode acceptEdits', by({ kind: 'allow', mode: 'acceptEdits' })],
    ['denied by ana via cli: too risky', by({ kind: 'deny', reason: 'too risky' }, { via: 'cli' })],
    ['declined by ana', by({ kind: 'decline' })],
    ['asked back by ana: why?', by({ kind: 'deny', reason: 'why?', askBack: true })],
    ['asked back by ana: which?', by({ kind: 'decline', reason: 'which?', askBack: true })],
    ['denied by ana, with 1 comment', by({ kind: 'deny', comments: [{ quote: 'ls', text: 'no' }] })],
    [
      'allowed by ana, with 2 comments: fine',
      by({
        kind: 'allow',
        note: 'fine',
        comments: [
          { quote: 'a', text: 'b' },
          { quote: 'c', text: 'd' },
        ],
      }),
    ],
    ['submitted by ana', by({ kind: 'submit', values: { secret: 's' } })],
    [
      'answered by ana: a, b, mine; c',
      by({
        kind: 'answers',
        answers: [
          { id: '1', chosen: ['a', 'b'], other: 'mine' },
          { id: '2', chosen: ['c'] },
        ],
      }),
    ],
    ['allowed by someone', { at: 1, by: 'person', answer: { kind: 'allow' } }],
    ['denied by a rule', { at: 1, by: 'rule', answer: { kind: 'deny' } }],
    ['nobody answered in time', { at: 1, by: 'deadline' }],
    ['withdrawn by the agent', { at: 1, by: 'agent', reason: 'withdrawn' }],
    ['ended by the agent', { at: 1, by: 'agent', reason: 'something newer' }],
    ['denied by ana: one ↵ two', by({ kind: 'deny', reason: 'one\n  two\n' })],
    ['denied by ana: a\\u{202e}b', by({ kind: 'deny', reason: 'a\u202eb' })],
  ])('resolutionText can return “%s”', (label, resolution) => {
    expect(resolutionText(resolution, me)).toBe(label)
  })
  it('resolutionTone distinguishes positive, negative and neutral resolutions, and questions', () => {
    expect(resolutionTone(by({ kind: 'deny', reason: 'why?', askBack: true }))).toBe('asked')
    expect(resolutionTone(by({ kind: 'allow' }))).toBe('yes')
    expect(resolutionTone(by({ kind: 'answers', answers: [] }))).toBe('yes')
    expect(resolutionTone(by({ kind: 'deny' }))).toBe('no')
    expect(resolutionTone(by({ kind: 'decline' }))).toBe('no')
    expect(resolutionTone({ at: 1, by: 'deadline' })).toBe('none')
    expect(resolutionTone({ at: 1, by: 'agent', reason: 'lost' })).toBe('none')
  })
  it('deliveryLabel returns the state and the escaped reason of the delivery', () => {
    expect(deliveryLabel({ state: 'taken', at: 1 })).toBe('delivered')
    expect(deliveryLabel({ state: 'undeliverable', at: 1, reason: 'session\u200bended' })).toBe(
      'could not be delivered (session\\u{200b}ended)',
    )
    expect(deliveryLabel({ state: 'undeliverable', at: 1, reason: 'one\ntwo' })).toBe(
      'could not be delivered (one ↵ two)',
    )
  })
})

describe('the labels of a session', () => {
  const labelOf = (state: Session['state'], pending = 0, reason?: 'done' | 'failed') =>
    stateLabel({ state, pending, ending: reason ? { reason } : null } as Session) // the label uses only these properties

  it('stateLabel shows the state, whether requests are pending, and a failure', () => {
    expect(labelOf('working')).toBe('working')
    expect(labelOf('working', 1)).toBe('waiting for you')
    expect(labelOf('parked', 1)).toBe('parked, waiting for you')
    expect(labelOf('ended', 0, 'done')).toBe('ended')
    expect(labelOf('ended', 0, 'failed')).toBe('ended: failed')
    expect(labelOf('ended', 2)).toBe('ended')
  })
  it('stateLabel shows that an agent has failed, was lost or is disconnected, and does not call the agent idle', () => {
    const label = (more: Partial<Session>) => stateLabel({ pending: 0, ending: null, ...more } as Session) // the label uses only these properties
    const lost = { state: 'lost', changedAt: 1 } as const
    expect(label({ state: 'idle', lastTurn: { ending: 'failed' } })).toBe('last turn failed')
    expect(label({ state: 'parked', lastTurn: { ending: 'failed' } })).toBe('parked, last turn failed')
    expect(label({ state: 'idle', process: lost })).toBe('agent lost')
    expect(label({ state: 'parked', process: lost, pending: 1 })).toBe('agent lost, waiting for you')
    expect(label({ state: 'disconnected', pending: 1 })).toBe('disconnected, waiting for you')
    expect(label({ state: 'working', lastTurn: { ending: 'failed' } })).toBe('working')
  })
  it('timeSince returns the elapsed time in its largest unit', () => {
    const [minute, hour] = [60_000, 3_600_000]
    expect([0, minute - 1, minute, 59 * minute, hour, 23 * hour, 24 * hour].map(ms => timeSince(0, ms))).toEqual([
      'now',
      'now',
      '1 min',
      '59 min',
      '1 h',
      '23 h',
      '1 d',
    ])
    expect(timeSince(10, 0)).toBe('now')
  })
})

describe('the driver label', () => {
  it('the driver label is a fixed name for a built-in driver, and the title or else the name of any other driver', () => {
    expect(driverLabel('external', 'Some title')).toBe('External agent')
    expect(driverLabel('codex', 'Codex')).toBe('Codex')
    expect(driverLabel('toString')).toBe('toString')
  })
  it('the driver label is also the name of a session without a title', () => {
    expect(sessionName({ title: '', driver: 'claude' })).toBe('Claude Code')
    expect(sessionName({ title: 'api', driver: 'claude' })).toBe('api')
  })
})

it('the label of a suggestion’s scope says in plain words where the suggestion applies, and is null for an unknown scope', () => {
  const scopes = ['session', 'localSettings', 'projectSettings', 'userSettings', 'toString']
  expect(scopes.map(suggestionScopeLabel)).toEqual([
    'this session',
    'this project, only you',
    'this project, everyone',
    'all your projects',
    null,
  ])
})
