/** What an earlier process had asked, for the one that takes its place: each ask once, and a place of the conversation not for ever. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Answer } from '@holdpoint/protocol'
import { afterAll, describe, expect, it } from 'vitest'
import { PendingCalls } from '../../src/claude/approvals/pending-calls.ts'
import { questionsAsk } from '../../src/claude/approvals/questions.ts'
import { type CarriedRequest, CarriedRequests } from '../../src/claude/parking/carried-requests.ts'
import { ParkingProbe } from '../../src/claude/parking/parking-method.ts'
import { countAttempt, resetAttempts } from '../../src/claude/parking/resume-plan.ts'
import { TranscriptStore } from '../../src/claude/transcript/transcript-store.ts'
import { AgentSession } from '../../src/index.ts'
import { RunnerFixture, runnerId } from '../runner-fixture.ts'

const folder = mkdtempSync(join(tmpdir(), 'holdpoint-carried-'))
const rows = () => new TranscriptStore(join(folder, String(Math.random())), folder)
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const input = { command: 'ls' }
const ask = { kind: 'approval', tool: 'Bash', input, title: 'ls', cwd: '/', editable: true } as const
const open = (key: string, answer: Answer | null = null, doubtful = false): CarriedRequest => ({
  key,
  ask,
  resolution: answer && { at: 1, by: 'person', answer },
  doubtful,
})
const carry = (...all: readonly CarriedRequest[]) => new CarriedRequests(new Map(all.map(one => [one.key, one])), true)
const taken = (carried: CarriedRequests, times: number) =>
  Array.from({ length: times }, (_, n) => carried.take(`new_${n}`, 'Bash', input)?.key)

describe('equal calls of an earlier process', () => {
  it('are each found once', () => {
    expect(taken(carry(open('a'), open('b')), 3)).toEqual(['a', 'b', undefined])
    expect(taken(carry(open('a', { kind: 'allow' })), 2)).toEqual(['a', undefined])
  })
  it('are found in the order in which the agent may mean them: what it may run, what waits, what it has heard of', () => {
    const carried = carry(
      open('doubtful', { kind: 'allow' }, true),
      open('denied', { kind: 'deny' }),
      open('waits'),
      open('allowed', { kind: 'allow' }),
    )
    expect(taken(carried, 5)).toEqual(['allowed', 'waits', 'doubtful', 'denied', undefined])
  })
  it('are found by their own id before anything else, and then no more', () => {
    const carried = carry(open('a', { kind: 'allow' }), open('b'))
    expect(carried.take('b', 'Bash', input)?.key).toBe('b')
    expect(taken(carried, 2)).toEqual(['a', undefined])
  })
  it('are questions too, where they are asked in the same words', () => {
    const options = ['A', 'B'].map(label => ({ label, description: label }))
    const which = (question: string) => ({ questions: [{ question, header: 'W', multiSelect: false, options }] })
    const carried = carry({ ...open('a'), ask: questionsAsk(which('Which?')) })
    expect(carried.take('new', 'AskUserQuestion', which('What?'))).toBeUndefined()
    expect(carried.take('new', 'AskUserQuestion', which('Which?'))?.key).toBe('a')
  })
  it('are no others: neither another call, nor where each comes back under its id', () => {
    expect(carry(open('a')).take('new', 'Bash', { command: 'pwd' })).toBeUndefined()
    const back = new CarriedRequests(new Map([['a', open('a')]]))
    expect(back.take('new', 'Bash', input)).toBeUndefined()
    expect(back.take('a', 'Bash', input)?.key).toBe('a')
  })
})

describe('a place of the conversation', () => {
  it('is come back to five times, and anew once it was let go on purpose', () => {
    const kept = rows()
    expect(Array.from({ length: 7 }, () => countAttempt(kept))).toEqual([true, true, true, true, true, false, false])
    resetAttempts(kept)
    expect(countAttempt(kept)).toBe(true)
  })
})

describe('a call for which the CLI asks twice', () => {
  it('is asked once, also where it is one of an earlier process under another id', async () => {
    const fixture = await RunnerFixture.open()
    const driver = { name: 'bare', title: '', capabilities: [], modes: [], ready: true }
    const { incarnation } = await fixture.asRunner('announceRunner', { id: runnerId, name: 'test', drivers: [driver] })
    const id = await fixture.startSession('bare')
    const attached = await fixture.asRunner('attachSession', { id, runner: runnerId, incarnation })
    const session = new AgentSession({ call: fixture.asRunner, ...attached })
    const calls = new PendingCalls({
      session,
      rows: rows(),
      carried: carry(open('earlier')),
      parking: new ParkingProbe({ choice: 'off', shown: false, test: async () => false, onShown: () => {} }),
      mayPutOff: () => false,
      pathOf: () => [],
      gone: async () => false,
      onBegin: () => {},
      onChange: () => {},
      guarded: false,
      mayBypass: false,
      onTrouble: () => {},
    })
    const context = { signal: new AbortController().signal, toolUseID: 'again', requestId: 'r' }
    const results = Promise.all([1, 2].map(() => calls.canUse('Bash', input, context)))
    await fixture.answer(await fixture.waitForRequest('earlier'), { kind: 'allow' })
    expect(await results).toEqual([1, 2].map(() => ({ behavior: 'allow', updatedInput: input })))
    expect(fixture.eventsOf('request.opened')).toHaveLength(1)
    expect(fixture.eventsOf('request.handed')).toHaveLength(1)
    await session.park()
    await fixture.close()
  })
})
