/** The tables of life, as literals: total, and equal to what was meant. A changed cell goes red here. */
import { DeliveryState, SessionState } from '@holdpoint/protocol'
import { describe, expect, it } from 'vitest'
import { requestTransitions, sessionTransitions } from '../src/index.ts'

const requestCommands = 'answer rule deadline withdraw interrupt end lose hand take doubt drop'.split(' ')
const requests: Record<string, string> = {
  pending: 'waiting waiting waiting taken taken taken taken refuse refuse stay refuse',
  waiting: 'winner stay stay undeliverable undeliverable undeliverable undeliverable handed refuse stay undeliverable',
  handed: 'winner stay stay stay stay unknown unknown stay taken unknown undeliverable',
  taken: 'winner stay stay stay stay stay stay refuse stay stay refuse',
  unknown: 'winner stay stay stay stay stay stay again taken stay refuse',
  undeliverable: 'winner stay stay stay stay stay stay refuse refuse stay stay',
}
const sessionCommands = 'attach begin settle park finish lose giveUp message interrupt stop delete'.split(' ')
const sessions: Record<string, string> = {
  starting: 'revive working idle parked ended stay ended stay stay ended refuse',
  working: 'stay stay idle parked ended parkOrEnd ended stay stay ended refuse',
  idle: 'stay working stay parked ended parkOrEnd ended stay stay ended refuse',
  parked: 'revive working idle stay ended stay ended stay stay ended refuse',
  ended: 'refuse refuse refuse stay stay stay stay reopen refuse stay erase',
}
const rowsOf = (pin: Record<string, string>, commands: readonly string[]) =>
  Object.fromEntries(
    Object.entries(pin).map(([state, cells]) => [
      state,
      Object.fromEntries(cells.split(' ').map((cell, i) => [commands[i], cell])),
    ]),
  )

describe('the life of a request', () => {
  it('is this table', () => expect(requestTransitions).toEqual(rowsOf(requests, requestCommands)))
  it('is total', () => {
    expect(Object.keys(requestTransitions).sort()).toEqual(['pending', ...DeliveryState.options].sort())
    for (const row of Object.values(requestTransitions))
      expect(Object.keys(row).sort()).toEqual([...requestCommands].sort())
  })
  it('has one way out of pending, and none back (G1)', () => {
    for (const [state, row] of Object.entries(requestTransitions))
      for (const cell of Object.values(row)) {
        expect(cell).not.toBe('pending')
        if (state !== 'pending') expect(cell).not.toBe('waiting')
      }
  })
  it('lets nobody hand what is pending, taken or undeliverable', () => {
    for (const state of ['pending', 'taken', 'undeliverable'] as const)
      expect(requestTransitions[state].hand).toBe('refuse')
  })
})

describe('the life of a session', () => {
  it('is this table', () => expect(sessionTransitions).toEqual(rowsOf(sessions, sessionCommands)))
  it('is total', () => {
    expect(Object.keys(sessionTransitions).sort()).toEqual([...SessionState.options].sort())
    for (const row of Object.values(sessionTransitions))
      expect(Object.keys(row).sort()).toEqual([...sessionCommands].sort())
  })
})
