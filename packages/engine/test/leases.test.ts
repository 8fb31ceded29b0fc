/** Leases and fences: one runner drives a session, stale writes are refused, and a handed answer is unknown after a crash (G5). */
import type { Answer, Command, Request } from '@holdpoint/protocol'
import { beforeEach, describe, expect, it } from 'vitest'
import { defaultSettings } from '../src/index.ts'
import {
  type AttachedAgent,
  approval,
  drivers,
  expectFault,
  type GatewayFixture,
  openFixture,
  runnerId,
  secretAsk,
} from './gateway-fixture.ts'

const { runnerTtlMs } = defaultSettings
let fixture: GatewayFixture
beforeEach(async () => {
  fixture = await openFixture()
})
const stateOf = async (agent: AttachedAgent) => (await fixture.person('getSession', { id: agent.session.id })).state
const deliveryOf = async ({ id }: Request) => (await fixture.person('getRequest', { id })).delivery.state
const handedIn = async (agent: AttachedAgent, key = 'k') => {
  const request = await agent.ask(key)
  await fixture.allow(request)
  await agent.report(request, 'handed')
  return request
}

describe('a fence', () => {
  it('a fence that is stale causes every agent-side write to be refused', async () => {
    const old = await fixture.startAttached()
    const { id } = old.session
    const request = await old.ask('k')
    const command = await fixture.person('sendMessage', { id, text: 'hi' })
    await fixture.announce()
    const fresh = await fixture.attach(id)
    expect(fresh.fence).toBeGreaterThan(old.fence)
    for (const fence of [old.fence, fresh.fence + 1, 0]) {
      await expectFault(fixture.runner('openRequest', { id, key: 'new', ask: approval(), fence }), 'fenced')
      await expectFault(fixture.runner('openRequest', { id, key: 'k', ask: approval(), fence }), 'fenced')
      await expectFault(
        fixture.runner('appendEvents', { id, items: [{ type: 'message.added', block: 'b', text: 't' }], fence }),
        'fenced',
      )
      await expectFault(
        fixture.runner('appendEvents', {
          id,
          items: [{ type: 'message.delta', block: 'b', offset: 0, text: 't' }],
          fence,
        }),
        'fenced',
      )
      await expectFault(fixture.runner('checkTool', { id, tool: 'Bash', input: {}, fence }), 'fenced')
      await expectFault(fixture.runner('withdrawRequest', { id: request.id, fence }), 'fenced')
      for (const state of ['handed', 'taken', 'unknown', 'undeliverable'] as const)
        await expectFault(fixture.runner('reportDelivery', { id: request.id, state, fence }), 'fenced')
      await expectFault(fixture.runner('takeCommand', { id: command.id, fence }), 'fenced')
      await expectFault(fixture.runner('finishCommand', { id: command.id, fence }), 'fenced')
      await expectFault(fixture.runner('detachSession', { id, fence }), 'fenced')
    }
    await fresh.append({ type: 'message.added', block: 'b', text: 'still here' })
  })
  it('a fence is required by openRequest and is invalid after a detach', async () => {
    const agent = await fixture.startAttached()
    const { id } = agent.session
    await expectFault(fixture.runner('openRequest', { id, key: 'k', ask: approval() }), 'bad_input')
    await fixture.runner('detachSession', { id, fence: agent.fence })
    await expectFault(agent.ask('k'), 'fenced')
  })
  it('a fence cannot be used by people or external agents', async () => {
    const agent = await fixture.startAttached()
    const { id } = agent.session
    await expectFault(fixture.person('openRequest', { id, key: 'k', ask: approval(), fence: agent.fence }), 'forbidden')
    await expectFault(
      fixture.externalAgent('openRequest', { id, key: 'k', ask: approval(), fence: agent.fence }),
      'not_found',
    )
    await expectFault(fixture.person('attachSession', { id }), 'forbidden')
    await expectFault(fixture.externalAgent('attachSession', { id }), 'not_found')
  })
})

describe('a lease', () => {
  it('a lease excludes other runners while its runner is live', async () => {
    const agent = await fixture.startAttached()
    await fixture.announce(1)
    await expectFault(fixture.attach(agent.session.id, 1), 'not_found')
    await expectFault(fixture.attach(agent.session.id, 0), 'lease_held')
    const moving = await fixture.startAttached('portable')
    await expectFault(fixture.attach(moving.session.id, 1), 'lease_held')
  })
  it('a lease does not expire while it is renewed', async () => {
    const agent = await fixture.startAttached()
    for (let i = 0; i < 5; i++) {
      await fixture.clock.advance(runnerTtlMs - 1)
      await fixture.runner('renewRunner', { id: runnerId(), incarnation: 1 })
    }
    expect(await stateOf(agent)).toBe('idle')
  })
  it.each([
    ['resumable', 'parked'],
    ['unresumable', 'ended'],
  ])('a lease that expires leaves a session of the %s driver in the state %s', async (driver, state) => {
    const agent = await fixture.startAttached(driver)
    const request = await agent.ask('k')
    await fixture.clock.advance(runnerTtlMs - 1)
    expect(await stateOf(agent)).toBe('idle')
    await fixture.clock.advance(1000)
    expect(await stateOf(agent)).toBe(state)
    const after = await fixture.person('getRequest', { id: request.id })
    if (state === 'parked') {
      expect(after.status).toBe('pending')
      await fixture.allow(request)
      expect((await fixture.person('listSessions', {})).items).toMatchObject([{ id: agent.session.id }])
    } else {
      expect(after).toMatchObject({ resolution: { by: 'agent', reason: 'lost' } })
      expect(await fixture.person('getSession', { id: agent.session.id })).toMatchObject({ ending: { reason: 'lost' } })
    }
  })
  it('a lease can still be renewed after it expired if the sweep has not run yet', async () => {
    const agent = await fixture.startAttached()
    const request = await handedIn(agent)
    fixture.clock.jump(runnerTtlMs * 3)
    await fixture.runner('renewRunner', { id: runnerId(), incarnation: 1 })
    await fixture.clock.advance(1000)
    expect(await stateOf(agent)).toBe('idle')
    expect(await agent.report(request, 'taken')).toMatchObject({ delivery: { state: 'taken' } })
  })
  it('a lease that is renewed after the sweep does not cover the released sessions again', async () => {
    const agent = await fixture.startAttached()
    await fixture.clock.advance(runnerTtlMs + 1000)
    await fixture.runner('renewRunner', { id: runnerId(), incarnation: 1 })
    await expectFault(agent.append({ type: 'message.added', block: 'b', text: 't' }), 'fenced')
    expect((await fixture.attach(agent.session.id)).fence).toBe(agent.fence + 1)
  })
  it('a lease becomes invalid when a newer incarnation of the runner is announced, and calls by the old incarnation are refused', async () => {
    const agent = await fixture.startAttached()
    expect(await fixture.announce()).toMatchObject({ incarnation: 2, live: true })
    expect(await stateOf(agent)).toBe('parked')
    await expectFault(fixture.runner('renewRunner', { id: runnerId(), incarnation: 1 }), 'fenced')
    await expectFault(fixture.runner('listWork', { id: runnerId(), incarnation: 1 }), 'fenced')
    await expectFault(fixture.runner('retireRunner', { id: runnerId(), incarnation: 1 }), 'fenced')
    await expectFault(
      fixture.runner('attachSession', { id: agent.session.id, runner: runnerId(), incarnation: 1 }),
      'fenced',
    )
    expect((await fixture.attach(agent.session.id)).session.state).toBe('idle')
  })
  it('a lease ends immediately when its runner retires', async () => {
    const agent = await fixture.startAttached()
    expect(await fixture.person('retireRunner', { id: runnerId() })).toMatchObject({ live: false })
    expect(await stateOf(agent)).toBe('parked')
    await expectFault(fixture.runnerCall(9)('renewRunner', { id: runnerId(9), incarnation: 1 }), 'not_found')
  })
  it('a lease is extended by one term when the gateway restarts', async () => {
    const agent = await fixture.startAttached()
    await fixture.gateway.close()
    fixture.clock.jump(runnerTtlMs * 100)
    await fixture.open()
    await fixture.clock.advance(runnerTtlMs - 1000)
    expect(await stateOf(agent)).toBe('idle')
    await fixture.runner('renewRunner', { id: runnerId(), incarnation: 1 })
    await fixture.clock.advance(runnerTtlMs - 1000)
    expect(await stateOf(agent)).toBe('idle')
    await fixture.clock.advance(runnerTtlMs)
    expect(await stateOf(agent)).toBe('parked')
  })
  it('a lease moves to another runner only if the driver is portable', async () => {
    const [fixed, moving] = [await fixture.startAttached('resumable'), await fixture.startAttached('portable')]
    await fixture.announce(1)
    await fixture.person('retireRunner', { id: runnerId() })
    await expectFault(fixture.attach(fixed.session.id, 1), 'not_found')
    expect((await fixture.attach(moving.session.id, 1)).session.runner).toBe(runnerId(1))
  })
  it('a lease is kept if its expired runner announces itself again during the sweep', async () => {
    await fixture.announce()
    fixture.clock.jump(25 * 3600 * 1000)
    const sweeping = fixture.clock.advance(500)
    const again = await fixture.announce()
    await sweeping
    const { items } = await fixture.runner('listRunners', {})
    expect(items).toMatchObject([{ id: runnerId(), incarnation: again.incarnation, live: true }])
  })
})

describe('an answer whose agent is lost', () => {
  it('an answer whose agent is lost becomes unknown if it was handed but not taken, and only then (G5)', async () => {
    const agent = await fixture.startAttached()
    const states = ['pending', 'waiting', 'handed', 'taken'] as const
    const requests = new Map<string, Request>()
    for (const state of states) {
      const request = await agent.ask(state)
      requests.set(state, request)
      if (state !== 'pending') await fixture.allow(request)
      if (state === 'handed' || state === 'taken') await agent.report(request, 'handed')
      if (state === 'taken') await agent.report(request, 'taken')
    }
    await fixture.announce()
    const after = await Promise.all([...requests.values()].map(deliveryOf))
    expect(after).toEqual(['waiting', 'waiting', 'unknown', 'taken'])
    const next = await fixture.attach(agent.session.id)
    const waiting = requests.get('waiting') as Request
    expect(await next.report(waiting, 'handed')).toMatchObject({ delivery: { state: 'handed' } })
  })
  it('an answer whose agent is lost is never handed a second time if it is an allow, but other answers may be handed again (G5)', async () => {
    const agent = await fixture.startAttached()
    const allowed = await handedIn(agent, 'allowed')
    const denied = await agent.ask('denied')
    await fixture.deny(denied)
    await agent.report(denied, 'handed')
    const asked = await agent.ask('asked', secretAsk)
    const answer: Answer = { kind: 'answers', answers: [{ id: 'pin', chosen: [], other: '1' }] }
    await fixture.person('answerRequest', { id: asked.id, digest: asked.digest, answer })
    await agent.report(asked, 'handed')
    const silent = await agent.ask('silent', approval(), { deadlineMs: 1000 })
    await fixture.clock.advance(1000)
    await agent.report(silent, 'handed')
    await fixture.announce()
    const next = await fixture.attach(agent.session.id)
    for (let i = 0; i < 3; i++) {
      await expect(next.report(allowed, 'handed')).rejects.toMatchObject({
        code: 'already_resolved',
        message: expect.stringContaining('never handed twice'),
      })
      expect(await next.ask('allowed')).toMatchObject({ delivery: { state: 'unknown' } })
    }
    for (const request of [denied, asked, silent])
      expect(await next.report(request, 'handed')).toMatchObject({ delivery: { state: 'handed' } })
    expect(await next.report(allowed, 'taken')).toMatchObject({ delivery: { state: 'taken' } })
  })
  it('an answer whose agent is lost is not handed again after the session has ended', async () => {
    const agent = await fixture.startAttached()
    const denied = await agent.ask('denied')
    await fixture.deny(denied)
    await agent.report(denied, 'handed')
    await fixture.person('endSession', { id: agent.session.id })
    await expectFault(agent.report(denied, 'handed'), 'session_ended')
    await fixture.runner('detachSession', { id: agent.session.id, fence: agent.fence })
    expect(await deliveryOf(denied)).toBe('unknown')
  })
  it.each(['detach', 'end', 'retire', 'expire'])(
    'an answer whose agent is lost becomes unknown if it was handed before the agent was lost (by %s)',
    async way => {
      const agent = await fixture.startAttached()
      const request = await handedIn(agent)
      const { id } = agent.session
      if (way === 'detach') await fixture.runner('detachSession', { id, fence: agent.fence })
      if (way === 'end') await fixture.person('endSession', { id })
      if (way === 'retire') await fixture.person('retireRunner', { id: runnerId() })
      if (way === 'expire') await fixture.clock.advance(runnerTtlMs + 1000)
      expect(await deliveryOf(request)).toBe('unknown')
      expect((await fixture.eventTypes()).filter(type => type === 'request.unknown')).toHaveLength(1)
    },
  )
  it('an answer whose agent is lost has the delivery state unknown when an external agent attaches again', async () => {
    const { id } = await fixture.externalAgent('startSession', { driver: 'external' })
    await fixture.externalAgent('attachSession', { id })
    const request = await fixture.externalAgent('openRequest', { id, key: 'k', ask: approval() })
    await fixture.allow(request)
    await fixture.externalAgent('reportDelivery', { id: request.id, state: 'handed' })
    await fixture.externalAgent('attachSession', { id })
    expect(await fixture.externalAgent('openRequest', { id, key: 'k', ask: approval() })).toMatchObject({
      delivery: { state: 'unknown' },
    })
    await expectFault(fixture.externalAgent('reportDelivery', { id: request.id, state: 'handed' }), 'already_resolved')
  })
})

describe('an end command', () => {
  it('an end command is marked done when the runner of the ended session is lost', async () => {
    const agent = await fixture.startAttached()
    await fixture.person('endSession', { id: agent.session.id })
    expect((await fixture.runner('listCommands', { id: agent.session.id })).items).toMatchObject([{ state: 'waiting' }])
    await fixture.announce()
    expect((await fixture.person('listCommands', { id: agent.session.id })).items).toEqual([])
  })
})

it('a runner can read a session that it drove last, parked or ended, until it is deleted or driven by another runner', async () => {
  const agent = await fixture.startAttached()
  const { id } = agent.session
  const read = (n: number) => fixture.runnerCall(n)('getSession', { id })
  await fixture.runner('detachSession', { id, fence: agent.fence })
  expect(await read(0)).toMatchObject({ id, state: 'parked' })
  await fixture.announce(1)
  await expectFault(read(1), 'not_found')
  await fixture.person('endSession', { id })
  expect(await read(0)).toMatchObject({ id, state: 'ended' })
  await fixture.person('deleteSession', { id })
  await expectFault(read(0), 'not_found')
})

describe('listWork', () => {
  const work = async (n = 0) => {
    const call = fixture.runnerCall(n)
    const { items } = await call('listRunners', {})
    const incarnation = items.find(runner => runner.id === runnerId(n))?.incarnation ?? 0
    return (await call('listWork', { id: runnerId(n), incarnation })).items.map(session => session.id)
  }
  it('listWork returns a new session until a runner attaches it', async () => {
    await fixture.announce()
    const { id } = await fixture.person('startSession', { driver: 'resumable' })
    expect(await work()).toEqual([id])
    await fixture.attach(id)
    expect(await work()).toEqual([])
  })
  it('listWork wakes a waiting runner when a session starts', async () => {
    await fixture.announce()
    const waiting = fixture.runner('listWork', { id: runnerId(), incarnation: 1, wait: 10_000 })
    await fixture.clock.advance(1000)
    const { id } = await fixture.person('startSession', { driver: 'resumable' })
    expect((await waiting).items).toMatchObject([{ id }])
  })
  it.each(['an answer', 'a deadline', 'an interrupt'])('listWork returns a parked session after %s', async what => {
    const agent = await fixture.startAttached()
    const { id } = agent.session
    const request = await agent.ask('k', approval(), { deadlineMs: 60_000 })
    await fixture.runner('detachSession', { id, fence: agent.fence })
    expect(await work()).toEqual([])
    const keepAlive = () => fixture.runner('renewRunner', { id: runnerId(), incarnation: 1 })
    if (what === 'an answer') await fixture.allow(request)
    if (what === 'an interrupt') await fixture.person('interruptSession', { id })
    if (what === 'a deadline') await fixture.clock.advance(60_000)
    await keepAlive()
    expect(await work()).toEqual([id])
  })
  it('listWork returns a parked session after a message', async () => {
    const agent = await fixture.startAttached()
    await fixture.runner('detachSession', { id: agent.session.id, fence: agent.fence })
    expect(await work()).toEqual([])
    await fixture.person('sendMessage', { id: agent.session.id, text: 'hi' })
    expect(await work()).toEqual([agent.session.id])
  })
  it.each(['before', 'after'])(
    'listWork does not return a session with a pending request, even if a message arrived %s the session was parked',
    async when => {
      const agent = await fixture.startAttached()
      const { id } = agent.session
      const request = await agent.ask('k')
      const send = () => fixture.person('sendMessage', { id, text: 'hi' })
      if (when === 'before') await send()
      await fixture.runner('detachSession', { id, fence: agent.fence })
      if (when === 'after') await send()
      expect(await work()).toEqual([])
      await fixture.allow(request)
      expect(await work()).toEqual([id])
    },
  )
  it('listWork returns a session that was parked before its agent read a message', async () => {
    const agent = await fixture.startAttached()
    const request = await agent.ask('k')
    await fixture.allow(request)
    await fixture.announce()
    expect(await work()).toEqual([agent.session.id])
  })
  it('listWork returns a session whose runner was lost during a turn with nothing pending', async () => {
    const agent = await fixture.startAttached('resumable', { prompt: 'go' })
    const { items } = await fixture.runner('listCommands', { id: agent.session.id })
    await fixture.runner('takeCommand', { id: (items[0] as Command).id, fence: agent.fence })
    await fixture.announce()
    expect(await work()).toEqual([agent.session.id])
    const again = await fixture.attach(agent.session.id)
    expect(again.session.state).toBe('working')
    expect((await fixture.runner('listCommands', { id: agent.session.id })).items).toMatchObject([{ state: 'taken' }])
  })
  it('listWork returns a session whose turn finished but whose message was not reported done', async () => {
    const agent = await fixture.startAttached('resumable', { prompt: 'go' })
    const { items } = await fixture.runner('listCommands', { id: agent.session.id })
    await fixture.runner('takeCommand', { id: (items[0] as Command).id, fence: agent.fence })
    await agent.append({ type: 'turn.finished', ending: 'done' })
    await fixture.announce()
    expect(await work()).toEqual([agent.session.id])
  })
  it('listWork returns a session that the runner can drive even if many sessions of other drivers come first', async () => {
    for (let i = 0; i < 510; i++) await fixture.person('startSession', { driver: 'nowhere' })
    const { id } = await fixture.person('startSession', { driver: 'resumable' })
    await fixture.announce()
    expect(await work()).toEqual([id])
  })
  it('listWork excludes sessions whose driver is not ready and sessions of another runner', async () => {
    await fixture.announce(0)
    const agent = await fixture.startAttached()
    await fixture.runner('detachSession', { id: agent.session.id, fence: agent.fence })
    await fixture.person('sendMessage', { id: agent.session.id, text: 'hi' })
    await fixture.announce(1)
    expect(await work(1)).toEqual([])
    await fixture.announce(
      0,
      drivers.map(driver => ({ ...driver, ready: false, missing: 'a key' })),
    )
    expect(await work(0)).toEqual([])
  })
})
