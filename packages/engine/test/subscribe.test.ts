/** Subscriptions: the hello snapshot, resuming, live frames without a gap (G3), and streaming text. */
import { formatCursor, type Input, limits, parseCursor, quotas } from '@holdpoint/protocol'
import { beforeEach, describe, expect, it } from 'vitest'
import {
  type AttachedAgent,
  ada,
  approval,
  bob,
  expectFault,
  type GatewayFixture,
  openFixture,
  robot,
  runPendingWork,
  stranger,
} from './gateway-fixture.ts'

let fixture: GatewayFixture
let agent: AttachedAgent
beforeEach(async () => {
  fixture = await openFixture()
  agent = await fixture.startAttached()
})
const added = (text: string, block = text): Input<'appendEvents'>['items'][number] => ({
  type: 'message.added',
  block,
  text,
})
const delta = (block: string, offset: number, text: string): Input<'appendEvents'>['items'][number] => ({
  type: 'message.delta',
  block,
  offset,
  text,
})
const cursorsOf = (frames: readonly { cursor: string | null }[]) =>
  frames.map(frame => parseCursor(frame.cursor ?? '').seq)

describe('the hello frame', () => {
  it('the hello frame is a snapshot if there is no cursor to resume from', async () => {
    const request = await agent.ask('k')
    await fixture.allow(await agent.ask('resolved'))
    const { subscription } = await fixture.subscribe()
    expect(subscription.hello).toMatchObject({
      resume: 'gap',
      cursor: formatCursor('e1', (await fixture.store.head()).seq),
      now: fixture.clock.now(),
      sessions: [{ id: agent.session.id, pending: 1 }],
      requests: [{ id: request.id }],
      pending: 1,
      more: false,
    })
    expect(subscription.missed).toEqual([])
  })
  it('the hello frame contains the first page of requests and says that there are more', async () => {
    for (let i = 0; i < limits.snapshotMax + 5; i++) await agent.ask(`k${i}`)
    const { hello } = (await fixture.subscribe()).subscription
    expect([hello.requests.length, hello.pending, hello.more]).toEqual([
      limits.snapshotMax,
      limits.snapshotMax + 5,
      true,
    ])
  })
  it('the hello frame contains only the given session if the subscription is for one session', async () => {
    const elsewhere = await fixture.startAttached()
    await elsewhere.ask('k')
    const mine = await agent.ask('k')
    const session = agent.session.id
    const first = await fixture.subscribe({ session })
    expect(first.subscription.hello).toMatchObject({
      sessions: [{ id: session }],
      requests: [{ id: mine.id }],
      pending: 1,
    })
    const again = await fixture.subscribe({ session, after: first.subscription.hello.cursor })
    expect(again.subscription.hello).toMatchObject({ resume: 'ok', pending: 1 })
    await elsewhere.append(added('there'))
    await agent.append(added('here'))
    expect(first.events.map(event => event.session)).toEqual([session])
  })
})

describe('resuming a subscription', () => {
  it('resuming a subscription returns the missed events in order, then live events', async () => {
    const first = await fixture.subscribe()
    await agent.append(added('a'))
    await agent.append(added('b'))
    const second = await fixture.subscribe({ after: first.subscription.hello.cursor })
    expect(second.subscription.hello.resume).toBe('ok')
    await agent.append(added('c'))
    expect([...second.subscription.missed.map(frame => frame.cursor), ...second.cursors]).toEqual(first.cursors)
  })
  it('resuming a subscription works with a cursor from before a restart', async () => {
    const { subscription } = await fixture.subscribe()
    await fixture.gateway.close()
    await fixture.open()
    const again = await fixture.subscribe({ after: subscription.hello.cursor })
    expect(again.subscription.hello).toMatchObject({ resume: 'ok', cursor: subscription.hello.cursor })
    const events = await fixture.person('listEvents', { id: agent.session.id, after: again.subscription.hello.cursor })
    expect(events.items).toEqual([])
  })
  it('resuming a subscription falls back to a snapshot if too many events were missed', async () => {
    const { hello } = (await fixture.subscribe()).subscription
    const page = Array.from({ length: limits.eventsPerPostMax }, (_, i) => added(`${i}`))
    for (let i = 0; i < limits.resumeEventsMax / page.length; i++) await agent.append(...page)
    const after = hello.cursor
    expect((await fixture.subscribe({ after })).subscription).toMatchObject({ hello: { resume: 'ok' } })
    expect((await fixture.subscribe({ after })).subscription.missed).toHaveLength(limits.resumeEventsMax)
    await agent.append(added('one more'))
    expect((await fixture.subscribe({ after })).subscription.hello.resume).toBe('gap')
  })
  const invalidCursors = [
    '',
    'e1',
    'e1-',
    '-1',
    'e1--1',
    'e1-99999',
    'zz-1',
    'E1-1',
    'e1-1.5',
    'NaN',
    '../../1',
    'e1-1\n',
    'e1-999999999999999',
  ]
  it.each(invalidCursors)(
    'resuming a subscription falls back to a snapshot for the invalid cursor %j (X12)',
    async after => {
      await agent.ask('k')
      expect((await fixture.subscribe({ after })).subscription.hello).toMatchObject({
        resume: 'gap',
        pending: 1,
        sessions: [{}],
      })
    },
  )
  it('resuming a subscription returns the whole log if the cursor is before the first event', async () => {
    const { subscription } = await fixture.subscribe({ after: 'e1-0' })
    expect(subscription.hello.resume).toBe('ok')
    expect(cursorsOf(subscription.missed)).toEqual(
      Array.from({ length: (await fixture.store.head()).seq }, (_, i) => i + 1),
    )
  })
})

describe('live frames', () => {
  it('live frames begin right after `hello.cursor`, whatever is committed in the meantime (G3)', async () => {
    const talk = (async () => {
      for (let i = 0; i < 60; i++) await Promise.all([agent.append(added(`a${i}`)), agent.append(added(`b${i}`))])
    })()
    const subscribers = []
    let after: string | undefined
    for (let i = 0; i < 40; i++) {
      const subscriber = await fixture.subscribe(after === undefined ? {} : { after })
      subscribers.push({ subscriber, after })
      after = subscriber.subscription.hello.cursor
      await new Promise(resolve => setImmediate(resolve))
    }
    await talk
    const { seq: head } = await fixture.store.head()
    for (const { subscriber, after } of subscribers) {
      const { hello, missed } = subscriber.subscription
      const { seq } = parseCursor(hello.cursor)
      if (hello.resume === 'ok') {
        const from = parseCursor(after ?? '').seq
        expect(cursorsOf(missed)).toEqual(Array.from({ length: seq - from }, (_, i) => from + 1 + i))
      }
      expect(subscriber.cursors.map(cursor => parseCursor(cursor).seq)).toEqual(
        Array.from({ length: head - seq }, (_, i) => seq + 1 + i),
      )
    }
  })
  it('live frames stop when the subscription is stopped', async () => {
    const subscriber = await fixture.subscribe()
    subscriber.subscription.stop()
    await agent.append(added('a'))
    expect(subscriber.frames).toEqual([])
  })
  it('live frames are identical to the stored events', async () => {
    const subscriber = await fixture.subscribe()
    await agent.append(added('tricky "quotes"\n\u2028 data: \\u0000 \u{1f600}'))
    const { items } = await fixture.person('listEvents', {
      id: agent.session.id,
      after: subscriber.subscription.hello.cursor,
    })
    expect(subscriber.events).toEqual(items)
  })
  it('X9: one credential can have a limited number of subscriptions', async () => {
    const stops = []
    for (let i = 0; i < quotas.subscriptions.person; i++)
      stops.push((await fixture.subscribe({ after: 'e1-0' })).subscription.stop)
    await expectFault(fixture.subscribe(), 'too_many')
    expect((await fixture.subscribe({}, bob)).subscription.hello.resume).toBe('gap')
    stops[0]?.()
    expect((await fixture.subscribe()).subscription.hello.resume).toBe('gap')
  })
})

describe('an external agent', () => {
  it('an external agent can subscribe to its own session only', async () => {
    const mine = await fixture.externalAgent('startSession', { driver: 'external' })
    expect((await fixture.subscribe({ session: mine.id }, robot)).subscription.hello.sessions).toMatchObject([
      { id: mine.id },
    ])
    await expectFault(fixture.subscribe({}, robot), 'forbidden')
    await expectFault(fixture.subscribe({ session: mine.id }, stranger), 'not_found')
    await expectFault(fixture.subscribe({ session: agent.session.id }, robot), 'not_found')
    await expectFault(fixture.subscribe({ session: 'ses_00000000000000000000' as typeof mine.id }, ada), 'not_found')
  })
})

describe('streaming text', () => {
  it('streaming text is sent as deltas, is part of the hello frame, and is replaced by the finished block', async () => {
    const subscriber = await fixture.subscribe()
    await agent.append(delta('b', 0, 'Hel'), delta('b', 3, 'lo'))
    expect((await fixture.subscribe()).subscription.hello.blocks).toMatchObject([
      { block: 'b', offset: 0, text: 'Hello' },
    ])
    await fixture.clock.advance(limits.deltaIntervalMs)
    expect(subscriber.frames).toMatchObject([{ frame: 'delta', delta: { block: 'b', text: 'Hello', offset: 0 } }])
    await agent.append(added('Hello!', 'b'))
    expect((await fixture.subscribe()).subscription.hello.blocks).toEqual([])
    expect(await fixture.eventTypes()).not.toContain('message.delta')
  })
  it('streaming text is sent at most 20 times per second in a session, however many blocks stream at once', async () => {
    const subscriber = await fixture.subscribe()
    const lengths = new Map<string, number>()
    for (let ms = 0; ms < 2000; ms += 5) {
      for (const block of ['a', 'b', 'c']) {
        const offset = lengths.get(block) ?? 0
        await fixture.runner('appendEvents', {
          id: agent.session.id,
          fence: agent.fence,
          items: [delta(block, offset, 'x')],
        })
        lengths.set(block, offset + 1)
      }
      await fixture.clock.advance(5)
    }
    expect(subscriber.frames.length).toBeGreaterThan(30)
    expect(subscriber.frames.length).toBeLessThanOrEqual(40)
    await fixture.clock.advance(1000)
    const received = new Map<string, string>()
    for (const frame of subscriber.frames)
      if (frame.frame === 'delta') {
        const before = received.get(frame.delta.block) ?? ''
        expect(frame.delta.offset).toBe(before.length)
        received.set(frame.delta.block, before + frame.delta.text)
      }
    expect(Object.fromEntries(received)).toEqual({ a: 'x'.repeat(400), b: 'x'.repeat(400), c: 'x'.repeat(400) })
  })
  it('streaming text is not duplicated by a repeated call, and after a gap contains only the text that follows the gap', async () => {
    await agent.append(delta('b', 0, 'Hello'))
    await agent.append(delta('b', 0, 'Hello'))
    await agent.append(delta('b', 3, 'lo wo'))
    expect((await fixture.subscribe()).subscription.hello.blocks).toMatchObject([{ offset: 0, text: 'Hello wo' }])
    await agent.append(delta('b', 20, 'end'))
    expect((await fixture.subscribe()).subscription.hello.blocks).toMatchObject([{ offset: 20, text: 'end' }])
  })
  const ways: readonly [string, () => Promise<unknown>][] = [
    ['an ask', () => agent.ask('k')],
    ['an interrupt', () => fixture.person('interruptSession', { id: agent.session.id })],
    ['the end of the session', () => fixture.person('endSession', { id: agent.session.id })],
    ['a detach', () => fixture.runner('detachSession', { id: agent.session.id, fence: agent.fence })],
  ]
  it.each(ways)('streaming text is stored as a partial message before %s', async (_name, way) => {
    await agent.append(delta('b', 0, 'I was about to'))
    await way()
    const { items } = await fixture.person('listEvents', { id: agent.session.id, limit: 500 })
    const partial = items.find(event => event.type === 'message.added')
    expect(partial).toMatchObject({ block: 'b', text: 'I was about to', partial: true })
    const asked = items.findIndex(event => event.type === 'request.opened')
    if (asked >= 0) expect(asked).toBeGreaterThan(items.findIndex(event => event.type === 'message.added'))
  })
  it('streaming text is sent before the request that follows it', async () => {
    const subscriber = await fixture.subscribe()
    await agent.append({ type: 'tool.delta', block: 't', offset: 0, text: '{"comm' }, delta('b', 7, 'later half'))
    await agent.ask('k', approval())
    const kinds = subscriber.frames.map(frame => (frame.frame === 'event' ? frame.event.type : frame.frame))
    expect(kinds).toEqual(['delta', 'delta', 'request.opened'])
  })
  it('streaming text that is tool input is dropped when the turn finishes or the session is detached', async () => {
    const tool = { type: 'tool.delta', block: 't', offset: 0, text: '{' } as const
    await agent.append(tool)
    await agent.append({ type: 'turn.finished', ending: 'interrupted' })
    expect((await fixture.subscribe()).subscription.hello.blocks).toEqual([])
    await agent.append(tool)
    await fixture.runner('detachSession', { id: agent.session.id, fence: agent.fence })
    expect((await fixture.subscribe()).subscription.hello.blocks).toEqual([])
  })
  it('streaming text is held in memory for a limited number of blocks per session', async () => {
    for (let i = 0; i <= limits.blocksPerSessionMax; i++) await agent.append(delta(`b${i}`, 0, 'x'))
    expect((await fixture.subscribe()).subscription.hello.blocks).toHaveLength(limits.blocksPerSessionMax)
    await runPendingWork()
  })
})
