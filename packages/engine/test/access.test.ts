/** Access: each role may call exactly the operations of the access table, and a call runs once per idempotency key. */
import { accessOf, contract, type Input, type OperationName, type Request, type Session } from '@holdpoint/protocol'
import { beforeEach, describe, expect, it } from 'vitest'
import type { Caller } from '../src/index.ts'
import {
  type AttachedAgent,
  ada,
  approval,
  bob,
  drivers,
  expectFault,
  type GatewayFixture,
  openFixture,
  robot,
  runnerCaller,
  runnerId,
} from './gateway-fixture.ts'

let fixture: GatewayFixture
let agent: AttachedAgent
beforeEach(async () => {
  fixture = await openFixture()
  agent = await fixture.startAttached()
})

describe.each(Object.keys(contract) as OperationName[])('operation %s', op => {
  it.each([ada, bob, runnerCaller, robot])(
    'an operation accepts or forbids a caller with the role $role as the access table says',
    async caller => {
      const answer = await fixture.gateway
        .dispatchUnparsed(caller, op, { surely_unknown: 1 })
        .catch((fault: unknown) => fault)
      const may = accessOf(caller.role, op) !== 'no'
      expect(answer).toMatchObject({ name: 'Fault', code: may ? 'bad_input' : 'forbidden' })
    },
  )
  it('an operation needs a credential unless the access table allows callers without one', async () => {
    const answer = await fixture.gateway
      .dispatchUnparsed(null, op, { surely_unknown: 1 })
      .catch((fault: unknown) => fault)
    expect(answer).toMatchObject({ code: accessOf('nobody', op) === 'no' ? 'unauthenticated' : 'bad_input' })
  })
})

it('the error of a forbidden operation names the role and the operation', async () => {
  const expectMessage = (caller: Caller, message: string) =>
    expect(fixture.gateway.dispatchUnparsed(caller, 'addRule', {})).rejects.toMatchObject({ message })
  await expectMessage(robot, 'The credential of an agent may not call addRule')
  await expectMessage(runnerCaller, 'The credential of a runner may not call addRule')
})

describe('an operation that is not in the contract', () => {
  const names = ['', 'nothing', '__proto__', 'constructor', 'toString', 'hasOwnProperty']
  it.each(names)('an operation named %j is not found', async op => {
    await expectFault(fixture.gateway.dispatchUnparsed(ada, op as OperationName, {}), 'not_found')
  })
})

describe('an idempotency key', () => {
  interface Case {
    readonly op: OperationName
    readonly caller: Caller
    readonly input: (parts: { request: Request; session: Session; fence: number }) => object
    readonly other: object
    readonly prepare?: (request: Request) => Promise<unknown>
  }
  const message = (parts: { session: Session }) => ({ id: parts.session.id, text: 'hello' })
  const cases: readonly Case[] = [
    {
      op: 'startSession',
      caller: ada,
      input: () => ({ driver: 'resumable', prompt: 'hi' }),
      other: { title: 'other' },
    },
    { op: 'sendMessage', caller: ada, input: message, other: { text: 'other' } },
    { op: 'addRule', caller: ada, input: () => ({ effect: 'deny', tool: 'X' }), other: { tool: 'Y' } },
    {
      op: 'patchSession',
      caller: ada,
      input: ({ session }) => ({ id: session.id, mode: 'plan' }),
      other: { mode: 'b' },
    },
    {
      op: 'answerRequest',
      caller: ada,
      input: ({ request }) => ({ id: request.id, digest: request.digest, answer: { kind: 'allow' } }),
      other: { answer: { kind: 'deny' } },
    },
    {
      op: 'answerRequests',
      caller: ada,
      input: ({ request }) => ({ items: [{ id: request.id, digest: request.digest, answer: { kind: 'allow' } }] }),
      other: { items: [{ id: 'req_00000000000000000000', digest: '', answer: { kind: 'allow' } }] },
    },
    {
      op: 'openRequest',
      caller: runnerCaller,
      input: ({ session, fence }) => ({ id: session.id, key: 'once', ask: approval('once'), fence }),
      other: { key: 'twice' },
    },
    {
      op: 'appendEvents',
      caller: runnerCaller,
      input: ({ session, fence }) => ({
        id: session.id,
        fence,
        items: [
          { type: 'message.added', block: 'b', text: 'once' },
          { type: 'message.delta', block: 'c', offset: 0, text: 'live' },
        ],
      }),
      other: { items: [{ type: 'message.added', block: 'b', text: 'other' }] },
    },
    {
      op: 'withdrawRequest',
      caller: runnerCaller,
      input: ({ request, fence }) => ({ id: request.id, fence }),
      other: { fence: 99 },
    },
    {
      op: 'reportDelivery',
      caller: runnerCaller,
      prepare: request => fixture.allow(request),
      input: ({ request, fence }) => ({ id: request.id, state: 'handed', fence }),
      other: { state: 'unknown' },
    },
    {
      op: 'announceRunner',
      caller: runnerCaller,
      input: () => ({ id: runnerId(), name: 'zero', drivers }),
      other: { name: 'eight' },
    },
    {
      op: 'renewRunner',
      caller: runnerCaller,
      input: () => ({ id: runnerId(), incarnation: 1 }),
      other: { incarnation: 2 },
    },
    {
      op: 'retireRunner',
      caller: runnerCaller,
      input: () => ({ id: runnerId(), incarnation: 1 }),
      other: { incarnation: 2 },
    },
    {
      op: 'detachSession',
      caller: runnerCaller,
      input: ({ session, fence }) => ({ id: session.id, fence }),
      other: { ending: { reason: 'done' } },
    },
  ]
  it.each(cases)(
    'an idempotency key makes $op run once and return the same reply to a repeated call',
    async ({ op, caller, input, other, prepare }) => {
      const request = await agent.ask('k')
      await prepare?.(request)
      const body = input({ request, session: agent.session, fence: agent.fence })
      const once = { idempotencyKey: 'key' }
      const first = await fixture.gateway.dispatchUnparsed(caller, op, body, once)
      const before = await fixture.store.head()
      const live = (await fixture.subscribe()).subscription.hello.blocks
      const second = await fixture.gateway.dispatchUnparsed(caller, op, body, once)
      expect(second).toEqual(first)
      expect(await fixture.store.head()).toEqual(before)
      expect((await fixture.subscribe()).subscription.hello.blocks).toEqual(live)
      await expectFault(
        fixture.gateway.dispatchUnparsed(caller, op, { ...body, ...other }, once),
        'idempotency_mismatch',
      )
    },
  )
  it('an idempotency key makes interruptSession and endSession run once', async () => {
    const { id } = agent.session
    for (const op of ['interruptSession', 'endSession'] as const) {
      const first = await fixture.person(op, { id }, { idempotencyKey: op })
      const { seq } = await fixture.store.head()
      expect(await fixture.person(op, { id }, { idempotencyKey: op })).toEqual(first)
      expect((await fixture.store.head()).seq).toBe(seq)
    }
  })
  it('an idempotency key makes a repeated stopEverything call ignore turns that started after the first call', async () => {
    const once = { idempotencyKey: 'k' }
    await agent.ask('k')
    const first = await fixture.person('stopEverything', {}, once)
    expect(first.interrupted).toEqual([agent.session.id])
    await agent.ask('later')
    await (await fixture.startAttached()).ask('elsewhere')
    const { seq } = await fixture.store.head()
    expect(await fixture.person('stopEverything', {}, once)).toEqual(first)
    expect((await fixture.store.head()).seq).toBe(seq)
    expect((await fixture.person('stopEverything', {})).interrupted).toHaveLength(2)
  })
  it('an idempotency key makes startSession run once, even if the runner has retired before the repeated call', async () => {
    const input: Input<'startSession'> = { driver: 'resumable' }
    const first = await fixture.person('startSession', input, { idempotencyKey: 'k' })
    await fixture.runner('retireRunner', { id: runnerId() })
    await fixture.announce(1, [{ ...drivers[1]!, name: 'another' }])
    expect(await fixture.person('startSession', input, { idempotencyKey: 'k' })).toEqual(first)
    await expectFault(fixture.person('startSession', input, { idempotencyKey: 'new' }), 'no_runner')
  })
  it('an idempotency key is scoped to the caller and the operation', async () => {
    const input = { id: agent.session.id, text: 'hello' }
    const once = { idempotencyKey: 'k' }
    const mine = await fixture.person('sendMessage', input, once)
    expect((await fixture.otherPerson('sendMessage', input, once)).id).not.toBe(mine.id)
    expect(await fixture.person('patchSession', { id: input.id, title: 'x' }, once)).toMatchObject({ title: 'x' })
    expect(bob.token).not.toBe(ada.token)
  })
  it('an idempotency key does not prevent a failed call from running again', async () => {
    const request = await agent.ask('k')
    const input = { id: request.id, state: 'handed', fence: agent.fence } as const
    await expectFault(fixture.runner('reportDelivery', input, { idempotencyKey: 'h' }), 'not_resolved')
    await fixture.allow(request)
    expect(await fixture.runner('reportDelivery', input, { idempotencyKey: 'h' })).toMatchObject({
      delivery: { state: 'handed' },
    })
  })
  it('an idempotency key makes concurrent calls run once', async () => {
    const input = { id: agent.session.id, text: 'hello' }
    const sent = await Promise.all(
      Array.from({ length: 10 }, () => fixture.person('sendMessage', input, { idempotencyKey: 'k' })),
    )
    expect(new Set(sent.map(command => command.id)).size).toBe(1)
  })
  it('an idempotency key expires after a day', async () => {
    const input = { id: agent.session.id, text: 'hello' }
    const first = await fixture.person('sendMessage', input, { idempotencyKey: 'k' })
    fixture.clock.jump(24 * 3600 * 1000)
    await fixture.clock.advance(500)
    expect((await fixture.person('sendMessage', input, { idempotencyKey: 'k' })).id).not.toBe(first.id)
  })
  it.each([
    ['addToken', { role: 'agent', name: 'a' }, { role: 'person', name: 'a' }],
    ['makeLink', {}, null],
  ] as const)('an idempotency key makes %s create one secret, which is returned once', async (op, input, other) => {
    const once = { idempotencyKey: 'k' }
    const { body } = await fixture.gateway.dispatchUnparsed(ada, op, input, once)
    const before = await fixture.store.find('token', {})
    await expectFault(fixture.gateway.dispatchUnparsed(ada, op, input, once), 'gone')
    if (other) await expectFault(fixture.gateway.dispatchUnparsed(ada, op, other, once), 'idempotency_mismatch')
    expect(await fixture.store.find('token', {})).toEqual(before)
    const { secret, code } = body as { secret?: string; code?: string } // both operations reply with an object that has one of these fields
    expect(JSON.stringify([await fixture.store.find('idempotency', {}), before])).not.toContain(secret ?? code)
  })
})

describe('addToken', () => {
  it('addToken refuses an expiry in the past', async () => {
    const make = (expiresAt: number) => fixture.person('addToken', { role: 'agent', name: 'late', expiresAt })
    await expectFault(make(fixture.clock.now()), 'bad_input')
    expect(await make(fixture.clock.now() + 1)).toMatchObject({ name: 'late' })
  })
})

describe('backup', () => {
  it.each(['copy.db', './copy.db', '', '~/copy.db', '/tmp/a\0b', 'C:'])('backup refuses the path %j', async file => {
    await expectFault(fixture.person('backup', { file }), 'bad_input')
  })
})
