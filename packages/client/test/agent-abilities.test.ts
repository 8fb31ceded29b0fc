import type { Capability } from '@holdpoint/protocol'
import { describe, expect, it } from 'vitest'
import { sessionSample } from '../../../test/support/session-sample.ts'
import { acceptsMessages, answerChoices, attachCommand, isInterruptible, rulesNotice } from '../src/agent-abilities.ts'

const all: readonly Capability[] = ['approvals', 'denyAndContinue', 'editInput', 'note', 'messages', 'interrupt']
const without = (missing: Capability) => all.filter(capability => capability !== missing)
const session = (capabilities: readonly Capability[], process: object | null = null) =>
  sessionSample({ id: 'ses_1', capabilities: [...capabilities], process: process as never }) // the tests name only the fields that count

describe('what page and terminal offer for a request', () => {
  it('every action on a request is offered for an agent with all capabilities', () => {
    const stop = { deny: true, decline: true }
    expect(answerChoices(all)).toEqual({ note: true, edit: true, stop, denialEndsTurn: false, askBack: true })
  })
  it('a note and an edit of a request are offered only for agents that can receive them', () => {
    expect(answerChoices(without('note'))).toMatchObject({ note: false, edit: true })
    expect(answerChoices(without('editInput'))).toMatchObject({ note: true, edit: false })
  })
  it('“Deny and stop” is not offered for an agent that stops after every denial', () => {
    const { stop, denialEndsTurn } = answerChoices(without('denyAndContinue'))
    expect({ stop, denialEndsTurn }).toEqual({ stop: { deny: false, decline: true }, denialEndsTurn: true })
  })
  it('“Deny and stop” is not offered for an agent that cannot be interrupted', () => {
    expect(answerChoices(without('interrupt')).stop).toEqual({ deny: false, decline: false })
  })
  it('every action on a request is offered for an agent whose driver does not report `approvals`', () => {
    for (const unknown of [undefined, [], ['messages'] as const])
      expect(answerChoices(unknown)).toEqual(answerChoices(all))
  })
})

describe('what page and terminal show about the agent of a session', () => {
  it('a session without `checksEveryTool` has a note that rules see only what the agent asks', () => {
    expect(rulesNotice(session(all))).toMatch(/^Rules see only what this agent asks/)
    expect(rulesNotice(session([...all, 'checksEveryTool']))).toBeNull()
    expect(rulesNotice(session([]))).toBeNull()
  })
  it('the command line for a shared terminal is shown only while the agent’s process runs', () => {
    const shared = [...all, 'sharedTerminal'] as const
    const live = { state: 'live', attach: 'codex resume 1', changedAt: 0 }
    expect(attachCommand(session(shared, live))).toBe('codex resume 1')
    expect(attachCommand(session(shared, { ...live, state: 'idle' }))).toBeNull()
    expect(attachCommand(session(shared))).toBeNull()
    expect(attachCommand(session(all, live))).toBeNull()
  })
  it('messages and interrupts are offered for agents that accept them, and while no runner is known yet', () => {
    expect([acceptsMessages(session(all)), isInterruptible(session(all))]).toEqual([true, true])
    expect(acceptsMessages(session(without('messages')))).toBe(false)
    expect(isInterruptible(session(without('interrupt')))).toBe(false)
    expect([acceptsMessages(session([])), isInterruptible(session([]))]).toEqual([true, true])
  })
})
