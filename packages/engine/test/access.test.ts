/** The gate: who may do what, as the contract says and no other way; and every call made once per idempotency key. */
import {
  contract,
  type Input,
  type Operation,
  type OperationName,
  type Request,
  type Session,
} from '@holdpoint/protocol'
import { beforeEach, describe, expect, it } from 'vitest'
import type { Caller } from '../src/index.ts'
import {
  ada,
  approval,
  bob,
  type Driven,
  drivers,
  type GatewayFixture,
  refused,
  rig,
  robot,
  runnerCaller,
  runnerId,
} from './gateway-fixture.ts'

let at: GatewayFixture
let driven: Driven
beforeEach(async () => {
  at = await rig()
  driven = await at.drive()
})

describe.each(Object.entries<Operation>(contract))('%s', (name, op) => {
  const op_ = name as OperationName // a key of the contract
  it.each([ada, runnerCaller, robot])('is open to the roles of the contract and no other: $role', async caller => {
    const answer = await at.gateway.dispatchUnknown(caller, op_, { surely_unknown: 1 }).catch((fault: unknown) => fault)
    const may = op.roles.includes(caller.role) || op.roles.includes('anyone')
    expect(answer).toMatchObject({ name: 'Fault', code: may ? 'bad_input' : 'forbidden' })
  })
  it('needs a credential, unless it is open to anyone', async () => {
    const answer = await at.gateway.dispatchUnknown(null, op_, { surely_unknown: 1 }).catch((fault: unknown) => fault)
    expect(answer).toMatchObject({ code: op.roles.includes('anyone') ? 'bad_input' : 'unauthenticated' })
  })
})

it('says in plain words who may not do what', async () => {
  const said = (caller: Caller, words: string) =>
    expect(at.gateway.dispatchUnknown(caller, 'addRule', {})).rejects.toMatchObject({ message: words })
  await said(robot, 'The credential of an agent may not addRule')
  await said(runnerCaller, 'The credential of a runner may not addRule')
})

describe('an operation that is not in the contract', () => {
  it.each(['', 'nothing', '__proto__', 'constructor', 'toString', 'hasOwnProperty'])('%j is not found', async op => {
    await refused(at.gateway.dispatchUnknown(ada, op as OperationName, {}), 'not_found')
  })
})

describe('under an idempotency key', () => {
  interface Case {
    readonly op: OperationName
    readonly caller: Caller
    readonly input: (parts: { request: Request; session: Session; fence: number }) => object
    readonly other: object
    readonly prepare?: (request: Request) => Promise<unknown>
  }
  const message = (parts: { session: Session }) => ({ id: parts.session.id, text: 'hello' })
  const cases: readonly Case[] = [
    { op: 'startSession', caller: ada, input: () => ({ driver: 'steady', prompt: 'hi' }), other: { title: 'other' } },
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
      prepare: request => at.allow(request),
      input: ({ request, fence }) => ({ id: request.id, state: 'handed', fence }),
      other: { state: 'unknown' },
    },
    {
      op: 'announceRunner',
      caller: runnerCaller,
      input: () => ({ id: runnerId(7), name: 'seven', drivers }),
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
  it.each(cases)('$op happens once, and answers as it did', async ({ op, caller, input, other, prepare }) => {
    const request = await driven.ask('k')
    await prepare?.(request)
    const body = input({ request, session: driven.session, fence: driven.fence })
    const once = { idempotencyKey: 'key' }
    const first = await at.gateway.dispatchUnknown(caller, op, body, once)
    const before = await at.store.head()
    const live = (await at.watch()).watch.hello.blocks
    const second = await at.gateway.dispatchUnknown(caller, op, body, once)
    expect(second).toEqual(first)
    expect(await at.store.head()).toEqual(before)
    expect((await at.watch()).watch.hello.blocks).toEqual(live)
    await refused(at.gateway.dispatchUnknown(caller, op, { ...body, ...other }, once), 'idempotency_mismatch')
  })
  it('interrupt and end happen once too', async () => {
    const { id } = driven.session
    for (const op of ['interruptSession', 'endSession'] as const) {
      const first = await at.person(op, { id }, { idempotencyKey: op })
      const { seq } = await at.store.head()
      expect(await at.person(op, { id }, { idempotencyKey: op })).toEqual(first)
      expect((await at.store.head()).seq).toBe(seq)
    }
  })
  it('everything is stopped once: what began since is left alone', async () => {
    const once = { idempotencyKey: 'k' }
    await driven.ask('k')
    const first = await at.person('stopEverything', {}, once)
    expect(first.interrupted).toEqual([driven.session.id])
    await driven.ask('later')
    await (await at.drive()).ask('elsewhere')
    const { seq } = await at.store.head()
    expect(await at.person('stopEverything', {}, once)).toEqual(first)
    expect((await at.store.head()).seq).toBe(seq)
    expect((await at.person('stopEverything', {})).interrupted).toHaveLength(2)
  })
  it('a session is started once, also where its runner is gone by the time of the second call', async () => {
    const input: Input<'startSession'> = { driver: 'steady' }
    const first = await at.person('startSession', input, { idempotencyKey: 'k' })
    await at.runner('retireRunner', { id: runnerId() })
    await at.announce(1, [{ ...drivers[1]!, name: 'another' }])
    expect(await at.person('startSession', input, { idempotencyKey: 'k' })).toEqual(first)
    await refused(at.person('startSession', input, { idempotencyKey: 'new' }), 'no_runner')
  })
  it('a key is the caller’s own, and of one operation', async () => {
    const input = { id: driven.session.id, text: 'hello' }
    const once = { idempotencyKey: 'k' }
    const mine = await at.person('sendMessage', input, once)
    expect((await at.other('sendMessage', input, once)).id).not.toBe(mine.id)
    expect(await at.person('patchSession', { id: input.id, title: 'x' }, once)).toMatchObject({ title: 'x' })
    expect(bob.token).not.toBe(ada.token)
  })
  it('a call that failed is tried again', async () => {
    const request = await driven.ask('k')
    const input = { id: request.id, state: 'handed', fence: driven.fence } as const
    await refused(at.runner('reportDelivery', input, { idempotencyKey: 'h' }), 'not_resolved')
    await at.allow(request)
    expect(await at.runner('reportDelivery', input, { idempotencyKey: 'h' })).toMatchObject({
      delivery: { state: 'handed' },
    })
  })
  it('calls at the same moment happen once', async () => {
    const input = { id: driven.session.id, text: 'hello' }
    const sent = await Promise.all(
      Array.from({ length: 10 }, () => at.person('sendMessage', input, { idempotencyKey: 'k' })),
    )
    expect(new Set(sent.map(command => command.id)).size).toBe(1)
  })
  it('a key is forgotten after a day', async () => {
    const input = { id: driven.session.id, text: 'hello' }
    const first = await at.person('sendMessage', input, { idempotencyKey: 'k' })
    at.clock.jump(24 * 3600 * 1000)
    await at.clock.pass(500)
    expect((await at.person('sendMessage', input, { idempotencyKey: 'k' })).id).not.toBe(first.id)
  })
  it.each([
    ['addToken', { role: 'agent', name: 'a' }, { role: 'person', name: 'a' }],
    ['makeLink', {}, null],
  ] as const)('%s makes one secret, shows it once and keeps it nowhere', async (op, input, other) => {
    const once = { idempotencyKey: 'k' }
    const { body } = await at.gateway.dispatchUnknown(ada, op, input, once)
    const before = await at.store.find('token', {})
    await refused(at.gateway.dispatchUnknown(ada, op, input, once), 'gone')
    if (other) await refused(at.gateway.dispatchUnknown(ada, op, other, once), 'idempotency_mismatch')
    expect(await at.store.find('token', {})).toEqual(before)
    const { secret, code } = body as { secret?: string; code?: string } // one of the two operations above
    expect(JSON.stringify([await at.store.find('idem', {}), before])).not.toContain(secret ?? code)
  })
})

describe('a credential', () => {
  it('that would have expired already is not made', async () => {
    const make = (expiresAt: number) => at.person('addToken', { role: 'agent', name: 'late', expiresAt })
    await refused(make(at.clock.now()), 'bad_input')
    expect(await make(at.clock.now() + 1)).toMatchObject({ name: 'late' })
  })
})

describe('a backup', () => {
  it.each(['copy.db', './copy.db', '', '~/copy.db', '/tmp/a\0b', 'C:'])('does not go to %j', async file => {
    await refused(at.person('backup', { file }), 'bad_input')
  })
})
