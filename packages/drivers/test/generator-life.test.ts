import { afterEach, describe, expect, it } from 'vitest'
import { type AgentYield, all, approval, defineAgent, generatorDriver, step, type Turn, text } from '../src/index.ts'
import { ManualClock, RunnerFixture } from './runner-fixture.ts'

type Run = (turn: Turn) => AsyncGenerator<AgentYield, void, unknown>
let fixture: RunnerFixture
afterEach(() => fixture.close())

async function play(run: Run, options: Parameters<RunnerFixture['startSession']>[1] = {}) {
  fixture = await RunnerFixture.open()
  fixture.startRunner([generatorDriver(defineAgent({ name: 'a', title: 'A', run }))])
  return fixture.startSession('a', options)
}

describe('a generator agent that throws', () => {
  it('a generator agent that throws leaves its stack in the runner’s log, and the session says that the last turn failed', async () => {
    const id = await play(async function* readSettings(turn) {
      yield 'hello'
      if (turn.text === 'go') throw new TypeError('settings.port is missing')
    })
    await fixture.waitForTurnEnd()
    const [problem] = fixture.problems
    expect(problem).toMatchObject({ event: 'turn.failed', session: id })
    expect(problem?.message).toMatch(
      /^TypeError: settings\.port is missing\n\s+at Object\.readSettings.*generator-life\.test\.ts/,
    )
    const session = await fixture.asPerson('getSession', { id })
    expect(session).toMatchObject({
      state: 'idle',
      lastTurn: { ending: 'failed', problem: 'settings.port is missing' },
    })
    await fixture.asPerson('sendMessage', { id, text: 'again' })
    await fixture.waitForTurnEnd(2)
    expect((await fixture.asPerson('getSession', { id })).lastTurn).toEqual({ ending: 'done', at: expect.any(Number) })
    expect(fixture.problems).toHaveLength(1)
  })
})

describe('interrupting a generator agent', () => {
  it('interrupting a generator agent ends the turn immediately and keeps its partial text, and queued messages are then processed in order', async () => {
    let aborted = false
    const id = await play(async function* (turn) {
      yield `hello ${turn.text}`
      if (turn.text !== 'go') return
      turn.signal.addEventListener('abort', () => {
        aborted = true
      })
      await fixture.asPerson('sendMessage', { id: turn.session.id, text: 'second' })
      await fixture.asPerson('sendMessage', { id: turn.session.id, text: 'third' })
      await fixture.asPerson('interruptSession', { id: turn.session.id })
      await new Promise(() => {})
    })
    await fixture.waitForTurnEnd(3)
    expect(fixture.eventsOf('turn.finished').map(event => event.ending)).toEqual(['interrupted', 'done', 'done'])
    expect(fixture.agentTexts()).toEqual(['hello go', 'hello second', 'hello third'])
    expect(aborted).toBe(true)
    expect((await fixture.asPerson('getSession', { id })).state).toBe('idle')
  })

  it('interrupting a generator agent ends a turn that waits for an answer, and resolves its request', async () => {
    let past = false
    const id = await play(async function* () {
      yield* approval('May I?')
      past = true
    })
    await fixture.waitForRequest('t1.1')
    await fixture.asPerson('interruptSession', { id })
    expect((await fixture.waitForTurnEnd()).ending).toBe('interrupted')
    expect((await fixture.waitForEvent('request.resolved')).resolution).toMatchObject({
      by: 'agent',
      reason: 'interrupted',
    })
    expect(past).toBe(false)
  })

  it('interrupting a generator agent does not wait for a running step, and says that the step may have run', async () => {
    const id = await play(async function* () {
      yield* step('slow', () => new Promise<void>(() => {}))
    })
    await fixture.waitForEvent('tool.started')
    await fixture.asPerson('interruptSession', { id })
    expect((await fixture.waitForTurnEnd()).ending).toBe('interrupted')
    expect((await fixture.waitForEvent('tool.finished')).output).toMatchObject({ unknown: true })
  })

  it('interrupting a generator agent does not affect the next message if the session is idle', async () => {
    const id = await play(async function* (turn) {
      yield turn.text
    })
    await fixture.waitForTurnEnd()
    await fixture.asPerson('interruptSession', { id })
    await fixture.waitFor(() => (fixture.eventsOf('command.done').length === 2 ? true : undefined))
    await fixture.asPerson('sendMessage', { id, text: 'again' })
    expect((await fixture.waitForTurnEnd(2)).ending).toBe('done')
  })
})

describe('ending a session of a generator agent', () => {
  it('ending a session of a generator agent stops the agent and releases the lease', async () => {
    let signal: AbortSignal | undefined
    const id = await play(async function* (turn) {
      signal = turn.signal
      yield* approval('May I?')
    })
    await fixture.waitForRequest('t1.1')
    await fixture.asPerson('endSession', { id })
    await fixture.waitFor(() =>
      fixture.eventsOf('command.done').find(event => event.session === id && event.outcome.ok),
    )
    expect(signal?.aborted).toBe(true)
    expect((await fixture.asPerson('getSession', { id })).ending).toMatchObject({ reason: 'stopped' })
    expect(fixture.eventsOf('turn.finished')).toEqual([])
  })
})

describe('parking a generator agent', () => {
  async function playHeld(run: Run, options: Parameters<RunnerFixture['startSession']>[1] = {}) {
    const clock = new ManualClock()
    fixture = await RunnerFixture.open({ clock })
    let runs = 0
    const counted: Run = turn => {
      runs++
      return run(turn)
    }
    fixture.startRunner([generatorDriver(defineAgent({ name: 'a', title: 'A', run: counted }), { clock })])
    const id = await fixture.startSession('a', options)
    const state = async () => (await fixture.asPerson('getSession', { id })).state
    return { id, clock, state, runs: () => runs }
  }

  it('an idle session of a generator agent is parked after idleParkMs, and a message resumes it', async () => {
    const { id, clock, state } = await playHeld(async function* (turn) {
      yield `${turn.history.length}`
    })
    await fixture.waitForTurnEnd()
    await clock.advance(14 * 60_000, 5000)
    expect(await state()).toBe('idle')
    await clock.advance(2 * 60_000, 5000)
    expect(await state()).toBe('parked')
    await fixture.asPerson('sendMessage', { id, text: 'again' })
    await fixture.waitForTurnEnd(2)
    expect(fixture.agentTexts()).toEqual(['0', '2'])
    expect(await state()).toBe('idle')
  })

  it('a session of a generator agent is parked when a request is pending for longer than parkAfterMs, and the answer resumes the session', async () => {
    const run: Run = async function* () {
      yield 'before'
      const n = yield* step('count', () => 42)
      const answer = yield* approval('May I?')
      yield `after ${n} ${answer.allowed}`
    }
    const { clock, state, runs } = await playHeld(run, { parkAfterMs: 30_000 })
    const request = await fixture.waitForRequest('t1.3')
    await clock.advance(29_000)
    expect(await state()).toBe('working')
    await clock.advance(2000)
    expect(await state()).toBe('parked')
    await clock.advance(60_000)
    expect(runs()).toBe(1)
    await fixture.answer(request, { kind: 'allow' })
    await fixture.waitForTurnEnd()
    expect(runs()).toBe(2)
    expect(fixture.agentTexts()).toEqual(['before', 'after 42 true'])
    expect(fixture.eventsOf('tool.started')).toHaveLength(1)
    expect(fixture.eventsOf('request.handed')).toHaveLength(1)
    expect(fixture.eventsOf('request.unknown')).toEqual([])
  })

  it('a session is not parked while its generator agent holds a secret, or while only some of the answers have arrived', async () => {
    const run: Run = async function* () {
      yield* all([text('The key?', { secret: true }), approval('May I?')])
      yield* approval('And this?')
      yield 'done'
    }
    const { clock, state, runs } = await playHeld(run, { parkAfterMs: 0 })
    const secret = await fixture.waitForRequest('t1.1')
    const other = await fixture.waitForRequest('t1.2')
    await clock.advance(2000)
    expect(await state()).toBe('parked')
    await fixture.answer(secret, { kind: 'answers', answers: [{ id: 'text', chosen: [], other: 'hunter2' }] })
    await clock.advance(5000)
    expect(runs()).toBe(2)
    expect(await state()).toBe('working')
    await fixture.answer(other, { kind: 'allow' })
    const last = await fixture.waitForRequest('t1.3')
    await clock.advance(5000)
    expect(await state()).toBe('working')
    await fixture.answer(last, { kind: 'allow' })
    await fixture.waitForTurnEnd()
    expect(runs()).toBe(2)
  })
})
