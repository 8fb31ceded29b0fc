/** Tests rules under contention, on one gateway and on two gateways with one PostgreSQL: a rule that was removed, expired or used up never answers again. */
import { type Caller, callAs, type Gateway, openGateway } from '@holdpoint/engine'
import type { Call, Input, Request, RuleId, SessionId } from '@holdpoint/protocol'
import { openMemory, openPostgres } from '@holdpoint/store'
import fc from 'fast-check'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { freshDatabase, hasPostgres } from '../support/postgres.ts'

const owner: Caller = { role: 'owner', id: 'per_ada', name: 'ada', token: 'tok_ada', via: 'page' }
const runs = { numRuns: Number(process.env.HOLDPOINT_ROUNDS ?? 4) }

interface Setup {
  readonly gateways: readonly Gateway[]
  readonly close: () => Promise<void>
}
async function openOne(): Promise<Setup> {
  const store = await openMemory({})
  const gateway = await openGateway({ store })
  return {
    gateways: [gateway],
    close: async () => {
      await gateway.close()
      await store.close()
    },
  }
}
async function openTwo(): Promise<Setup> {
  const database = await freshDatabase()
  const stores = [await openPostgres({ url: database.url }), await openPostgres({ url: database.url })]
  const gateways = await Promise.all(stores.map(store => openGateway({ store })))
  return {
    gateways,
    close: async () => {
      for (const gateway of gateways) await gateway.close()
      for (const store of stores) await store.close()
      await database.drop()
    },
  }
}

const setups: readonly (readonly [string, () => Promise<Setup>])[] = [
  ['one gateway', openOne],
  ...((await hasPostgres()) ? [['two gateways on one PostgreSQL', openTwo] as const] : []),
]

describe.each(setups)('rules on %s', (_name, open) => {
  let setup: Setup
  let calls: readonly Call[]
  let session: SessionId
  let keys = 0
  beforeAll(async () => {
    setup = await open()
    calls = setup.gateways.map(gateway => callAs(gateway, owner))
  })
  beforeEach(async () => {
    session = (await on(0)('startSession', { driver: 'external', title: 'race', cwd: '/srv' })).id
  })
  afterAll(() => setup.close())

  const on = (index: number): Call => {
    const call = calls[index % calls.length]
    if (!call) throw new Error('There is no gateway')
    return call
  }
  const addRule = (more: Partial<Input<'addRule'>> = {}, at = 0) =>
    on(at)('addRule', { effect: 'allow', command: 'make', scope: { session }, ...more })
  const ask = (at: number, command = 'make'): Promise<Request> =>
    on(at)('openRequest', {
      id: session,
      key: `k${keys++}`,
      ask: { kind: 'approval', tool: 'Bash', input: { command }, title: 'Run', cwd: '/srv', editable: true },
    })
  const usesOf = async (id: RuleId) => (await on(1)('listRules', {})).items.find(rule => rule.id === id)?.uses
  const byRule = (requests: readonly Request[], id: RuleId) =>
    requests.filter(({ resolution }) => resolution?.by === 'rule' && resolution.rule === id).length

  it('P5: the uses of a rule never exceed their number, however many calls compete (property)', async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 6 }), fc.integer({ min: 0, max: 6 }), async (usesLeft, more) => {
        const rule = await addRule({ usesLeft })
        const requests = await Promise.all(Array.from({ length: usesLeft + more }, (_, n) => ask(n)))
        expect(byRule(requests, rule.id)).toBe(usesLeft)
        expect(await usesOf(rule.id)).toBe(usesLeft)
        for (const at of [0, 1]) expect((await ask(at)).status).toBe('pending')
        await on(1)('removeRule', { id: rule.id })
        await withdrawAll()
      }),
      runs,
    )
  })

  it('P5: a rule that was removed, paused or has expired never answers again, on any gateway (property)', async () => {
    const ends: readonly ((id: RuleId, at: number) => Promise<unknown>)[] = [
      (id, at) => on(at)('removeRule', { id }),
      (id, at) => on(at)('patchRule', { id, paused: true }),
      async (id, at) => {
        const { now } = await on(at)('whoAmI', {})
        const rule = { effect: 'allow', command: 'make', scope: { session }, expiresAt: now } as const
        return on(at)('patchRule', { id, rule })
      },
    ]
    await fc.assert(
      fc.asyncProperty(fc.nat(ends.length - 1), fc.nat(1), fc.nat(4), async (how, at, before) => {
        const rule = await addRule({}, at)
        const during = Promise.all(Array.from({ length: before }, (_, n) => ask(n)))
        await ends[how]?.(rule.id, at)
        const after = await Promise.all([ask(0), ask(1), ask(0), ask(1)])
        expect(byRule(after, rule.id)).toBe(0)
        await during
        if (how > 0) await on(0)('removeRule', { id: rule.id })
        await withdrawAll()
      }),
      runs,
    )
  })

  it('P5: an allow by a rule is not handed after the rule was removed on another gateway', async () => {
    const rule = await addRule()
    const request = await ask(0)
    expect(request.status).toBe('resolved')
    await on(1)('removeRule', { id: rule.id })
    await expect(on(0)('handOverRequest', { id: request.id })).rejects.toMatchObject({ code: 'gone' })
    const { delivery } = await on(1)('getRequest', { id: request.id })
    expect(delivery).toMatchObject({ state: 'undeliverable', reason: 'the rules no longer allow it' })
  })

  it('a rule that ends with the turn does not answer after the turn has ended on another gateway', async () => {
    await addRule({ until: 'turn' })
    expect((await ask(0)).status).toBe('resolved')
    await on(1)('appendEvents', { id: session, items: [{ type: 'turn.finished', ending: 'done' }] })
    for (const at of [0, 1]) expect((await ask(at)).status).toBe('pending')
  })

  it('P6: two rules that are remembered at the same time are both kept, and a rule that was removed meanwhile stays removed', async () => {
    const requests = [await ask(0, 'make one'), await ask(1, 'make two')]
    const removed = await addRule({ command: 'make three' })
    const remember = (request: Request, at: number) =>
      on(at)('answerRequest', {
        id: request.id,
        digest: request.digest,
        answer: {
          kind: 'allow',
          remember: { effect: 'allow', command: at === 0 ? 'make one' : 'make two', scope: { session } },
        },
      })
    await Promise.all([
      ...requests.map(remember),
      on(1)('removeRule', { id: removed.id }),
      on(0)('patchRule', { id: removed.id, paused: true }).catch(() => null),
    ])
    const kept = (await on(0)('listRules', {})).items.filter(({ scope }) => scope?.session === session)
    expect(kept.map(({ command }) => command).sort()).toEqual(['make one', 'make two'])
    for (const at of [0, 1]) {
      expect((await ask(at, 'make one')).status).toBe('resolved')
      expect((await ask(at, 'make two')).status).toBe('resolved')
      expect((await ask(at, 'make three')).status).toBe('pending')
    }
  })

  async function withdrawAll(): Promise<void> {
    const { items } = await on(0)('listRequests', { session, status: 'pending' })
    await Promise.all(items.map(({ id }) => on(0)('withdrawRequest', { id })))
  }
})
