/** Leases and fences: one runner drives a session, a stale one is told so, and what a crash hid is unknown (G5). */
import type { Answer, Command, Request } from '@holdpoint/protocol'
import { beforeEach, describe, expect, it } from 'vitest'
import { defaultSettings } from '../src/index.ts'
import {
  approval,
  type Driven,
  drivers,
  type GatewayFixture,
  refused,
  rig,
  runnerId,
  secretAsk,
} from './gateway-fixture.ts'

const { runnerTtlMs } = defaultSettings
let at: GatewayFixture
beforeEach(async () => {
  at = await rig()
})
const stateOf = async (driven: Driven) => (await at.person('getSession', { id: driven.session.id })).state
const deliveryOf = async ({ id }: Request) => (await at.person('getRequest', { id })).delivery.state
const handedIn = async (driven: Driven, key = 'k') => {
  const request = await driven.ask(key)
  await at.allow(request)
  await driven.report(request, 'handed')
  return request
}

describe('a fence', () => {
  it('that is stale is refused on every write of the agent’s side', async () => {
    const old = await at.drive()
    const { id } = old.session
    const request = await old.ask('k')
    const command = await at.person('sendMessage', { id, text: 'hi' })
    await at.announce()
    const fresh = await at.attach(id)
    expect(fresh.fence).toBeGreaterThan(old.fence)
    for (const fence of [old.fence, fresh.fence + 1, 0]) {
      await refused(at.runner('openRequest', { id, key: 'new', ask: approval(), fence }), 'fenced')
      await refused(at.runner('openRequest', { id, key: 'k', ask: approval(), fence }), 'fenced')
      await refused(
        at.runner('appendEvents', { id, items: [{ type: 'message.added', block: 'b', text: 't' }], fence }),
        'fenced',
      )
      await refused(
        at.runner('appendEvents', { id, items: [{ type: 'message.delta', block: 'b', offset: 0, text: 't' }], fence }),
        'fenced',
      )
      await refused(at.runner('checkTool', { id, tool: 'Bash', input: {}, fence }), 'fenced')
      await refused(at.runner('withdrawRequest', { id: request.id, fence }), 'fenced')
      for (const state of ['handed', 'taken', 'unknown', 'undeliverable'] as const)
        await refused(at.runner('reportDelivery', { id: request.id, state, fence }), 'fenced')
      await refused(at.runner('takeCommand', { id: command.id, fence }), 'fenced')
      await refused(at.runner('finishCommand', { id: command.id, fence }), 'fenced')
      await refused(at.runner('detachSession', { id, fence }), 'fenced')
    }
    await fresh.say({ type: 'message.added', block: 'b', text: 'still here' })
  })
  it('is needed, and nobody writes for a session that nobody holds', async () => {
    const driven = await at.drive()
    const { id } = driven.session
    await refused(at.runner('openRequest', { id, key: 'k', ask: approval() }), 'bad_input')
    await at.runner('detachSession', { id, fence: driven.fence })
    await refused(driven.ask('k'), 'fenced')
  })
  it('is not for people, nor for agents that live elsewhere', async () => {
    const driven = await at.drive()
    const { id } = driven.session
    await refused(at.person('openRequest', { id, key: 'k', ask: approval(), fence: driven.fence }), 'forbidden')
    await refused(at.agent('openRequest', { id, key: 'k', ask: approval(), fence: driven.fence }), 'not_found')
    await refused(at.person('attachSession', { id }), 'forbidden')
    await refused(at.agent('attachSession', { id }), 'not_found')
  })
})

describe('a lease', () => {
  it('is held against others while its runner lives', async () => {
    const driven = await at.drive()
    await at.announce(1)
    await refused(at.attach(driven.session.id, 1), 'lease_held')
    await refused(at.attach(driven.session.id, 0), 'lease_held')
  })
  it('that is renewed does not run out', async () => {
    const driven = await at.drive()
    for (let i = 0; i < 5; i++) {
      await at.clock.pass(runnerTtlMs - 1)
      await at.runner('renewRunner', { id: runnerId(), incarnation: 1 })
    }
    expect(await stateOf(driven)).toBe('idle')
  })
  it.each([
    ['steady', 'parked'],
    ['fragile', 'ended'],
  ])('that runs out leaves a session of %s %s', async (driver, state) => {
    const driven = await at.drive(driver)
    const request = await driven.ask('k')
    await at.clock.pass(runnerTtlMs - 1)
    expect(await stateOf(driven)).toBe('idle')
    await at.clock.pass(1000)
    expect(await stateOf(driven)).toBe(state)
    const after = await at.person('getRequest', { id: request.id })
    if (state === 'parked') {
      expect(after.status).toBe('pending')
      await at.allow(request)
      expect((await at.person('listSessions', {})).items).toMatchObject([{ id: driven.session.id }])
    } else {
      expect(after).toMatchObject({ resolution: { by: 'agent', reason: 'lost' } })
      expect(await at.person('getSession', { id: driven.session.id })).toMatchObject({ ending: { reason: 'lost' } })
    }
  })
  it('that ran out while nobody looked is simply renewed, and the agent notices nothing', async () => {
    const driven = await at.drive()
    const request = await handedIn(driven)
    at.clock.jump(runnerTtlMs * 3)
    await at.runner('renewRunner', { id: runnerId(), incarnation: 1 })
    await at.clock.pass(1000)
    expect(await stateOf(driven)).toBe('idle')
    expect(await driven.report(request, 'taken')).toMatchObject({ delivery: { state: 'taken' } })
  })
  it('that ran out is renewed too late for what was freed meanwhile', async () => {
    const driven = await at.drive()
    await at.clock.pass(runnerTtlMs + 1000)
    await at.runner('renewRunner', { id: runnerId(), incarnation: 1 })
    await refused(driven.say({ type: 'message.added', block: 'b', text: 't' }), 'fenced')
    expect((await at.attach(driven.session.id)).fence).toBe(driven.fence + 1)
  })
  it('of an earlier incarnation is void, and that incarnation is told', async () => {
    const driven = await at.drive()
    expect(await at.announce()).toMatchObject({ incarnation: 2, live: true })
    expect(await stateOf(driven)).toBe('parked')
    await refused(at.runner('renewRunner', { id: runnerId(), incarnation: 1 }), 'fenced')
    await refused(at.runner('listWork', { id: runnerId(), incarnation: 1 }), 'fenced')
    await refused(at.runner('retireRunner', { id: runnerId(), incarnation: 1 }), 'fenced')
    await refused(at.runner('attachSession', { id: driven.session.id, runner: runnerId(), incarnation: 1 }), 'fenced')
    expect((await at.attach(driven.session.id)).session.state).toBe('idle')
  })
  it('ends at once when its runner retires', async () => {
    const driven = await at.drive()
    expect(await at.person('retireRunner', { id: runnerId() })).toMatchObject({ live: false })
    expect(await stateOf(driven)).toBe('parked')
    await refused(at.runner('renewRunner', { id: runnerId(9), incarnation: 1 }), 'not_found')
  })
  it('gets one more term when a gateway opens: nobody could renew while it was away', async () => {
    const driven = await at.drive()
    await at.gateway.close()
    at.clock.jump(runnerTtlMs * 100)
    await at.open()
    await at.clock.pass(runnerTtlMs - 1000)
    expect(await stateOf(driven)).toBe('idle')
    await at.runner('renewRunner', { id: runnerId(), incarnation: 1 })
    await at.clock.pass(runnerTtlMs - 1000)
    expect(await stateOf(driven)).toBe('idle')
    await at.clock.pass(runnerTtlMs)
    expect(await stateOf(driven)).toBe('parked')
  })
  it('is taken over by another runner only where the driver can move', async () => {
    const [fixed, moving] = [await at.drive('steady'), await at.drive('portable')]
    await at.announce(1)
    await at.person('retireRunner', { id: runnerId() })
    await refused(at.attach(fixed.session.id, 1), 'lease_held')
    expect((await at.attach(moving.session.id, 1)).session.runner).toBe(runnerId(1))
  })
  it('of a runner that was long gone and has come back is not swept away with it', async () => {
    await at.announce()
    at.clock.jump(25 * 3600 * 1000)
    const sweeping = at.clock.pass(500)
    const again = await at.announce()
    await sweeping
    const { items } = await at.runner('listRunners', {})
    expect(items).toMatchObject([{ id: runnerId(), incarnation: again.incarnation, live: true }])
  })
})

describe('what a crash hid', () => {
  it('is unknown exactly where it was handed and not taken (G5)', async () => {
    const driven = await at.drive()
    const states = ['pending', 'waiting', 'handed', 'taken'] as const
    const requests = new Map<string, Request>()
    for (const state of states) {
      const request = await driven.ask(state)
      requests.set(state, request)
      if (state !== 'pending') await at.allow(request)
      if (state === 'handed' || state === 'taken') await driven.report(request, 'handed')
      if (state === 'taken') await driven.report(request, 'taken')
    }
    await at.announce()
    const after = await Promise.all([...requests.values()].map(deliveryOf))
    expect(after).toEqual(['waiting', 'waiting', 'unknown', 'taken'])
    const next = await at.attach(driven.session.id)
    const waiting = requests.get('waiting') as Request
    expect(await next.report(waiting, 'handed')).toMatchObject({ delivery: { state: 'handed' } })
  })
  it('is never handed a second time where it is an allow; a deny or an answer may be (G5)', async () => {
    const driven = await at.drive()
    const allowed = await handedIn(driven, 'allowed')
    const denied = await driven.ask('denied')
    await at.deny(denied)
    await driven.report(denied, 'handed')
    const asked = await driven.ask('asked', secretAsk)
    const answer: Answer = { kind: 'answers', answers: [{ id: 'pin', chosen: [], other: '1' }] }
    await at.person('answerRequest', { id: asked.id, digest: asked.digest, answer })
    await driven.report(asked, 'handed')
    const silent = await driven.ask('silent', approval(), { deadlineMs: 1000 })
    await at.clock.pass(1000)
    await driven.report(silent, 'handed')
    await at.announce()
    const next = await at.attach(driven.session.id)
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
  it('is not handed again once the session has ended: nobody would be left to take it or to doubt it', async () => {
    const driven = await at.drive()
    const denied = await driven.ask('denied')
    await at.deny(denied)
    await driven.report(denied, 'handed')
    await at.person('endSession', { id: driven.session.id })
    await refused(driven.report(denied, 'handed'), 'session_ended')
    await at.runner('detachSession', { id: driven.session.id, fence: driven.fence })
    expect(await deliveryOf(denied)).toBe('unknown')
  })
  it.each(['detach', 'end', 'retire', 'expire'])('is unknown too after a %s', async way => {
    const driven = await at.drive()
    const request = await handedIn(driven)
    const { id } = driven.session
    if (way === 'detach') await at.runner('detachSession', { id, fence: driven.fence })
    if (way === 'end') await at.person('endSession', { id })
    if (way === 'retire') await at.person('retireRunner', { id: runnerId() })
    if (way === 'expire') await at.clock.pass(runnerTtlMs + 1000)
    expect(await deliveryOf(request)).toBe('unknown')
    expect((await at.log()).filter(type => type === 'request.unknown')).toHaveLength(1)
  })
  it('is found out by an agent that lives elsewhere when it attaches again', async () => {
    const { id } = await at.agent('startSession', { driver: 'external' })
    await at.agent('attachSession', { id })
    const request = await at.agent('openRequest', { id, key: 'k', ask: approval() })
    await at.allow(request)
    await at.agent('reportDelivery', { id: request.id, state: 'handed' })
    await at.agent('attachSession', { id })
    expect(await at.agent('openRequest', { id, key: 'k', ask: approval() })).toMatchObject({
      delivery: { state: 'unknown' },
    })
    await refused(at.agent('reportDelivery', { id: request.id, state: 'handed' }), 'already_resolved')
  })
})

describe('the end of a session', () => {
  it('is carried out by nobody where its runner is gone, and answered for all the same', async () => {
    const driven = await at.drive()
    await at.person('endSession', { id: driven.session.id })
    expect((await at.runner('listCommands', { id: driven.session.id })).items).toMatchObject([{ state: 'waiting' }])
    await at.announce()
    expect((await at.runner('listCommands', { id: driven.session.id })).items).toEqual([])
  })
})

describe('work', () => {
  const work = async (n = 0) => {
    const { items } = await at.runner('listRunners', {})
    const incarnation = items.find(runner => runner.id === runnerId(n))?.incarnation ?? 0
    return (await at.runner('listWork', { id: runnerId(n), incarnation })).items.map(session => session.id)
  }
  it('is a new session, until somebody attaches', async () => {
    await at.announce()
    const { id } = await at.person('startSession', { driver: 'steady' })
    expect(await work()).toEqual([id])
    await at.attach(id)
    expect(await work()).toEqual([])
  })
  it('wakes a runner that waits for it', async () => {
    await at.announce()
    const waiting = at.runner('listWork', { id: runnerId(), incarnation: 1, wait: 10_000 })
    await at.clock.pass(1000)
    const { id } = await at.person('startSession', { driver: 'steady' })
    expect((await waiting).items).toMatchObject([{ id }])
  })
  it.each(['an answer', 'a deadline', 'an interrupt'])('is a parked session when %s comes', async what => {
    const driven = await at.drive()
    const { id } = driven.session
    const request = await driven.ask('k', approval(), { deadlineMs: 60_000 })
    await at.runner('detachSession', { id, fence: driven.fence })
    expect(await work()).toEqual([])
    const keepAlive = () => at.runner('renewRunner', { id: runnerId(), incarnation: 1 })
    if (what === 'an answer') await at.allow(request)
    if (what === 'an interrupt') await at.person('interruptSession', { id })
    if (what === 'a deadline') await at.clock.pass(60_000)
    await keepAlive()
    expect(await work()).toEqual([id])
  })
  it('is a parked session when a message comes', async () => {
    const driven = await at.drive()
    await at.runner('detachSession', { id: driven.session.id, fence: driven.fence })
    expect(await work()).toEqual([])
    await at.person('sendMessage', { id: driven.session.id, text: 'hi' })
    expect(await work()).toEqual([driven.session.id])
  })
  it.each(['before', 'after'])(
    'is not a session whose request waits, though a message came %s it parked',
    async when => {
      const driven = await at.drive()
      const { id } = driven.session
      const request = await driven.ask('k')
      const send = () => at.person('sendMessage', { id, text: 'hi' })
      if (when === 'before') await send()
      await at.runner('detachSession', { id, fence: driven.fence })
      if (when === 'after') await send()
      expect(await work()).toEqual([])
      await at.allow(request)
      expect(await work()).toEqual([id])
    },
  )
  it('is a session that parked with something to do already', async () => {
    const driven = await at.drive()
    const request = await driven.ask('k')
    await at.allow(request)
    await at.announce()
    expect(await work()).toEqual([driven.session.id])
  })
  it('is a session whose turn was under way, with nothing to wait for', async () => {
    const driven = await at.drive('steady', { prompt: 'go' })
    const { items } = await at.runner('listCommands', { id: driven.session.id })
    await at.runner('takeCommand', { id: (items[0] as Command).id, fence: driven.fence })
    await at.announce()
    expect(await work()).toEqual([driven.session.id])
    const again = await at.attach(driven.session.id)
    expect(again.session.state).toBe('working')
    expect((await at.runner('listCommands', { id: driven.session.id })).items).toMatchObject([{ state: 'taken' }])
  })
  it('is a session whose turn is over, but whose message was not reported done', async () => {
    const driven = await at.drive('steady', { prompt: 'go' })
    const { items } = await at.runner('listCommands', { id: driven.session.id })
    await at.runner('takeCommand', { id: (items[0] as Command).id, fence: driven.fence })
    await driven.say({ type: 'turn.finished', ending: 'done' })
    await at.announce()
    expect(await work()).toEqual([driven.session.id])
  })
  it('is not hidden by sessions of drivers that no runner has', async () => {
    for (let i = 0; i < 510; i++) await at.person('startSession', { driver: 'nowhere' })
    const { id } = await at.person('startSession', { driver: 'steady' })
    await at.announce()
    expect(await work()).toEqual([id])
  })
  it('is not for a driver that is not ready, nor for another runner’s session', async () => {
    await at.announce(0)
    const driven = await at.drive()
    await at.runner('detachSession', { id: driven.session.id, fence: driven.fence })
    await at.person('sendMessage', { id: driven.session.id, text: 'hi' })
    await at.announce(1)
    expect(await work(1)).toEqual([])
    await at.announce(
      0,
      drivers.map(driver => ({ ...driver, ready: false, missing: 'a key' })),
    )
    expect(await work(0)).toEqual([])
  })
})
