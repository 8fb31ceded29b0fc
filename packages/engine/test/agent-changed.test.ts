/** What an agent says of itself: the mode that it is in, and what has become of its process. */
import { limits, type SessionId } from '@holdpoint/protocol'
import { beforeEach, describe, expect, it } from 'vitest'
import { type Driven, type GatewayFixture, refused, resumable, rig, runnerId } from './gateway-fixture.ts'

let at: GatewayFixture
let driven: Driven
let id: SessionId
beforeEach(async () => {
  at = await rig()
  driven = await at.drive()
  id = driven.session.id
})
const session = () => at.person('getSession', { id })
const live = { state: 'live', pid: 7, memoryMb: 213 } as const

describe('what an agent says of itself', () => {
  it('is the session’s from then on, and everyone is told by one event', async () => {
    const watching = await at.watch()
    await driven.say({ type: 'session.changed', mode: 'acceptEdits', process: live })
    expect(await session()).toMatchObject({ mode: 'acceptEdits', process: { ...live, changedAt: at.clock.now() } })
    expect(watching.events).toMatchObject([
      { type: 'session.changed', value: { mode: 'acceptEdits', process: { memoryMb: 213 } } },
    ])
    const [event] = watching.events
    expect(event?.type === 'session.changed' && event.value.process?.changedAt).toBe(event?.at)
  })
  it('is the model that it has, and how another session can go on with it', async () => {
    await at.person('patchSession', { id, model: 'new' })
    await driven.say({ type: 'session.changed', model: null, conversationId: 'conversation-1' })
    expect(await session()).toMatchObject({ model: null, conversationId: 'conversation-1', mode: null })
  })
  it('is no event where nothing has changed', async () => {
    await driven.say({ type: 'session.changed', mode: 'plan', process: live })
    const before = await at.log()
    await driven.say({ type: 'session.changed', mode: 'plan', process: live })
    expect(await at.log()).toEqual(before)
  })
  it('is one event with what else is said', async () => {
    const watching = await at.watch()
    await driven.say({ type: 'session.changed', process: live }, { type: 'error.raised', message: 'oh' })
    await driven.say({ type: 'session.changed', process: { ...live, note: 'it cannot be let go' } })
    expect(watching.events.map(event => event.type)).toEqual(['error.raised', 'session.changed', 'session.changed'])
    expect((await session()).process?.note).toBe('it cannot be let go')
  })
  it('is only for who holds the session', async () => {
    await at.announce()
    await refused(driven.say({ type: 'session.changed', mode: 'plan' }), 'fenced')
    expect((await session()).mode).toBeNull()
  })
  it('is no step forward: an agent that only starts is not brought back for ever', async () => {
    await at.person('sendMessage', { id, text: 'go' })
    for (let i = 0; i < limits.idleAttachesMax; i++) {
      await driven.say({ type: 'session.changed', process: { ...live, pid: i + 1 } })
      await at.announce()
      if ((await session()).state !== 'ended') driven = await at.attach(id)
    }
    expect((await session()).ending).toMatchObject({ reason: 'failed' })
  })
})

describe('a process that lived', () => {
  beforeEach(() => driven.say({ type: 'session.changed', process: live }))

  it('is lost with its runner', async () => {
    await at.announce()
    expect(await session()).toMatchObject({ state: 'parked', process: { state: 'lost' } })
  })
  it('is gone when the session is given back or ended', async () => {
    await at.runner('detachSession', { id, fence: driven.fence })
    expect(await session()).toMatchObject({ state: 'parked', process: { state: 'stopped' } })
    driven = await at.attach(id).catch(() => driven)
    await at.person('endSession', { id })
    expect((await session()).process).not.toMatchObject({ state: 'live' })
  })
  it('that was said to be parked stays so', async () => {
    await driven.say({ type: 'session.changed', process: { state: 'parked' } })
    await at.runner('detachSession', { id, fence: driven.fence })
    expect((await session()).process).toMatchObject({ state: 'parked' })
  })
})

describe('a runner that renews its lease', () => {
  it('may say that what it can run has changed: sessions opened from then on have it', async () => {
    const parkable = { ...resumable, capabilities: [...resumable.capabilities, 'parkable' as const] }
    await at.runner('renewRunner', { id: runnerId(), incarnation: 1, drivers: [parkable] })
    const { items } = await at.person('listDrivers', {})
    expect(items.map(driver => driver.name)).toEqual(['steady', 'external'])
    expect(items[0]?.capabilities).toContain('parkable')
    expect((await at.drive()).session.capabilities).toContain('parkable')
    await at.runner('renewRunner', { id: runnerId(), incarnation: 1 })
    expect((await at.person('listDrivers', {})).items[0]?.capabilities).toContain('parkable')
  })
})
