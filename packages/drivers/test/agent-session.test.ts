import { type AgentEvent, type Ask, type Call, type Clock, Fault, limits } from '@holdpoint/protocol'
import { afterEach, describe, expect, it } from 'vitest'
import { AgentSession } from '../src/index.ts'
import { ManualClock, RunnerFixture, type RunnerFixtureOptions, runnerId } from './runner-fixture.ts'

let fixture: RunnerFixture
afterEach(() => fixture.close())

const ask: Ask = { kind: 'approval', tool: 'Bash', input: { command: 'ls' }, title: 'List', cwd: '/', editable: true }
const driver = {
  name: 'bare',
  title: 'Bare',
  capabilities: ['resumable' as const, 'messages' as const],
  modes: [],
  ready: true,
}

async function announce(): Promise<number> {
  return (await fixture.asRunner('announceRunner', { id: runnerId, name: 'test', drivers: [driver] })).incarnation
}
async function attach(
  id: Awaited<ReturnType<RunnerFixture['startSession']>>,
  incarnation: number,
  options: { call?: Call; clock?: Clock; crashPoint?: (point: string) => void } = {},
) {
  const attached = await fixture.asRunner('attachSession', { id, runner: runnerId, incarnation })
  return new AgentSession({ call: fixture.asRunner, ...options, ...attached })
}
async function open(options: RunnerFixtureOptions = {}, more: Parameters<typeof attach>[2] = {}) {
  fixture = await RunnerFixture.open(options)
  const incarnation = await announce()
  const id = await fixture.startSession('bare')
  return { id, session: await attach(id, incarnation, more) }
}
const delta = (block: string, offset: number, text: string): AgentEvent => ({
  type: 'message.delta',
  block,
  offset,
  text,
})
const added = (block: string, text: string): AgentEvent => ({ type: 'message.added', block, text })

describe('AgentSession.say', () => {
  function recorded() {
    const posts: AgentEvent[][] = []
    let begun = () => {}
    const posting = new Promise<void>(resolve => {
      begun = resolve
    })
    let release = () => {}
    const held = new Promise<void>(resolve => {
      release = resolve
    })
    const call: Call = async (op, input, options) => {
      if (op === 'appendEvents') {
        posts.push((input as { items: AgentEvent[] }).items) // the input of `appendEvents` has this type
        begun()
        if (posts.length === 1) await held
      }
      return fixture.asRunner(op, input, options)
    }
    return { call, posts, posting, release: () => release() }
  }

  it('events that are appended while a call is running are sent together in the next call, in order', async () => {
    const { call, posts, posting, release } = recorded()
    const { session } = await open({}, { call })
    const first = session.say(added('a', '1'))
    await posting
    const later = [session.say(added('b', '2'), added('c', '3')), session.say(added('d', '4'))]
    release()
    await Promise.all([first, ...later])
    expect(posts.map(post => post.map(item => ('block' in item ? item.block : '')))).toEqual([['a'], ['b', 'c', 'd']])
    expect(fixture.agentTexts()).toEqual(['1', '2', '3', '4'])
  })

  it('deltas of one block are merged and sent at most once per interval', async () => {
    const clock = new ManualClock()
    const { call, posts, release } = recorded()
    const { session } = await open({ clock }, { call, clock })
    release()
    await session.say(delta('a', 0, 'x'))
    void session.say(delta('a', 1, 'y'))
    void session.say(delta('a', 2, 'z'))
    const last = session.say(delta('b', 0, 'w'))
    await clock.advance(limits.deltaIntervalMs - 1, 10)
    expect(posts).toHaveLength(1)
    await clock.advance(2, 1)
    await last
    expect(posts[1]).toEqual([delta('a', 1, 'yz'), delta('b', 0, 'w')])
  })

  it('an event that must be stored is sent immediately, together with the deltas before it', async () => {
    const clock = new ManualClock()
    const { call, posts, release } = recorded()
    const { session } = await open({ clock }, { call, clock })
    release()
    await session.say(delta('a', 0, 'x'))
    void session.say(delta('a', 1, 'y'))
    await session.say(added('a', 'xy'))
    expect(posts[1]).toEqual([delta('a', 1, 'y'), added('a', 'xy')])
    void session.say(delta('b', 0, 'z'))
    await session.flush()
    expect(posts[2]).toEqual([delta('b', 0, 'z')])
  })

  it('an invalid event is refused with the name of the invalid field, and other events are still sent', async () => {
    const { session } = await open()
    await expect(session.say({ type: 'message.added', block: '', text: 'x' })).rejects.toMatchObject({
      code: 'bad_input',
    })
    await session.say(added('a', 'fine'))
    expect(fixture.agentTexts()).toEqual(['fine'])
  })

  it('an event is stored only once even if the connection is lost before the gateway replies', async () => {
    let lost = false
    const call: Call = async (op, input, options) => {
      const output = await fixture.asRunner(op, input, options)
      if (op !== 'appendEvents' || lost) return output
      lost = true
      throw new Fault('draining', 'gone in this very moment')
    }
    const { session } = await open({}, { call })
    await session.say(added('a', 'once'))
    expect(fixture.eventsOf('message.added')).toHaveLength(1)
  })
})

describe('AgentSession.ask', () => {
  it('AgentSession.ask flushes earlier events, commits `handed` before it returns the answer, and reports `taken` when the agent continues', async () => {
    const points: string[] = []
    const { session } = await open({}, { crashPoint: point => points.push(point) })
    void session.say(added('a', 'before'))
    const asking = session.ask(ask, { key: 'k' })
    const request = await fixture.waitForRequest('k')
    expect(fixture.agentTexts()).toEqual(['before'])
    await fixture.answer(request, { kind: 'allow', input: { command: 'ls -l' } })
    const settled = await asking
    expect(settled).toMatchObject({ kind: 'answer', by: 'person', input: { command: 'ls -l' }, replayed: false })
    expect(fixture.eventsOf('request.handed')).toHaveLength(1)
    expect(fixture.eventsOf('request.taken')).toHaveLength(0)
    await settled.taken()
    await settled.taken()
    expect(fixture.eventsOf('request.taken')).toHaveLength(1)
    expect(points).toEqual(['runner:asked', 'runner:resolution-seen', 'runner:handed', 'runner:given', 'runner:taken'])
    expect(await session.ask(ask, { key: 'k' })).toMatchObject({ kind: 'answer', replayed: true })
  })

  /** Wraps the calls of the runner, and records which calls wrote what. */
  function recordedWrites() {
    const writes: string[] = []
    const call: Call = async (op, input, options) => {
      const { items, events = [] } = input as { items?: AgentEvent[]; events?: AgentEvent[] } // inputs of the two operations below
      const types = (items ?? events).map(({ type }) => type).join(' ')
      if (op === 'appendEvents' || op === 'openRequest') writes.push(`${op} ${types}`.trim())
      return fixture.asRunner(op, input, options)
    }
    return { call, writes }
  }

  it('AgentSession.ask stores earlier events and the request with one call', async () => {
    const { call, writes } = recordedWrites()
    const { session } = await open({}, { call })
    session.sayQuietly(delta('a', 0, 'bef'))
    session.sayQuietly(added('a', 'before'))
    session.sayQuietly({ type: 'tool.started', block: 't', tool: 'Bash', input: {} })
    await session.open([{ ask, key: 'k' }])
    await session.say(added('b', 'after'))
    expect(writes).toEqual(['openRequest message.added tool.started', 'appendEvents message.added'])
    await fixture.waitForEvent('message.added', ({ text }) => text === 'after')
    const types = fixture.events.map(({ type }) => type)
    expect(types.slice(-4)).toEqual(['message.added', 'tool.started', 'request.opened', 'message.added'])
  })

  it('AgentSession.ask opens the request after earlier events that are being sent, and after text that is being streamed', async () => {
    const { call, writes } = recordedWrites()
    const { session } = await open({}, { call })
    session.sayQuietly(added('a', 'before'))
    while (writes.length === 0) await new Promise(resolve => setImmediate(resolve))
    session.sayQuietly(added('b', 'meanwhile'))
    session.sayQuietly(delta('c', 0, 'and'))
    await session.open([{ ask, key: 'k' }])
    expect(writes).toEqual(['appendEvents message.added', 'appendEvents message.added message.delta', 'openRequest'])
    await fixture.waitForRequest('k')
    expect(fixture.agentTexts()).toEqual(['before', 'meanwhile', 'and'])
  })

  it('AgentSession.ask stores earlier events even if the gateway refuses the request', async () => {
    const { session } = await open()
    await session.open([{ ask, key: 'k' }])
    session.sayQuietly(added('a', 'before'))
    const other = { ...ask, input: { command: 'rm' } }
    const opening = session.open([{ ask: other, key: 'k' }])
    await Promise.all([
      session.say(added('b', 'after')),
      expect(opening).rejects.toMatchObject({ code: 'key_conflict' }),
    ])
    expect(fixture.agentTexts()).toEqual(['before', 'after'])
  })

  it('AgentSession.ask is refused if earlier events cannot be stored', async () => {
    const call: Call = async (op, input, options) => {
      const isBlocked = op === 'appendEvents' || (op === 'openRequest' && 'events' in input)
      if (isBlocked) throw new Fault('body_too_large', 'too large')
      return fixture.asRunner(op, input, options)
    }
    const { session } = await open({}, { call })
    session.sayQuietly(added('a', 'before'))
    await expect(session.open([{ ask, key: 'k' }])).rejects.toThrow('too large')
    await expect(session.open([{ ask, key: 'k' }])).rejects.toThrow('too large')
    expect(fixture.eventsOf('request.opened')).toHaveLength(0)
  })

  it('AgentSession.ask keeps waiting when the gateway restarts', async () => {
    const { session } = await open()
    const asking = session.ask(ask, { key: 'k' })
    const request = await fixture.waitForRequest('k')
    let said: Promise<void> | undefined
    await fixture.restartGateway(async () => {
      said = session.say(added('a', 'meanwhile'))
    })
    await fixture.answer(request, { kind: 'deny', reason: 'no' })
    expect(await asking).toMatchObject({ kind: 'answer', answer: { kind: 'deny', reason: 'no' } })
    await said
  })

  it('AgentSession.ask withdraws the request when its signal aborts', async () => {
    const { session } = await open()
    const controller = new AbortController()
    const asking = session.ask(ask, { key: 'k', signal: controller.signal })
    await fixture.waitForRequest('k')
    controller.abort()
    expect(await asking).toMatchObject({ kind: 'agent', reason: 'withdrawn' })
    expect((await fixture.waitForEvent('request.resolved')).resolution).toMatchObject({
      by: 'agent',
      reason: 'withdrawn',
    })
  })

  it('AgentSession.ask does not deliver an answer if the request is withdrawn before the answer is handed', async () => {
    const controller = new AbortController()
    const call: Call = async (op, input, options) => {
      const output = await fixture.asRunner(op, input, options)
      if (op === 'getRequest') {
        controller.abort()
        await fixture.waitForEvent('request.undeliverable')
      }
      return output
    }
    const { session } = await open({}, { call })
    const asking = session.ask(ask, { key: 'k', signal: controller.signal })
    await fixture.answer(await fixture.waitForRequest('k'), { kind: 'allow' })
    expect(await asking).toMatchObject({ kind: 'agent', reason: 'withdrawn' })
    expect(fixture.eventsOf('request.handed')).toEqual([])
  })

  it('after a crash, AgentSession.ask reports a handed allow as unknown and hands a deny again (G5)', async () => {
    const { id, session } = await open()
    const handed = ['allow', 'deny'].map(kind => session.ask({ ...ask, title: kind }, { key: kind }))
    await fixture.answer(await fixture.waitForRequest('allow'), { kind: 'allow' })
    await fixture.answer(await fixture.waitForRequest('deny'), { kind: 'deny' })
    await Promise.all(handed)
    const next = await attach(id, await announce())
    expect(await next.ask({ ...ask, title: 'allow' }, { key: 'allow' })).toMatchObject({
      kind: 'unknown',
      answer: { kind: 'allow' },
    })
    expect(await next.ask({ ...ask, title: 'deny' }, { key: 'deny' })).toMatchObject({
      kind: 'answer',
      answer: { kind: 'deny' },
    })
    await expect(session.say(added('a', 'late'))).rejects.toMatchObject({ code: 'fenced' })
    expect(session.signal.aborted).toBe(true)
  })

  it('AgentSession.ask opens several asks together or not at all', async () => {
    const { session } = await open()
    await session.open([{ ask, key: 'taken' }])
    const other = { ...ask, input: { command: 'rm' } }
    await expect(
      session.open([
        { ask, key: 'fresh' },
        { ask: other, key: 'taken' },
      ]),
    ).rejects.toMatchObject({ code: 'key_conflict' })
    expect((await fixture.waitForEvent('request.resolved')).resolution).toMatchObject({
      by: 'agent',
      reason: 'withdrawn',
    })
    const bad = { ...ask, tool: '' }
    await expect(
      session.open([
        { ask, key: 'never' },
        { ask: bad, key: 'bad' },
      ]),
    ).rejects.toMatchObject({ code: 'bad_input' })
    expect(fixture.eventsOf('request.opened').map(event => event.value.key)).toEqual(['taken', 'fresh'])
  })
})

describe('AgentSession.commands', () => {
  it('AgentSession.commands yields commands in order, including a command that an earlier runner had taken', async () => {
    const { id, session } = await open()
    await fixture.asPerson('sendMessage', { id, text: 'second' })
    const seen: unknown[] = []
    for await (const command of session.commands()) {
      seen.push([command.seq, command.redelivered])
      if (command.seq === 1) await command.take()
      if (command.seq === 2) break
    }
    const next = await attach(id, await announce())
    for await (const command of next.commands()) {
      seen.push([command.seq, command.redelivered])
      await command.done()
      if (command.seq === 2) break
    }
    expect(seen).toEqual([
      [1, false],
      [2, false],
      [1, true],
      [2, false],
    ])
    expect(next.turnOpen).toBe(true)
  })

  it('AgentSession.commands ends when the session is parked', async () => {
    const { id, session } = await open()
    const reading = (async () => {
      for await (const command of session.commands()) await command.done()
    })()
    await fixture.waitForEvent('command.done')
    await session.park()
    await reading
    expect((await fixture.asPerson('getSession', { id })).state).toBe('parked')
  })
})
