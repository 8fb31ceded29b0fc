/** Watching: right after one connect, always; nothing lost between the snapshot and what is live (G3). */
import { formatCursor, type Input, limits, parseCursor } from '@holdpoint/protocol'
import { beforeEach, describe, expect, it } from 'vitest'
import {
  ada,
  approval,
  type Driven,
  type GatewayFixture,
  refused,
  rig,
  robot,
  settle,
  stranger,
} from './gateway-fixture.ts'

let at: GatewayFixture
let driven: Driven
beforeEach(async () => {
  at = await rig()
  driven = await at.drive()
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

describe('hello', () => {
  it('is a snapshot where there is nothing to resume from', async () => {
    const request = await driven.ask('k')
    await at.allow(await driven.ask('resolved'))
    const { watch } = await at.watch()
    expect(watch.hello).toMatchObject({
      resume: 'gap',
      cursor: formatCursor('e1', (await at.store.head()).seq),
      now: at.clock.now(),
      sessions: [{ id: driven.session.id, pending: 1 }],
      requests: [{ id: request.id }],
      pending: 1,
      more: false,
    })
    expect(watch.missed).toEqual([])
  })
  it('has a first page, and says that there is more', async () => {
    for (let i = 0; i < limits.snapshotMax + 5; i++) await driven.ask(`k${i}`)
    const { hello } = (await at.watch()).watch
    expect([hello.requests.length, hello.pending, hello.more]).toEqual([
      limits.snapshotMax,
      limits.snapshotMax + 5,
      true,
    ])
  })
  it('of one session tells of that session only', async () => {
    const elsewhere = await at.drive()
    await elsewhere.ask('k')
    const mine = await driven.ask('k')
    const session = driven.session.id
    const first = await at.watch({ session })
    expect(first.watch.hello).toMatchObject({ sessions: [{ id: session }], requests: [{ id: mine.id }], pending: 1 })
    const again = await at.watch({ session, after: first.watch.hello.cursor })
    expect(again.watch.hello).toMatchObject({ resume: 'ok', pending: 1 })
    await elsewhere.say(added('there'))
    await driven.say(added('here'))
    expect(first.events.map(event => event.session)).toEqual([session])
  })
})

describe('resuming', () => {
  it('gives what was missed, in order, and then what comes', async () => {
    const first = await at.watch()
    await driven.say(added('a'))
    await driven.say(added('b'))
    const second = await at.watch({ after: first.watch.hello.cursor })
    expect(second.watch.hello.resume).toBe('ok')
    await driven.say(added('c'))
    expect([...second.watch.missed.map(frame => frame.cursor), ...second.cursors]).toEqual(first.cursors)
  })
  it('works from a cursor that was given before a restart, with nothing written since', async () => {
    const { watch } = await at.watch()
    await at.gateway.close()
    await at.open()
    const again = await at.watch({ after: watch.hello.cursor })
    expect(again.watch.hello).toMatchObject({ resume: 'ok', cursor: watch.hello.cursor })
    const events = await at.person('listEvents', { id: driven.session.id, after: again.watch.hello.cursor })
    expect(events.items).toEqual([])
  })
  it('gives up where too much was missed', async () => {
    const { hello } = (await at.watch()).watch
    const page = Array.from({ length: limits.eventsPerPostMax }, (_, i) => added(`${i}`))
    for (let i = 0; i < limits.resumeEventsMax / page.length; i++) await driven.say(...page)
    const after = hello.cursor
    expect((await at.watch({ after })).watch).toMatchObject({ hello: { resume: 'ok' } })
    expect((await at.watch({ after })).watch.missed).toHaveLength(limits.resumeEventsMax)
    await driven.say(added('one more'))
    expect((await at.watch({ after })).watch.hello.resume).toBe('gap')
  })
  const odd = [
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
  it.each(odd)('from %j gets a snapshot, never a gap that is not told (X12)', async after => {
    await driven.ask('k')
    expect((await at.watch({ after })).watch.hello).toMatchObject({ resume: 'gap', pending: 1, sessions: [{}] })
  })
  it('from the beginning gives everything', async () => {
    const { watch } = await at.watch({ after: 'e1-0' })
    expect(watch.hello.resume).toBe('ok')
    expect(cursorsOf(watch.missed)).toEqual(Array.from({ length: (await at.store.head()).seq }, (_, i) => i + 1))
  })
})

describe('live frames', () => {
  it('begin right behind hello, whatever is committed meanwhile (G3)', async () => {
    const talk = (async () => {
      for (let i = 0; i < 60; i++) await Promise.all([driven.say(added(`a${i}`)), driven.say(added(`b${i}`))])
    })()
    const watchings = []
    let after: string | undefined
    for (let i = 0; i < 40; i++) {
      const watching = await at.watch(after === undefined ? {} : { after })
      watchings.push({ watching, after })
      after = watching.watch.hello.cursor
      await new Promise(resolve => setImmediate(resolve))
    }
    await talk
    const { seq: head } = await at.store.head()
    for (const { watching, after } of watchings) {
      const { hello, missed } = watching.watch
      const { seq } = parseCursor(hello.cursor)
      if (hello.resume === 'ok') {
        const from = parseCursor(after ?? '').seq
        expect(cursorsOf(missed)).toEqual(Array.from({ length: seq - from }, (_, i) => from + 1 + i))
      }
      expect(watching.cursors.map(cursor => parseCursor(cursor).seq)).toEqual(
        Array.from({ length: head - seq }, (_, i) => seq + 1 + i),
      )
    }
  })
  it('stop when the watcher stops', async () => {
    const watching = await at.watch()
    watching.watch.stop()
    await driven.say(added('a'))
    expect(watching.frames).toEqual([])
  })
  it('are the kept events, to the byte', async () => {
    const watching = await at.watch()
    await driven.say(added('tricky "quotes"\n\u2028 data: \\u0000 \u{1f600}'))
    const { items } = await at.person('listEvents', { id: driven.session.id, after: watching.watch.hello.cursor })
    expect(watching.events).toEqual(items)
  })
  it('go to so many watchers, and no more', async () => {
    const stops = []
    for (let i = 0; i < limits.subscriptionsMax; i++) stops.push((await at.watch({ after: 'e1-0' })).watch.stop)
    await refused(at.watch(), 'too_many')
    stops[0]?.()
    expect((await at.watch()).watch.hello.resume).toBe('gap')
  })
})

describe('an agent', () => {
  it('watches its own session only', async () => {
    const mine = await at.agent('startSession', { driver: 'external' })
    expect((await at.watch({ session: mine.id }, robot)).watch.hello.sessions).toMatchObject([{ id: mine.id }])
    await refused(at.watch({}, robot), 'forbidden')
    await refused(at.watch({ session: mine.id }, stranger), 'not_found')
    await refused(at.watch({ session: driven.session.id }, robot), 'not_found')
    await refused(at.watch({ session: 'ses_00000000000000000000' as typeof mine.id }, ada), 'not_found')
  })
})

describe('text as it streams', () => {
  it('is shown, stands in hello while it is under way, and is replaced by the finished block', async () => {
    const watching = await at.watch()
    await driven.say(delta('b', 0, 'Hel'), delta('b', 3, 'lo'))
    expect((await at.watch()).watch.hello.blocks).toMatchObject([{ block: 'b', offset: 0, text: 'Hello' }])
    await at.clock.pass(limits.deltaIntervalMs)
    expect(watching.frames).toMatchObject([{ frame: 'delta', delta: { block: 'b', text: 'Hello', offset: 0 } }])
    await driven.say(added('Hello!', 'b'))
    expect((await at.watch()).watch.hello.blocks).toEqual([])
    expect(await at.log()).not.toContain('message.delta')
  })
  it('is shown at most twenty times a second and session, however many blocks stream at once', async () => {
    const watching = await at.watch()
    const said = new Map<string, number>()
    for (let ms = 0; ms < 2000; ms += 5) {
      for (const block of ['a', 'b', 'c']) {
        const offset = said.get(block) ?? 0
        await at.runner('appendEvents', {
          id: driven.session.id,
          fence: driven.fence,
          items: [delta(block, offset, 'x')],
        })
        said.set(block, offset + 1)
      }
      await at.clock.pass(5)
    }
    expect(watching.frames.length).toBeGreaterThan(30)
    expect(watching.frames.length).toBeLessThanOrEqual(40)
    await at.clock.pass(1000)
    const shown = new Map<string, string>()
    for (const frame of watching.frames)
      if (frame.frame === 'delta') {
        const before = shown.get(frame.delta.block) ?? ''
        expect(frame.delta.offset).toBe(before.length)
        shown.set(frame.delta.block, before + frame.delta.text)
      }
    expect(Object.fromEntries(shown)).toEqual({ a: 'x'.repeat(400), b: 'x'.repeat(400), c: 'x'.repeat(400) })
  })
  it('is not doubled where a call is repeated, nor patched where some went missing', async () => {
    await driven.say(delta('b', 0, 'Hello'))
    await driven.say(delta('b', 0, 'Hello'))
    await driven.say(delta('b', 3, 'lo wo'))
    expect((await at.watch()).watch.hello.blocks).toMatchObject([{ offset: 0, text: 'Hello wo' }])
    await driven.say(delta('b', 20, 'end'))
    expect((await at.watch()).watch.hello.blocks).toMatchObject([{ offset: 20, text: 'end' }])
  })
  const ways: readonly [string, () => Promise<unknown>][] = [
    ['an ask', () => driven.ask('k')],
    ['an interrupt', () => at.person('interruptSession', { id: driven.session.id })],
    ['an end', () => at.person('endSession', { id: driven.session.id })],
    ['a detach', () => at.runner('detachSession', { id: driven.session.id, fence: driven.fence })],
  ]
  it.each(ways)('is kept as far as it came when %s comes', async (_name, way) => {
    await driven.say(delta('b', 0, 'I was about to'))
    await way()
    const { items } = await at.person('listEvents', { id: driven.session.id, limit: 500 })
    const partial = items.find(event => event.type === 'message.added')
    expect(partial).toMatchObject({ block: 'b', text: 'I was about to', partial: true })
    const asked = items.findIndex(event => event.type === 'request.opened')
    if (asked >= 0) expect(asked).toBeGreaterThan(items.findIndex(event => event.type === 'message.added'))
  })
  it('is shown before the ask that it comes before', async () => {
    const watching = await at.watch()
    await driven.say({ type: 'tool.delta', block: 't', offset: 0, text: '{"comm' }, delta('b', 7, 'later half'))
    await driven.ask('k', approval())
    const kinds = watching.frames.map(frame => (frame.frame === 'event' ? frame.event.type : frame.frame))
    expect(kinds).toEqual(['delta', 'delta', 'request.opened'])
  })
  it('of a tool is forgotten with its turn, and with its agent', async () => {
    const tool = { type: 'tool.delta', block: 't', offset: 0, text: '{' } as const
    await driven.say(tool)
    await driven.say({ type: 'turn.finished', ending: 'interrupted' })
    expect((await at.watch()).watch.hello.blocks).toEqual([])
    await driven.say(tool)
    await at.runner('detachSession', { id: driven.session.id, fence: driven.fence })
    expect((await at.watch()).watch.hello.blocks).toEqual([])
  })
  it('has a limit of blocks', async () => {
    for (let i = 0; i <= limits.blocksPerSessionMax; i++) await driven.say(delta(`b${i}`, 0, 'x'))
    expect((await at.watch()).watch.hello.blocks).toHaveLength(limits.blocksPerSessionMax)
    await settle()
  })
})
