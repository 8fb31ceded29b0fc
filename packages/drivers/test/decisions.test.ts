/** Tests the decisions that answers become for agents whose protocol has only yes and no. */
import type { Ask } from '@holdpoint/protocol'
import { expect, it } from 'vitest'
import type { CallAnswer } from '../src/index.ts'
import { decisionFor } from '../src/session/decisions.ts'

const ask: Ask = { kind: 'approval', tool: 'shell', input: {}, title: 'Run: ls', cwd: '/srv', editable: false }
const common = { key: 'key', ask, replayed: false }
const answered = (answer: Extract<CallAnswer, { kind: 'answer' }>['answer'], replayed = false): CallAnswer => ({
  ...common,
  ...{ kind: 'answer', by: 'person', answer, input: null, replayed },
})

it.each<[string, CallAnswer, string | null]>([
  ['an allow', answered({ kind: 'allow' }), null],
  [
    'an allow with a note',
    answered({ kind: 'allow', note: 'once' }),
    'The person who allowed “Run: ls” added a note: once',
  ],
])('%s lets the agent continue, and the agent can read the note', (_, answer, text) => {
  expect(decisionFor(answer)).toMatchObject({ answer: { kind: 'allow' }, stopsTurn: false, text })
})

it.each<[string, CallAnswer, RegExp | null]>([
  ['an allow that the agent has taken before', answered({ kind: 'allow' }, true), /outcome is unknown/],
  ['a deny without a reason', answered({ kind: 'deny' }), null],
  ['a deny with a reason', answered({ kind: 'deny', reason: 'no' }), /^“Run: ls” was denied: no$/],
  ['a decline with a reason', answered({ kind: 'decline', reason: 'later' }), /was denied: later$/],
  [
    'a question that the person asks back',
    answered({ kind: 'deny', reason: 'The person asks', askBack: true }),
    /^About “Run: ls”: The person asks$/,
  ],
  ['a request that nobody answered', { ...common, kind: 'nobody', reason: 'nobody answered' }, /Nobody answered\.$/],
  ['an allow that was lost', { ...common, kind: 'unknown', answer: { kind: 'allow' } }, /outcome is unknown/],
  ['a failure to ask', { ...common, kind: 'notAsked', problem: 'too large' }, /nobody could be asked: too large$/],
])('%s becomes a denial of the call, and the agent can read why', (_, answer, text) => {
  expect(decisionFor(answer)).toEqual({ answer: null, stopsTurn: false, text: text && expect.stringMatching(text) })
})

it('a deny that also interrupts stops the turn', () => {
  expect(decisionFor(answered({ kind: 'deny', interrupt: true }))).toMatchObject({ answer: null, stopsTurn: true })
})

it('a request of an interrupted turn has no decision', () => {
  expect(decisionFor({ ...common, kind: 'agent', reason: 'interrupted' })).toBeNull()
})
