/** Tests how requests of an earlier process are matched to new calls, and how often a session is resumed at the same transcript row. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { PermissionUpdate } from '@anthropic-ai/claude-agent-sdk'
import type { Answer } from '@holdpoint/protocol'
import { afterAll, describe, expect, it } from 'vitest'
import { PermissionCalls } from '../../src/claude/approvals/permission-calls.ts'
import { questionsAsk } from '../../src/claude/approvals/questions.ts'
import { ParkingProbe } from '../../src/claude/parking/parking-method.ts'
import { countAttempt, resetAttempts } from '../../src/claude/resuming/resume-plan.ts'
import { TranscriptStore } from '../../src/claude/transcript/transcript-store.ts'
import { type AgentConnection, type CarriedRequest, type ConnectionOptions, runSession } from '../../src/index.ts'
import { CarriedRequests } from '../../src/session/carried-requests.ts'
import { RunnerFixture } from '../runner-fixture.ts'

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
  it('CarriedRequests matches each request to only one equal call', () => {
    expect(takeKeys(carry(request('a'), request('b')), 3)).toEqual(['a', 'b', undefined])
    expect(takeKeys(carry(request('a', { kind: 'allow' })), 2)).toEqual(['a', undefined])
  })
  it('CarriedRequests matches allowed requests first, then pending requests, then the others', () => {
    const carried = carry(
      request('unknown', { kind: 'allow' }, true),
      request('denied', { kind: 'deny' }),
      request('pending'),
      request('allowed', { kind: 'allow' }),
    )
    expect(takeKeys(carried, 5)).toEqual(['allowed', 'pending', 'unknown', 'denied', undefined])
  })
  it('CarriedRequests matches a call by its id before it looks for equal calls, and matches each request only once', () => {
    const carried = carry(request('a', { kind: 'allow' }), request('b'))
    expect(carried.take('b', ask)?.key).toBe('b')
    expect(takeKeys(carried, 2)).toEqual(['a', undefined])
  })
  it('CarriedRequests matches a question to a carried question with the same text', () => {
    const options = ['A', 'B'].map(label => ({ label, description: label }))
    const which = (question: string) => ({ questions: [{ question, header: 'W', multiSelect: false, options }] })
    const carried = carry({ ...request('a'), ask: questionsAsk(which('Which?')) })
    expect(carried.take('new', questionsAsk(which('What?')))).toBeUndefined()
    expect(carried.take('new', questionsAsk(which('Which?')))?.key).toBe('a')
  })
  it('CarriedRequests does not match a call with the same input in another folder', () => {
    const carried = carry(request('a', { kind: 'allow' }))
    expect(carried.take('new', { ...ask, cwd: '/home' })).toBeUndefined()
    expect(carried.take('new', { ...ask, action: { shell: 'ls', cwd: '/home' } })).toBeUndefined()
    expect(carried.take('new', ask)?.key).toBe('a')
  })
  it('CarriedRequests does not match a different call, and without `matchEqualCalls` matches a call only by its id', () => {
    expect(carry(request('a')).take('new', { ...ask, input: { command: 'pwd' } })).toBeUndefined()
    const resumed = new CarriedRequests(new Map([['a', request('a')]]))
    expect(resumed.take('new', ask)).toBeUndefined()
    expect(resumed.take('a', ask)?.key).toBe('a')
  })
})

describe('countAttempt', () => {
  it('countAttempt allows five attempts at the same transcript row, and more after the process was stopped on purpose', () => {
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

/** Starts a session whose agent consists only of PermissionCalls, with an in-memory gateway. `connections` has one entry for each process. */
async function openPermissionCalls() {
  const fixture = await RunnerFixture.open()
  const transcript = newTranscript()
  const connections: (ConnectionOptions & { readonly calls: PermissionCalls })[] = []
  const connect = (options: ConnectionOptions): AgentConnection => {
    const calls = new PermissionCalls({
      ...{ emit: options.emit, check: options.check, cwd: '/', transcript, carriedKeys: new Set<string>() },
      parkingProbe: new ParkingProbe({
        choice: 'off',
        alreadyProven: false,
        test: async () => false,
        onProven: () => {},
      }),
      mayDefer: () => false,
      agentPathOf: () => [],
      isClosing: () => false,
      isExiting: async () => false,
      hasAskRule: false,
      mayBypass: false,
      reportProblem: () => {},
    })
    connections.push({ ...options, calls })
    void options.emit({ type: 'ready' })
    return {
      send: () => {},
      answer: async (id, answer) => calls.answer(id, answer) ?? {},
      interrupt: async () => {},
      changeSettings: async () => {},
      close: () => options.emit({ type: 'exited', how: 'closed' }),
    }
  }
  fixture.startRunner([
    {
      info: () => ({ name: 'bare', title: '', capabilities: ['resumable', 'messages'], modes: [], ready: true }),
      run: session => runSession(session, { title: 'Agent', keepsAfterLoss: 'conversation', connect }),
    },
  ])
  await fixture.startSession('bare')
  const connection = (nth: number) => fixture.waitFor(() => connections[nth - 1])
  return { fixture, connection, transcript }
}
const { signal } = new AbortController()

describe('PermissionCalls', () => {
  it('PermissionCalls opens one request for a call that the CLI asks for twice, even if the call repeats a carried request under another id', async () => {
    const { fixture, connection } = await openPermissionCalls()
    const first = await connection(1)
    void first.calls.canUseTool('Bash', input, { signal, toolUseID: 'earlier', requestId: 'r' })
    const earlier = await fixture.waitForRequest('earlier')
    await first.emit({ type: 'exited', how: 'killed' })
    await fixture.waitForEvent('session.changed', event => event.value.state === 'parked')
    await fixture.answer(earlier, { kind: 'allow' })
    const { calls } = await connection(2)
    const context = { signal, toolUseID: 'again', requestId: 'r' }
    const results = Promise.all([1, 2].map(() => calls.canUseTool('Bash', input, context)))
    expect(await results).toEqual([1, 2].map(() => ({ behavior: 'allow', updatedInput: input })))
    expect(fixture.eventsOf('request.opened')).toHaveLength(1)
    expect(fixture.eventsOf('request.handed')).toHaveLength(1)
    await fixture.close()
  })
})

describe('the suggestions that PermissionCalls stores', () => {
  it('the suggestions that PermissionCalls stores exist for every pending call, and are removed after the call is finished', async () => {
    const { fixture, connection, transcript } = await openPermissionCalls()
    const { calls } = await connection(1)
    const suggestions: PermissionUpdate[] = [{ type: 'setMode', mode: 'acceptEdits', destination: 'session' }]
    const ask = (id: string) => calls.canUseTool('Bash', input, { signal, toolUseID: id, requestId: id, suggestions })
    const first = ask('first')
    void ask('second')
    const firstRequest = await fixture.waitForRequest('first')
    await fixture.waitForRequest('second')
    expect(Object.keys(transcript.meta.suggestions ?? {})).toEqual(['first', 'second'])
    await fixture.answer(firstRequest, { kind: 'allow' })
    await first
    calls.markFinished('first')
    void ask('third')
    await fixture.waitForRequest('third')
    expect(Object.keys(transcript.meta.suggestions ?? {})).toEqual(['second', 'third'])
    await fixture.close()
  })
})
