/** Tests how requests of an earlier process are matched to new calls, and how often a session is resumed at the same transcript row. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { PermissionUpdate } from '@anthropic-ai/claude-agent-sdk'
import type { Answer } from '@holdpoint/protocol'
import { afterAll, describe, expect, it } from 'vitest'
import { PendingCalls } from '../../src/claude/approvals/pending-calls.ts'
import { questionsAsk } from '../../src/claude/approvals/questions.ts'
import { ParkingProbe } from '../../src/claude/parking/parking-method.ts'
import { countAttempt, resetAttempts } from '../../src/claude/resuming/resume-plan.ts'
import { TranscriptStore } from '../../src/claude/transcript/transcript-store.ts'
import { AgentSession, type CarriedRequest } from '../../src/index.ts'
import { CarriedRequests } from '../../src/session/carried-requests.ts'
import { RunnerFixture, runnerId } from '../runner-fixture.ts'

const folder = mkdtempSync(join(tmpdir(), 'holdpoint-carried-'))
const newTranscript = () => new TranscriptStore(join(folder, String(Math.random())), folder)
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const input = { command: 'ls' }
const ask = { kind: 'approval', tool: 'Bash', input, title: 'ls', cwd: '/', editable: true } as const
const request = (key: string, answer: Answer | null = null, outcomeUnknown = false): CarriedRequest => ({
  key,
  ask,
  resolution: answer && { at: 1, by: 'person', answer },
  outcomeUnknown,
})
const carry = (...requests: readonly CarriedRequest[]) =>
  new CarriedRequests(new Map(requests.map(one => [one.key, one])), true)
const takeKeys = (carried: CarriedRequests, times: number) =>
  Array.from({ length: times }, (_, n) => carried.take(`new_${n}`, ask)?.key)

describe('CarriedRequests', () => {
  it('matches each request to only one equal call', () => {
    expect(takeKeys(carry(request('a'), request('b')), 3)).toEqual(['a', 'b', undefined])
    expect(takeKeys(carry(request('a', { kind: 'allow' })), 2)).toEqual(['a', undefined])
  })
  it('matches allowed requests first, then pending requests, then the others', () => {
    const carried = carry(
      request('unknown', { kind: 'allow' }, true),
      request('denied', { kind: 'deny' }),
      request('pending'),
      request('allowed', { kind: 'allow' }),
    )
    expect(takeKeys(carried, 5)).toEqual(['allowed', 'pending', 'unknown', 'denied', undefined])
  })
  it('matches a call by its id before it looks for equal calls, and matches each request only once', () => {
    const carried = carry(request('a', { kind: 'allow' }), request('b'))
    expect(carried.take('b', ask)?.key).toBe('b')
    expect(takeKeys(carried, 2)).toEqual(['a', undefined])
  })
  it('matches a question to a carried question with the same text', () => {
    const options = ['A', 'B'].map(label => ({ label, description: label }))
    const which = (question: string) => ({ questions: [{ question, header: 'W', multiSelect: false, options }] })
    const carried = carry({ ...request('a'), ask: questionsAsk(which('Which?')) })
    expect(carried.take('new', questionsAsk(which('What?')))).toBeUndefined()
    expect(carried.take('new', questionsAsk(which('Which?')))?.key).toBe('a')
  })
  it('does not match a different call, and without `matchEqualCalls` matches a call only by its id', () => {
    expect(carry(request('a')).take('new', { ...ask, input: { command: 'pwd' } })).toBeUndefined()
    const resumed = new CarriedRequests(new Map([['a', request('a')]]))
    expect(resumed.take('new', ask)).toBeUndefined()
    expect(resumed.take('a', ask)?.key).toBe('a')
  })
})

describe('countAttempt', () => {
  it('allows five attempts at the same transcript row, and more after the process was stopped on purpose', () => {
    const transcript = newTranscript()
    expect(Array.from({ length: 7 }, () => countAttempt(transcript))).toEqual([
      true,
      true,
      true,
      true,
      true,
      false,
      false,
    ])
    resetAttempts(transcript)
    expect(countAttempt(transcript)).toBe(true)
  })
})

/** Creates the PendingCalls of a session that is attached to an in-memory gateway. */
async function openPendingCalls(carried: CarriedRequests) {
  const fixture = await RunnerFixture.open()
  const driver = { name: 'bare', title: '', capabilities: [], modes: [], ready: true }
  const { incarnation } = await fixture.asRunner('announceRunner', { id: runnerId, name: 'test', drivers: [driver] })
  const id = await fixture.startSession('bare')
  const attached = await fixture.asRunner('attachSession', { id, runner: runnerId, incarnation })
  const session = new AgentSession({ call: fixture.asRunner, ...attached })
  const transcript = newTranscript()
  const calls = new PendingCalls({
    session,
    transcript,
    carried,
    parkingProbe: new ParkingProbe({
      choice: 'off',
      alreadyProven: false,
      test: async () => false,
      onProven: () => {},
    }),
    mayDefer: () => false,
    agentPathOf: () => [],
    processExited: async () => false,
    onCallStart: () => {},
    onChange: () => {},
    hasAskRule: false,
    mayBypass: false,
    reportProblem: () => {},
  })
  const close = async () => {
    await session.park()
    await fixture.close()
  }
  return { fixture, calls, transcript, close }
}
const { signal } = new AbortController()

describe('PendingCalls', () => {
  it('opens one request for a call that the CLI asks for twice, even if the call repeats a carried request under another id', async () => {
    const { fixture, calls, close } = await openPendingCalls(carry(request('earlier')))
    const context = { signal, toolUseID: 'again', requestId: 'r' }
    const results = Promise.all([1, 2].map(() => calls.canUseTool('Bash', input, context)))
    await fixture.answer(await fixture.waitForRequest('earlier'), { kind: 'allow' })
    expect(await results).toEqual([1, 2].map(() => ({ behavior: 'allow', updatedInput: input })))
    expect(fixture.eventsOf('request.opened')).toHaveLength(1)
    expect(fixture.eventsOf('request.handed')).toHaveLength(1)
    await close()
  })
})

describe('the suggestions that PendingCalls stores', () => {
  it('exist for every pending call, and are removed after the call is finished', async () => {
    const { fixture, calls, transcript, close } = await openPendingCalls(carry())
    const suggestions: PermissionUpdate[] = [{ type: 'setMode', mode: 'acceptEdits', destination: 'session' }]
    const ask = (id: string) => calls.canUseTool('Bash', input, { signal, toolUseID: id, requestId: id, suggestions })
    const first = ask('first')
    void ask('second')
    const firstRequest = await fixture.waitForRequest('first')
    await fixture.waitForRequest('second')
    expect(Object.keys(transcript.meta.suggestions ?? {})).toEqual(['first', 'second'])
    await fixture.answer(firstRequest, { kind: 'allow' })
    await first
    await calls.markTaken('first')
    void ask('third')
    await fixture.waitForRequest('third')
    expect(Object.keys(transcript.meta.suggestions ?? {})).toEqual(['second', 'third'])
    await close()
  })
})
