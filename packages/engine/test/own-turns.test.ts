/** Turns that an agent begins by itself, without a message. */
import type { SessionId } from '@holdpoint/protocol'
import { beforeEach, describe, expect, it } from 'vitest'
import { type Driven, type GatewayFixture, refused, rig, runnerId } from './gateway-fixture.ts'

let at: GatewayFixture
let driven: Driven
let id: SessionId
beforeEach(async () => {
  at = await rig()
  driven = await at.drive()
  id = driven.session.id
})
const session = () => at.person('getSession', { id })
const begin = () => driven.say({ type: 'session.changed', state: 'working' })
const work = async () => (await at.runner('listWork', { id: runnerId(), incarnation: await incarnation() })).items
const incarnation = async () => (await at.runner('listRunners', {})).items[0]?.incarnation ?? 0

describe('an agent that begins to work by itself', () => {
  it('is shown to work until its turn has finished', async () => {
    const watching = await at.watch()
    expect((await session()).state).toBe('idle')
    await begin()
    expect((await session()).state).toBe('working')
    expect(watching.events).toMatchObject([{ type: 'session.changed', value: { state: 'working' } }])
    await driven.say({ type: 'turn.finished', ending: 'done' })
    expect((await session()).state).toBe('idle')
  })
  it('is shown with what it cost, also where a turn comes and goes at once', async () => {
    const watching = await at.watch()
    await driven.say(
      { type: 'message.added', block: 'a', text: 'Done.' },
      { type: 'turn.finished', ending: 'done', cost: 0.5 },
    )
    expect(watching.events).toMatchObject([
      { type: 'message.added' },
      { type: 'turn.finished' },
      { type: 'session.changed', value: { state: 'idle', cost: 0.5, lastMessage: 'Done.' } },
    ])
  })
  it('goes on without a break where it begins as it finishes', async () => {
    await begin()
    const watching = await at.watch()
    await driven.say({ type: 'turn.finished', ending: 'done' }, { type: 'session.changed', state: 'working' })
    expect(watching.events.map(event => event.type)).toEqual(['turn.finished'])
    expect((await session()).state).toBe('working')
  })
  it('is brought back after a loss to go on, and knows that its turn is open', async () => {
    await begin()
    await at.announce()
    expect((await session()).state).toBe('parked')
    expect((await work()).map(item => item.id)).toEqual([id])
    const { turnOpen, session: back } = await at.runner('attachSession', {
      id,
      runner: runnerId(),
      incarnation: await incarnation(),
    })
    expect([turnOpen, back.state]).toEqual([true, 'working'])
  })
  it('is brought back by the answer where something it asked held it up', async () => {
    await begin()
    const request = await driven.ask('k')
    await at.announce()
    expect(await work()).toEqual([])
    await at.allow(request)
    expect((await work()).map(item => item.id)).toEqual([id])
  })
  it('is stopped with everything else', async () => {
    await begin()
    expect((await at.person('stopEverything', {})).interrupted).toEqual([id])
  })
  it('says so under its fence, and says nothing else of its state', async () => {
    await at.announce()
    await refused(begin(), 'fenced')
    await refused(driven.say({ type: 'session.changed', state: 'idle' } as never), 'bad_input')
  })
})
