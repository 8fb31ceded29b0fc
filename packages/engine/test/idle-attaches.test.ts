/** A session that brings down every runner that takes it is brought back a few times, not for ever. */
import { type Command, limits, type Session } from '@holdpoint/protocol'
import { beforeEach, describe, expect, it } from 'vitest'
import { type Driven, type GatewayFixture, refused, rig } from './gateway-fixture.ts'

let at: GatewayFixture
beforeEach(async () => {
  at = await rig()
})

describe('a session whose agent brings its runner down', () => {
  /** A turn that is under way, so that every runner that comes takes it up again. */
  const begin = async () => {
    const driven = await at.drive('steady', { prompt: 'go' })
    const { items } = await at.runner('listCommands', { id: driven.session.id })
    await at.runner('takeCommand', { id: (items[0] as Command).id, fence: driven.fence })
    return driven
  }
  const crash = async (id: Session['id'], times: number) => {
    let last: Driven | undefined
    for (let i = 0; i < times; i++) {
      await at.announce()
      last = await at.attach(id)
    }
    return last as Driven // it was attached at least once
  }
  it('ends as failed after five attaches in a row for nothing', async () => {
    const first = await begin()
    const { id } = first.session
    const request = await first.ask('k')
    await at.allow(request)
    await crash(id, limits.idleAttachesMax)
    expect(await at.person('getSession', { id })).toMatchObject({ state: 'working' })
    await at.announce()
    expect(await at.person('getSession', { id })).toMatchObject({
      state: 'ended',
      ending: { reason: 'failed', detail: expect.stringContaining('5 times') },
    })
    expect((await at.person('getRequest', { id: request.id })).delivery.state).toBe('undeliverable')
    await refused(at.attach(id), 'session_ended')
    await at.person('sendMessage', { id, text: 'try again' })
    expect((await at.attach(id)).session).toMatchObject({ state: 'idle' })
  })
  it('goes on for as long as its agent says or asks something new', async () => {
    const { session } = await begin()
    for (const act of ['say', 'ask'] as const) {
      const driven = await crash(session.id, limits.idleAttachesMax)
      if (act === 'say') await driven.say({ type: 'message.added', block: 'b', text: 'on' })
      else await at.allow(await driven.ask('new'))
    }
    await crash(session.id, limits.idleAttachesMax)
    expect(await at.person('getSession', { id: session.id })).toMatchObject({ state: 'working' })
  })
  it('is not counted for runners that never attached it, nor while nothing is to be done', async () => {
    const { session } = await begin()
    for (let i = 0; i < 10; i++) await at.announce()
    const idle = await at.drive()
    await crash(idle.session.id, 10)
    expect(await at.person('getSession', { id: session.id })).toMatchObject({ state: 'parked' })
    expect(await at.person('getSession', { id: idle.session.id })).toMatchObject({ state: 'idle' })
  })
  it('is not an agent that is interrupted again and again', async () => {
    const driven = await at.drive()
    const { id } = driven.session
    await at.runner('detachSession', { id, fence: driven.fence })
    for (let i = 0; i < 10; i++) {
      await at.person('interruptSession', { id })
      const { fence } = await at.attach(id)
      const { items } = await at.runner('listCommands', { id })
      await at.runner('takeCommand', { id: (items[0] as Command).id, fence })
      await at.runner('finishCommand', { id: (items[0] as Command).id, fence })
      await at.runner('detachSession', { id, fence })
    }
    expect(await at.person('getSession', { id })).toMatchObject({ state: 'parked' })
  })
})
