/** Requests that an earlier process left open: each is matched once, and a session is not resumed at the same row forever. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { PermissionUpdate } from '@anthropic-ai/claude-agent-sdk'
import type { Answer } from '@holdpoint/protocol'
import { afterAll, describe, expect, it } from 'vitest'
import { PendingCalls } from '../../src/claude/approvals/pending-calls.ts'
import { questionsAsk } from '../../src/claude/approvals/questions.ts'
import { ParkingProbe } from '../../src/claude/parking/parking-method.ts'
import { type CarriedRequest, CarriedRequests } from '../../src/claude/resuming/carried-requests.ts'
import { countAttempt, resetAttempts } from '../../src/claude/resuming/resume-plan.ts'
import { TranscriptStore } from '../../src/claude/transcript/transcript-store.ts'
import { AgentSession } from '../../src/index.ts'
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
  Array.from({ length: times }, (_, n) => carried.take(`new_${n}`, 'Bash', input)?.key)

describe('carried requests for equal calls', () => {
  it('each carried request is matched once', () => {
    expect(takeKeys(carry(request('a'), request('b')), 3)).toEqual(['a', 'b', undefined])
    expect(takeKeys(carry(request('a', { kind: 'allow' })), 2)).toEqual(['a', undefined])
  })
  it('allowed requests are matched first, then pending ones, then the others', () => {
    const carried = carry(
      request('unknown', { kind: 'allow' }, true),
      request('denied', { kind: 'deny' }),
      request('pending'),
      request('allowed', { kind: 'allow' }),
    )
    expect(takeKeys(carried, 5)).toEqual(['allowed', 'pending', 'unknown', 'denied', undefined])
  })
  it('a request is matched by its own id first, and only once', () => {
    const carried = carry(request('a', { kind: 'allow' }), request('b'))
    expect(carried.take('b', 'Bash', input)?.key).toBe('b')
    expect(takeKeys(carried, 2)).toEqual(['a', undefined])
  })
  it('a question with the same text matches a carried question', () => {
    const options = ['A', 'B'].map(label => ({ label, description: label }))
    const which = (question: string) => ({ questions: [{ question, header: 'W', multiSelect: false, options }] })
    const carried = carry({ ...request('a'), ask: questionsAsk(which('Which?')) })
    expect(carried.take('new', 'AskUserQuestion', which('What?'))).toBeUndefined()
    expect(carried.take('new', 'AskUserQuestion', which('Which?'))?.key).toBe('a')
  })
  it('a different call matches nothing, and without matchEqualCalls only the id matches', () => {
    expect(carry(request('a')).take('new', 'Bash', { command: 'pwd' })).toBeUndefined()
    const resumed = new CarriedRequests(new Map([['a', request('a')]]))
    expect(resumed.take('new', 'Bash', input)).toBeUndefined()
    expect(resumed.take('a', 'Bash', input)?.key).toBe('a')
  })
})

describe('countAttempt', () => {
  it('a session is resumed five times at the same row, and again after it was stopped on purpose', () => {
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

/** PendingCalls of a session that is attached to a gateway in memory. */
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

describe('a call that the CLI asks for twice', () => {
  it('one request is opened, even if the call repeats a carried request under another id', async () => {
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

describe('the stored suggestions of pending calls', () => {
  it('suggestions are stored for every pending call, and forgotten after it is finished', async () => {
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
