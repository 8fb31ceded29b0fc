/** The limit on consecutive attaches in which an agent does nothing. It stops agents that crash their runner again and again. */
import { type Command, limits, type Session } from '@holdpoint/protocol'
import { beforeEach, describe, expect, it } from 'vitest'
import { type AttachedAgent, expectFault, type GatewayFixture, openFixture } from './gateway-fixture.ts'

let fixture: GatewayFixture
beforeEach(async () => {
  fixture = await openFixture()
})

describe('a session whose agent crashes its runner', () => {
  /** Starts a session with an open turn, so that every new runner resumes it. */
  const startTurn = async () => {
    const agent = await fixture.startAttached('resumable', { prompt: 'go' })
    const { items } = await fixture.runner('listCommands', { id: agent.session.id })
    await fixture.runner('takeCommand', { id: (items[0] as Command).id, fence: agent.fence })
    return agent
  }
  const crash = async (id: Session['id'], times: number) => {
    let last: AttachedAgent | undefined
    for (let i = 0; i < times; i++) {
      await fixture.announce()
      last = await fixture.attach(id)
    }
    return last as AttachedAgent // the loop attaches the session at least once
  }
  it('a session whose agent crashes its runner ends as failed after five attaches in which the agent did nothing', async () => {
    const first = await startTurn()
    const { id } = first.session
    const request = await first.ask('k')
    await fixture.allow(request)
    await crash(id, limits.idleAttachesMax)
    expect(await fixture.person('getSession', { id })).toMatchObject({ state: 'working' })
    await fixture.announce()
    expect(await fixture.person('getSession', { id })).toMatchObject({
      state: 'ended',
      ending: { reason: 'failed', detail: expect.stringContaining('5 times') },
    })
    expect((await fixture.person('getRequest', { id: request.id })).delivery.state).toBe('undeliverable')
    await expectFault(fixture.attach(id), 'session_ended')
    await fixture.person('sendMessage', { id, text: 'try again' })
    expect((await fixture.attach(id)).session).toMatchObject({ state: 'idle' })
  })
  it('a session whose agent crashes its runner does not end if the agent sends a message or opens a request before the limit is exceeded', async () => {
    const { session } = await startTurn()
    for (const act of ['say', 'ask'] as const) {
      const agent = await crash(session.id, limits.idleAttachesMax)
      if (act === 'say') await agent.append({ type: 'message.added', block: 'b', text: 'more' })
      else await fixture.allow(await agent.ask('new'))
    }
    await crash(session.id, limits.idleAttachesMax)
    expect(await fixture.person('getSession', { id: session.id })).toMatchObject({ state: 'working' })
  })
  it('a session whose agent crashes its runner does not end if runners restart without attaching it, or attach it when the agent has nothing to do', async () => {
    const { session } = await startTurn()
    for (let i = 0; i < 10; i++) await fixture.announce()
    const idle = await fixture.startAttached()
    await crash(idle.session.id, 10)
    expect(await fixture.person('getSession', { id: session.id })).toMatchObject({ state: 'parked' })
    expect(await fixture.person('getSession', { id: idle.session.id })).toMatchObject({ state: 'idle' })
  })
  it('a session whose agent crashes its runner does not end if it is interrupted repeatedly', async () => {
    const agent = await fixture.startAttached()
    const { id } = agent.session
    await fixture.runner('detachSession', { id, fence: agent.fence })
    for (let i = 0; i < 10; i++) {
      await fixture.person('interruptSession', { id })
      const { fence } = await fixture.attach(id)
      const { items } = await fixture.runner('listCommands', { id })
      await fixture.runner('takeCommand', { id: (items[0] as Command).id, fence })
      await fixture.runner('finishCommand', { id: (items[0] as Command).id, fence })
      await fixture.runner('detachSession', { id, fence })
    }
    expect(await fixture.person('getSession', { id })).toMatchObject({ state: 'parked' })
  })
})
