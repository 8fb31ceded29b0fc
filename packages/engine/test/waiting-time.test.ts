/** How long a session has waited for people, and when its agent last said or finished something. */
import type { Session } from '@holdpoint/protocol'
import { beforeEach, expect, it } from 'vitest'
import { type AttachedAgent, type GatewayFixture, openFixture } from './gateway-fixture.ts'

let fixture: GatewayFixture
let agent: AttachedAgent
beforeEach(async () => {
  fixture = await openFixture()
  agent = await fixture.startAttached()
})
const read = (): Promise<Session> => fixture.person('getSession', { id: agent.session.id })

it('a session counts the time in which at least one request is pending, and counts that time once if several requests are pending', async () => {
  expect(await read()).toMatchObject({ waitedMs: 0 })
  const since = fixture.clock.now()
  const first = await agent.ask('first')
  expect(await read()).toMatchObject({ waitedMs: 0, waitingSince: since })
  await fixture.clock.advance(4000)
  const second = await agent.ask('second')
  await fixture.clock.advance(3000)
  await fixture.allow(first)
  expect(await read()).toMatchObject({ pending: 1, waitedMs: 0, waitingSince: since })
  await fixture.clock.advance(2000)
  await fixture.deny(second)
  const { items } = await fixture.person('listSessions', {})
  expect(items[0]).toMatchObject({ pending: 0, waitedMs: 9000 })
  expect(items[0]).not.toHaveProperty('waitingSince')
})

it('a session adds up the times in which it waited for people, also the last one if the session ends while a request is pending', async () => {
  const first = await agent.ask('first')
  await fixture.clock.advance(1000)
  await fixture.allow(first)
  await fixture.clock.advance(7000)
  await agent.ask('second')
  await fixture.clock.advance(2000)
  const ended = await fixture.person('endSession', { id: agent.session.id })
  expect(ended).toMatchObject({ state: 'ended', pending: 0, waitedMs: 3000 })
  expect(ended).not.toHaveProperty('waitingSince')
})

it('a session says when its agent last wrote a message and when its last turn ended', async () => {
  const message = { type: 'message.added', block: 'b', role: 'agent', text: 'Done.' } as const
  expect((await read()).lastMessageAt).toBeUndefined()
  await agent.append(message)
  const at = fixture.clock.now()
  await fixture.clock.advance(5000)
  await agent.append({ ...message, block: 'c', text: ' ' })
  expect(await read()).toMatchObject({ lastMessage: 'Done.', lastMessageAt: at })
  await agent.append({ type: 'turn.finished', ending: 'done' })
  expect(await read()).toMatchObject({ lastTurn: { ending: 'done', at: at + 5000 } })
})
