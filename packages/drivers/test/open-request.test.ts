/** Tests the agent's side of a request with a real gateway: when an answer counts as handed, what the agent gets if the answer is too late, and that each outcome is reported once. */
import { type Ask, type Call, Fault, type Input, limits, type OperationName, type Request } from '@holdpoint/protocol'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { expectRequest } from '../../client/src/agent/expected-request.ts'
import { OpenRequest, pollMs, rulesChanged } from '../../client/src/agent/open-request.ts'
import { RunnerFixture, runnerId } from './runner-fixture.ts'

let fixture: RunnerFixture
let session: Request['session']
let fence: number
let points: string[]
let calls: { readonly op: OperationName; readonly input: object }[]
beforeEach(async () => {
  fixture = await RunnerFixture.open()
  const driver = { name: 'bare', title: 'Bare', capabilities: [], modes: [], ready: true }
  const { incarnation } = await fixture.asRunner('announceRunner', { id: runnerId, name: 'test', drivers: [driver] })
  session = await fixture.startSession('bare')
  fence = (await fixture.asRunner('attachSession', { id: session, runner: runnerId, incarnation })).fence
  points = []
  calls = []
})
afterEach(() => fixture.close())

const ask: Ask = { kind: 'approval', tool: 'Bash', input: { command: 'ls' }, title: 'List', cwd: '/', editable: true }
const recorded: Call = (op, input, options) => {
  calls.push({ op, input })
  return fixture.asRunner(op, input, options)
}
async function open(more: Partial<Input<'openRequest'>> = {}, call: Call = recorded): Promise<OpenRequest> {
  const expected = expectRequest(session, 'k', ask)
  const request = await fixture.asRunner('openRequest', { id: session, key: 'k', ask, fence, ...more })
  return new OpenRequest({ call, fence, crashPoint: point => points.push(point), expected, request })
}
const stored = ({ request }: OpenRequest) => fixture.asPerson('getRequest', { id: request.id })
const reports = () => calls.filter(({ op }) => op === 'reportDelivery').map(({ input }) => input)
const allow = ({ request }: OpenRequest) => fixture.answer(request, { kind: 'allow' })

describe('OpenRequest', () => {
  it('P5: an OpenRequest becomes a denial if the rule that allowed it is removed before the answer is handed', async () => {
    const scope = { session }
    const rule = await fixture.asPerson('addRule', { effect: 'allow', command: 'ls', scope })
    const request = await open()
    expect(request.request.resolution).toMatchObject({ by: 'rule', answer: { kind: 'allow' } })
    await fixture.asPerson('removeRule', { id: rule.id })
    const handed = await request.hand()
    expect(handed).toMatchObject({
      kind: 'answer',
      answer: { kind: 'deny', reason: rulesChanged },
      input: null,
    })
    await handed.taken()
    expect(reports()).toEqual([{ id: request.request.id, state: 'handed', reason: undefined, fence }])
    expect((await stored(request)).delivery.state).toBe('undeliverable')
  })
  it('an OpenRequest cannot be handed before it is resolved', async () => {
    const request = await open()
    await expect(request.hand()).rejects.toThrow(`hand() was called before request ${request.request.id} was resolved`)
    expect(reports()).toEqual([])
  })
  it('an OpenRequest waits in long polls that are shorter than the gateway’s limit', async () => {
    const request = await open()
    const resolved = request.resolved()
    await allow(request)
    expect(await resolved).toMatchObject({ status: 'resolved' })
    expect(points).toEqual(['runner:resolution-seen'])
    expect(calls).toEqual([{ op: 'getRequest', input: { id: request.request.id, wait: pollMs } }])
    expect(pollMs).toBe(limits.waitMaxMs / 2)
    await request.resolved()
    expect(calls).toHaveLength(1)
  })
  it('an OpenRequest is withdrawn with the fence of the session', async () => {
    const request = await open()
    await request.withdraw()
    expect(calls).toEqual([{ op: 'withdrawRequest', input: { id: request.request.id, fence } }])
    expect(request.request).toMatchObject({ status: 'resolved', resolution: { reason: 'withdrawn' } })
  })
})

describe('the answer to an OpenRequest', () => {
  it('the answer to an OpenRequest is given to the agent only after `handed` is stored, and reported as taken once', async () => {
    const request = await open()
    await allow(request)
    await request.resolved()
    const handed = await request.hand()
    expect(handed).toMatchObject({ kind: 'answer', by: 'person', input: { command: 'ls' }, replayed: false })
    expect((await stored(request)).delivery.state).toBe('handed')
    expect(handed.request.delivery.state).toBe('handed')
    await handed.taken()
    await handed.taken()
    await handed.dropped()
    expect((await stored(request)).delivery.state).toBe('taken')
    const { id } = request.request
    expect(reports()).toEqual([
      { id, state: 'handed', fence },
      { id, state: 'taken', fence },
    ])
    expect(points).toEqual(['runner:resolution-seen', 'runner:handed', 'runner:given', 'runner:taken'])
  })
  it('the answer to an OpenRequest is reported as undeliverable once if the agent did not receive the answer', async () => {
    const request = await open()
    await allow(request)
    await request.resolved()
    const handed = await request.hand()
    await handed.dropped()
    await handed.dropped()
    await handed.taken()
    expect((await stored(request)).delivery).toMatchObject({ state: 'undeliverable', reason: 'the turn ended first' })
    expect(reports()).toHaveLength(2)
  })
  it('the answer to an OpenRequest is replayed and not reported again if the agent has already taken the answer', async () => {
    const first = await open()
    await allow(first)
    await first.resolved()
    await (await first.hand()).taken()
    calls = []
    const again = await open()
    const replay = await again.hand()
    expect(replay).toMatchObject({ kind: 'answer', replayed: true, answer: { kind: 'allow' } })
    await replay.taken()
    await replay.dropped()
    expect(calls).toEqual([])
  })
  it('the answer to an OpenRequest has no input if it is not an allow', async () => {
    const request = await open()
    await fixture.answer(request.request, { kind: 'deny', reason: 'no' })
    await request.resolved()
    expect(await request.hand()).toMatchObject({ kind: 'answer', input: null, answer: { kind: 'deny' } })
  })
  it('the answer to an OpenRequest is handed and taken in the same way if nobody answered before the deadline', async () => {
    await fixture.close()
    fixture = await RunnerFixture.open({ settings: { deadlineMs: limits.deadlineMinMs, onDeadline: 'deny' } })
    const external = await fixture.asAgent('startSession', { driver: 'external' })
    const request = await fixture.asAgent('openRequest', { id: external.id, key: 'k', ask })
    const expected = expectRequest(external.id, 'k', ask)
    const late = new OpenRequest({ call: fixture.asAgent, fence: undefined, crashPoint: () => {}, expected, request })
    await late.resolved()
    const handed = await late.hand()
    expect(handed).toMatchObject({ kind: 'nobody', reason: 'nobody answered', replayed: false })
    await handed.taken()
    expect((await stored(late)).delivery.state).toBe('taken')
  })
  it('the answer to an OpenRequest is not given to the agent if the agent withdrew the request first', async () => {
    const request = await open()
    await allow(request)
    await request.resolved()
    await request.withdraw()
    const handed = await request.hand()
    expect(handed).toMatchObject({ kind: 'agent', reason: 'withdrawn', replayed: false })
    await handed.taken()
    await handed.dropped()
    expect((await stored(request)).delivery.state).toBe('undeliverable')
    expect(points).not.toContain('runner:handed')
  })
  it('the answer to an OpenRequest is not given to the agent if the turn was interrupted first', async () => {
    const request = await open()
    await allow(request)
    await request.resolved()
    await fixture.asPerson('interruptSession', { id: session })
    expect(await request.hand()).toMatchObject({ kind: 'agent', reason: 'interrupted' })
    expect(points).not.toContain('runner:handed')
  })
  it('the answer to an OpenRequest is replaced by a reason if the request ended on the agent’s side before anybody answered', async () => {
    const request = await open()
    await fixture.asPerson('interruptSession', { id: session })
    await request.resolved()
    const handed = await request.hand()
    expect(handed).toMatchObject({ kind: 'agent', reason: 'interrupted', replayed: false })
    await handed.taken()
    await handed.dropped()
    expect(reports()).toEqual([])
  })
  it('G5: the answer to an OpenRequest is unknown if it is an allow that may have run before a crash, and no report changes that', async () => {
    const first = await open()
    await allow(first)
    await first.resolved()
    await first.hand()
    await fixture.asRunner('reportDelivery', { id: first.request.id, state: 'unknown', fence })
    calls = []
    const unknown = await (await open()).hand()
    expect(unknown).toMatchObject({ kind: 'unknown', answer: { kind: 'allow' }, replayed: false })
    await unknown.taken()
    await unknown.dropped()
    expect(calls).toEqual([])
    expect((await stored(first)).delivery.state).toBe('unknown')
  })
  it('G5: the answer to an OpenRequest is handed again after a crash if it is a deny', async () => {
    const first = await open()
    await fixture.answer(first.request, { kind: 'deny' })
    await first.resolved()
    await first.hand()
    await fixture.asRunner('reportDelivery', { id: first.request.id, state: 'unknown', fence })
    expect(await (await open()).hand()).toMatchObject({ kind: 'answer', answer: { kind: 'deny' }, replayed: false })
    expect((await stored(first)).delivery.state).toBe('handed')
  })
  it('G5: the answer to an OpenRequest is not given to the agent if the gateway refuses `handed` for another reason', async () => {
    const refusing: Call = async (op, input, options) => {
      if (op === 'reportDelivery') throw new Fault('fenced', 'another runner has the session')
      return fixture.asRunner(op, input, options)
    }
    const request = await open({}, refusing)
    await allow(request)
    await request.resolved()
    await expect(request.hand()).rejects.toMatchObject({ code: 'fenced' })
    expect(points).not.toContain('runner:handed')
  })
  it('G5: the answer to an OpenRequest is not given to the agent if the gateway says that another caller already has the answer', async () => {
    const request = await open()
    await allow(request)
    await request.resolved()
    await fixture.asRunner('reportDelivery', { id: request.request.id, state: 'handed', fence })
    await fixture.asRunner('reportDelivery', { id: request.request.id, state: 'taken', fence })
    await expect(request.hand()).rejects.toMatchObject({ code: 'already_resolved' })
    expect(points).not.toContain('runner:handed')
  })
})
