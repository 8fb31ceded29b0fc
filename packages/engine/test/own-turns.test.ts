/** Turns that an agent starts by itself, without a message. */
import type { SessionId } from '@holdpoint/protocol'
import { beforeEach, describe, expect, it } from 'vitest'
import { type AttachedAgent, expectFault, type GatewayFixture, openFixture, runnerId } from './gateway-fixture.ts'

let fixture: GatewayFixture
let agent: AttachedAgent
let id: SessionId
beforeEach(async () => {
  fixture = await openFixture()
  agent = await fixture.startAttached()
  id = agent.session.id
})
const session = () => fixture.person('getSession', { id })
const startTurn = () => agent.append({ type: 'session.changed', state: 'working' })
const work = async () => (await fixture.runner('listWork', { id: runnerId(), incarnation: await incarnation() })).items
const incarnation = async () => (await fixture.runner('listRunners', {})).items[0]?.incarnation ?? 0

describe('an agent that starts a turn by itself', () => {
  it('an agent that starts a turn by itself gives its session the state “working” until the turn has finished', async () => {
    const subscriber = await fixture.subscribe()
    expect((await session()).state).toBe('idle')
    await startTurn()
    expect((await session()).state).toBe('working')
    expect(subscriber.events).toMatchObject([{ type: 'session.changed', value: { state: 'working' } }])
    await agent.append({ type: 'turn.finished', ending: 'done' })
    expect((await session()).state).toBe('idle')
  })
  it('an agent that starts a turn by itself reports cost and last message even if the turn starts and finishes in one call', async () => {
    const subscriber = await fixture.subscribe()
    await agent.append(
      { type: 'message.added', block: 'a', text: 'Done.' },
      { type: 'turn.finished', ending: 'done', cost: 0.5 },
    )
    expect(subscriber.events).toMatchObject([
      { type: 'message.added' },
      { type: 'turn.finished' },
      { type: 'session.changed', value: { state: 'idle', cost: 0.5, lastMessage: 'Done.' } },
    ])
  })
  it('an agent that starts a turn by itself keeps its session working if the next turn starts when the previous turn finishes', async () => {
    await startTurn()
    const subscriber = await fixture.subscribe()
    await agent.append({ type: 'turn.finished', ending: 'done' }, { type: 'session.changed', state: 'working' })
    expect(subscriber.events).toMatchObject([
      { type: 'turn.finished' },
      { type: 'session.changed', value: { state: 'working', lastTurn: { ending: 'done' } } },
    ])
    expect((await session()).state).toBe('working')
  })
  it('an agent that starts a turn by itself is resumed after its runner was lost, and the attach says that its turn is still open', async () => {
    await startTurn()
    await fixture.announce()
    expect((await session()).state).toBe('parked')
    expect((await work()).map(item => item.id)).toEqual([id])
    const { turnOpen, session: back } = await fixture.runner('attachSession', {
      id,
      runner: runnerId(),
      incarnation: await incarnation(),
    })
    expect([turnOpen, back.state]).toEqual([true, 'working'])
  })
  it('an agent that starts a turn by itself is resumed by an answer if a request was pending when its runner was lost', async () => {
    await startTurn()
    const request = await agent.ask('k')
    await fixture.announce()
    expect(await work()).toEqual([])
    await fixture.allow(request)
    expect((await work()).map(item => item.id)).toEqual([id])
  })
  it('an agent that starts a turn by itself is interrupted by stopEverything', async () => {
    await startTurn()
    expect((await fixture.person('stopEverything', {})).interrupted).toEqual([id])
  })
  it('an agent that starts a turn by itself needs the current fence, and can report no state other than working', async () => {
    await fixture.announce()
    await expectFault(startTurn(), 'fenced')
    await expectFault(agent.append({ type: 'session.changed', state: 'idle' } as never), 'bad_input')
  })
})
