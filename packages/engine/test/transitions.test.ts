/** Pins the transition tables as literals: any changed entry fails here. */
import { DeliveryState, SessionState } from '@holdpoint/protocol'
import { describe, expect, it } from 'vitest'
import { requestTransitions, sessionTransitions } from '../src/index.ts'

const requestTriggers =
  'answer rule deadline withdraw interrupt end finish agentLost hand take markUnknown markUndeliverable storeLost'.split(
    ' ',
  )
const requests: Record<string, string> = {
  pending: 'waiting waiting waiting taken taken taken taken taken refuse refuse stay refuse stay',
  waiting:
    'alreadyResolved stay stay undeliverable undeliverable undeliverable undeliverable undeliverable handed refuse stay undeliverable unknown',
  handed: 'alreadyResolved stay stay stay stay unknown taken unknown stay taken unknown undeliverable unknown',
  taken: 'alreadyResolved stay stay stay stay stay stay stay refuse stay stay refuse stay',
  unknown: 'alreadyResolved stay stay stay stay stay stay stay handAgain taken stay refuse stay',
  undeliverable: 'alreadyResolved stay stay stay stay stay stay stay refuse refuse stay stay stay',
}
const sessionTriggers =
  'attach startTurn finishTurn park finish runnerLost tooManyIdleAttaches message interrupt stop delete'.split(' ')
const sessions: Record<string, string> = {
  starting: 'resume working idle parked ended stay ended stay stay ended refuse',
  working: 'stay stay idle parked ended parkOrEnd ended stay stay ended refuse',
  idle: 'stay working stay parked ended parkOrEnd ended stay stay ended refuse',
  parked: 'resume working idle stay ended stay ended stay stay ended refuse',
  disconnected: 'resume working idle stay ended stay ended stay stay ended refuse',
  ended: 'refuse refuse refuse stay stay stay stay reopen refuse stay delete',
}
const rowsOf = (pin: Record<string, string>, triggers: readonly string[]) =>
  Object.fromEntries(
    Object.entries(pin).map(([state, transitions]) => [
      state,
      Object.fromEntries(transitions.split(' ').map((transition, i) => [triggers[i], transition])),
    ]),
  )

describe('the request transition table', () => {
  it('the request transition table equals the pinned table', () =>
    expect(requestTransitions).toEqual(rowsOf(requests, requestTriggers)))
  it('the request transition table has an entry for every state and trigger', () => {
    expect(Object.keys(requestTransitions).sort()).toEqual(['pending', ...DeliveryState.options].sort())
    for (const row of Object.values(requestTransitions))
      expect(Object.keys(row).sort()).toEqual([...requestTriggers].sort())
  })
  it('the request transition table lets a request leave the state pending once and never return to it (G1)', () => {
    for (const [state, row] of Object.entries(requestTransitions))
      for (const transition of Object.values(row)) {
        expect(transition).not.toBe('pending')
        if (state !== 'pending') expect(transition).not.toBe('waiting')
      }
  })
  it('the request transition table refuses to hand a pending, taken or undeliverable request', () => {
    for (const state of ['pending', 'taken', 'undeliverable'] as const)
      expect(requestTransitions[state].hand).toBe('refuse')
  })
})

describe('the session transition table', () => {
  it('the session transition table equals the pinned table', () =>
    expect(sessionTransitions).toEqual(rowsOf(sessions, sessionTriggers)))
  it('the session transition table has an entry for every state and trigger', () => {
    expect(Object.keys(sessionTransitions).sort()).toEqual([...SessionState.options].sort())
    for (const row of Object.values(sessionTransitions))
      expect(Object.keys(row).sort()).toEqual([...sessionTriggers].sort())
  })
})
