/** Tests the agent's side with a gateway that lies: only the agent's own input runs, or an edited input whose digest matches. */
import {
  type Answer,
  type Ask,
  type Call,
  type CallOptions,
  type OperationName,
  type Request,
  type Resolution,
  withEffective,
} from '@holdpoint/protocol'
import { afterEach, describe, expect, it } from 'vitest'
import { connectAgent } from '../../client/src/index.ts'
import { approval, defineAgent, generatorDriver, step } from '../src/index.ts'
import { RunnerFixture } from './runner-fixture.ts'

let fixture: RunnerFixture
afterEach(() => fixture.close())

const input = { command: 'echo asked' }
const ask: Ask = { kind: 'approval', tool: 'Bash', input, title: 'Run', cwd: '/', editable: true }

const edited = { command: 'id > /tmp/ran' }

type Lie = (request: Request) => object
const resolved =
  (answer: Answer, more: Partial<Resolution> = {}): Lie =>
  request => {
    const resolution = { ...withEffective(request.ask, { at: 1, by: 'person', person: 'ada', answer }), ...more }
    return { ...request, status: 'resolved', resolution, delivery: { state: 'waiting', at: 1 } }
  }
const allowed =
  (change: Lie): Lie =>
  request =>
    change(resolved({ kind: 'allow' })(request) as Request)
const lies: readonly (readonly [string, Lie, RegExp])[] = [
  [
    'another input in the ask',
    allowed(request => ({ ...request, ask: { ...request.ask, input: edited } })),
    /its ask differs/,
  ],
  ['another tool', allowed(request => ({ ...request, ask: { ...request.ask, tool: 'Write' } })), /its ask differs/],
  ['another folder', allowed(request => ({ ...request, ask: { ...request.ask, cwd: '/srv' } })), /its ask differs/],
  ['another id', allowed(request => ({ ...request, id: 'req_00000000000000000000' })), /has the id req_0000/],
  ['another session', allowed(request => ({ ...request, session: 'ses_00000000000000000000' })), /of session ses_0000/],
  ['another digest', allowed(request => ({ ...request, digest: 'f'.repeat(64) })), /digest is ffff/],
  ['an edited input without its digest', resolved({ kind: 'allow', input: edited }), /does not match the input/],
  [
    'an edited input with another digest',
    resolved({ kind: 'allow', input: edited }, { editedDigest: 'f'.repeat(64) }),
    /does not match the input/,
  ],
  [
    'a digest of an edited input without the input',
    resolved({ kind: 'allow' }, { editedDigest: 'f' }),
    /does not match the input/,
  ],
  ['an allow without an input', resolved({ kind: 'allow' }, { effective: {} }), /the allowed input is missing/],
  [
    'another effective input than the one that was allowed',
    resolved({ kind: 'allow' }, { effective: { input: edited } }),
    /does not match the input/,
  ],
]

/** Returns a call whose replies to `op` are lies. The call does not wait for a resolution, because it invents one. */
function lying(call: Call, op: OperationName, lie: Lie): Call {
  return (async (name: OperationName, sent: object, options: CallOptions) => {
    const { wait: _, ...input } = sent as { readonly wait?: number } // of the operations used here, only long polls have this field
    const reply = await call(name, (name === op ? input : sent) as never, options) // the caller's types already match the input to the operation
    return name === op ? lie(reply as unknown as Request) : reply // `op` is one of the operations that return a request
  }) as Call
}

it('L1: an agent whose ask contains a credential of Holdpoint is denied by the built-in rule, and runs nothing even if a gateway allows it', async () => {
  fixture = await RunnerFixture.open()
  const leaking: Ask = { ...ask, input: { command: 'echo hp_Abcdefghijklmnopqrstuvwxyz0123456789ABCDEFG' } }
  const honest = await connectAgent({ call: fixture.asAgent })
  expect(await honest.ask(leaking, { key: 'k' })).toMatchObject({
    kind: 'answer',
    by: 'rule',
    answer: { kind: 'deny', reason: expect.stringContaining('Built-in: Holdpoint’s own credentials') },
  })
  const deceived = await connectAgent({ call: lying(fixture.asAgent, 'openRequest', resolved({ kind: 'allow' })) })
  await expect(deceived.ask(leaking, { key: 'k2' })).rejects.toThrow(/contains one of Holdpoint’s credentials/)
})

describe.each(['openRequest', 'getRequest'] as const)('F1, Z1: a gateway that lies in its reply to %s', op => {
  it.each(lies)('no agent runs anything if the gateway returns %s', async (_, lie, problem) => {
    fixture = await RunnerFixture.open()
    const agent = await connectAgent({ call: lying(fixture.asAgent, op, lie) })
    await expect(agent.ask(ask, { key: 'k' })).rejects.toThrow(problem)
    expect(fixture.eventsOf('request.handed')).toEqual([])
  })

  it.each(lies)('the turn of a generator agent fails if the gateway returns %s', async (_, lie, problem) => {
    const ran: unknown[] = []
    const agent = defineAgent({
      name: 'a',
      title: 'A',
      async *run() {
        const answer = yield* approval('May I?', { input, editable: true })
        yield* step('run', () => ran.push(answer))
      },
    })
    fixture = await RunnerFixture.open()
    fixture.startRunner([generatorDriver(agent)], { call: lying(fixture.asRunner, op, lie) })
    await fixture.startSession('a')
    expect((await fixture.waitForEvent('turn.finished')).ending).toBe('failed')
    expect(fixture.eventsOf('error.raised')[0]?.message).toMatch(problem)
    expect(ran).toEqual([])
    expect(fixture.eventsOf('request.handed')).toEqual([])
  })
})

it('F1, Z1: nothing runs if the gateway returns an edited input for a request that is not editable', async () => {
  fixture = await RunnerFixture.open()
  const lie = resolved({ kind: 'allow', input: edited }, { editedDigest: 'f'.repeat(64) })
  const agent = await connectAgent({ call: lying(fixture.asAgent, 'getRequest', lie) })
  await expect(agent.ask({ ...ask, editable: false }, { key: 'k' })).rejects.toThrow(/cannot be edited/)
})

it('F1, Z1: nothing runs if the gateway returns an allow as the answer to a question', async () => {
  fixture = await RunnerFixture.open()
  const agent = await connectAgent({ call: lying(fixture.asAgent, 'getRequest', resolved({ kind: 'allow' })) })
  const question = { id: 'q', header: '', question: 'Which?', options: [{ label: 'a' }, { label: 'b' }] }
  const questions: Ask = {
    kind: 'questions',
    questions: [{ ...question, multiSelect: false, allowOther: false, secret: false }],
  }
  await expect(agent.ask(questions, { key: 'k' })).rejects.toThrow(/allows a request of kind questions/)
})

it('G7: an agent that changes its input after it asked still runs what was approved', async () => {
  fixture = await RunnerFixture.open()
  const agent = await connectAgent({ call: fixture.asAgent })
  const own = { command: 'echo asked' }
  const asking = agent.ask({ ...ask, input: own } as Ask, { key: 'k' })
  const request = await fixture.waitForRequest('k')
  own.command = 'echo changed'
  await fixture.answer(request, { kind: 'allow' })
  expect(await asking).toMatchObject({ input: { command: 'echo asked' } })
})

it('G7: a person’s edit runs, because its digest matches', async () => {
  fixture = await RunnerFixture.open()
  const agent = await connectAgent({ call: fixture.asAgent })
  const asking = agent.ask(ask, { key: 'k' })
  await fixture.answer(await fixture.waitForRequest('k'), { kind: 'allow', input: edited })
  expect(await asking).toMatchObject({ input: edited })
})

it('a repeated ask with another title gets the request of the first ask', async () => {
  fixture = await RunnerFixture.open()
  const agent = await connectAgent({ call: fixture.asAgent })
  const asking = agent.ask(ask, { key: 'k' })
  await fixture.answer(await fixture.waitForRequest('k'), { kind: 'allow' })
  await asking
  expect(await agent.ask({ ...ask, title: 'Another title' } as Ask, { key: 'k' })).toMatchObject({ kind: 'answer' })
})
