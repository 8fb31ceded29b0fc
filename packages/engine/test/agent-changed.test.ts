/** Tests what an agent reports about itself: its mode, model and process. */
import { limits, type SessionId } from '@holdpoint/protocol'
import { beforeEach, describe, expect, it } from 'vitest'
import {
  type AttachedAgent,
  expectFault,
  type GatewayFixture,
  openFixture,
  resumable,
  runnerId,
} from './gateway-fixture.ts'

let fixture: GatewayFixture
let agent: AttachedAgent
let id: SessionId
beforeEach(async () => {
  fixture = await openFixture()
  agent = await fixture.startAttached()
  id = agent.session.id
})
const session = () => fixture.person('getSession', { id })
const live = { state: 'live', pid: 7, memoryMb: 213 } as const

describe('a session.changed event from an agent', () => {
  it('a session.changed event from an agent updates the session and is published as one event', async () => {
    const subscriber = await fixture.subscribe()
    await agent.append({ type: 'session.changed', mode: 'acceptEdits', process: live })
    expect(await session()).toMatchObject({ mode: 'acceptEdits', process: { ...live, changedAt: fixture.clock.now() } })
    expect(subscriber.events).toMatchObject([
      { type: 'session.changed', value: { mode: 'acceptEdits', process: { memoryMb: 213 } } },
    ])
    const [event] = subscriber.events
    expect(event?.type === 'session.changed' && event.value.process?.changedAt).toBe(event?.at)
  })
  it('a session.changed event from an agent updates the model and the conversation id', async () => {
    await fixture.person('patchSession', { id, model: 'new' })
    await agent.append({ type: 'session.changed', model: null, conversationId: 'conversation-1' })
    expect(await session()).toMatchObject({ model: null, conversationId: 'conversation-1', mode: null })
  })
  it('a session.changed event from an agent updates the repository and branch of the session, and publishes them only if they changed', async () => {
    const repository = { root: '/src/api', branch: 'main', commit: null }
    await agent.append({ type: 'session.changed', repository })
    expect((await session()).repository).toEqual(repository)
    const before = await fixture.eventTypes()
    await agent.append({ type: 'session.changed', repository })
    expect(await fixture.eventTypes()).toEqual(before)
    await agent.append({ type: 'session.changed', repository: { ...repository, branch: 'next' } })
    expect((await session()).repository?.branch).toBe('next')
  })
  it('a session.changed event from an agent publishes nothing if nothing changed', async () => {
    await agent.append({ type: 'session.changed', mode: 'plan', process: live })
    const before = await fixture.eventTypes()
    await agent.append({ type: 'session.changed', mode: 'plan', process: live })
    expect(await fixture.eventTypes()).toEqual(before)
  })
  it('a session.changed event from an agent is published once per appendEvents call, after the other events of the call', async () => {
    const subscriber = await fixture.subscribe()
    await agent.append({ type: 'session.changed', process: live }, { type: 'error.raised', message: 'oh' })
    await agent.append({ type: 'session.changed', process: { ...live, note: 'it cannot be parked' } })
    expect(subscriber.events.map(event => event.type)).toEqual(['error.raised', 'session.changed', 'session.changed'])
    expect((await session()).process?.note).toBe('it cannot be parked')
  })
  it('a session.changed event from an agent needs the current fence', async () => {
    await fixture.announce()
    await expectFault(agent.append({ type: 'session.changed', mode: 'plan' }), 'fenced')
    expect((await session()).mode).toBeNull()
  })
  it('a session.changed event from an agent does not count as progress, so a session whose agent does nothing but start ends after too many attaches', async () => {
    await fixture.person('sendMessage', { id, text: 'go' })
    for (let i = 0; i < limits.idleAttachesMax; i++) {
      await agent.append({ type: 'session.changed', process: { ...live, pid: i + 1 } })
      await fixture.announce()
      if ((await session()).state !== 'ended') agent = await fixture.attach(id)
    }
    expect((await session()).ending).toMatchObject({ reason: 'failed' })
  })
})

describe('the live process of an agent', () => {
  beforeEach(() => agent.append({ type: 'session.changed', process: live }))

  it('the live process of an agent is marked lost when its runner is lost', async () => {
    await fixture.announce()
    expect(await session()).toMatchObject({ state: 'parked', process: { state: 'lost' } })
  })
  it('the live process of an agent is marked stopped when the session is detached or ended', async () => {
    await fixture.runner('detachSession', { id, fence: agent.fence })
    expect(await session()).toMatchObject({ state: 'parked', process: { state: 'stopped' } })
    agent = await fixture.attach(id).catch(() => agent)
    await fixture.person('endSession', { id })
    expect((await session()).process).not.toMatchObject({ state: 'live' })
  })
  it('the live process of an agent stays marked as parked after a detach if the agent reported it as parked', async () => {
    await agent.append({ type: 'session.changed', process: { state: 'parked' } })
    await fixture.runner('detachSession', { id, fence: agent.fence })
    expect((await session()).process).toMatchObject({ state: 'parked' })
  })
})

describe('renewRunner', () => {
  it('renewRunner can update the drivers of the runner for later sessions', async () => {
    const parkable = { ...resumable, capabilities: [...resumable.capabilities, 'parkable' as const] }
    await fixture.runner('renewRunner', { id: runnerId(), incarnation: 1, drivers: [parkable] })
    const { items } = await fixture.person('listDrivers', {})
    expect(items.map(driver => driver.name)).toEqual(['resumable', 'external'])
    expect(items[0]?.capabilities).toContain('parkable')
    expect((await fixture.startAttached()).session.capabilities).toContain('parkable')
    await fixture.runner('renewRunner', { id: runnerId(), incarnation: 1 })
    expect((await fixture.person('listDrivers', {})).items[0]?.capabilities).toContain('parkable')
  })
})
