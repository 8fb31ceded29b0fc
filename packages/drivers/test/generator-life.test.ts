import { afterEach, describe, expect, it } from 'vitest'
import { type AgentYield, all, approval, defineAgent, generatorDriver, step, type Turn, text } from '../src/index.ts'
import { ManualClock, RunnerFixture } from './runner-fixture.ts'

type Run = (turn: Turn) => AsyncGenerator<AgentYield, void, unknown>
let stage: RunnerFixture
afterEach(() => stage.close())

async function play(run: Run, options: Parameters<RunnerFixture['start']>[1] = {}) {
  stage = await RunnerFixture.open()
  stage.run([generatorDriver(defineAgent({ name: 'a', title: 'A', run }))])
  return stage.start('a', options)
}

describe('an interrupt', () => {
  it('ends the turn at once, keeps the partial text, and the messages that wait go on in order', async () => {
    let aborted = false
    const id = await play(async function* (turn) {
      yield `hello ${turn.text}`
      if (turn.text !== 'go') return
      turn.signal.addEventListener('abort', () => {
        aborted = true
      })
      await stage.person('sendMessage', { id: turn.session.id, text: 'second' })
      await stage.person('sendMessage', { id: turn.session.id, text: 'third' })
      await stage.person('interruptSession', { id: turn.session.id })
      await new Promise(() => {})
    })
    await stage.turnOver(3)
    expect(stage.log('turn.finished').map(event => event.ending)).toEqual(['interrupted', 'done', 'done'])
    expect(stage.texts()).toEqual(['hello go', 'hello second', 'hello third'])
    expect(aborted).toBe(true)
    expect((await stage.person('getSession', { id })).state).toBe('idle')
  })

  it('ends a turn that waits for an answer, and resolves its request', async () => {
    let past = false
    const id = await play(async function* () {
      yield* approval('May I?')
      past = true
    })
    await stage.asked('t1.1')
    await stage.person('interruptSession', { id })
    expect((await stage.turnOver()).ending).toBe('interrupted')
    expect((await stage.seen('request.resolved')).resolution).toMatchObject({ by: 'agent', reason: 'interrupted' })
    expect(past).toBe(false)
  })

  it('does not wait for a step that is under way, and says that it may have run', async () => {
    const id = await play(async function* () {
      yield* step('slow', () => new Promise<void>(() => {}))
    })
    await stage.seen('tool.started')
    await stage.person('interruptSession', { id })
    expect((await stage.turnOver()).ending).toBe('interrupted')
    expect((await stage.seen('tool.finished')).output).toMatchObject({ unknown: true })
  })

  it('of an idle session does nothing', async () => {
    const id = await play(async function* (turn) {
      yield turn.text
    })
    await stage.turnOver()
    await stage.person('interruptSession', { id })
    await stage.until(() => (stage.log('command.done').length === 2 ? true : undefined))
    await stage.person('sendMessage', { id, text: 'again' })
    expect((await stage.turnOver(2)).ending).toBe('done')
  })
})

describe('the end of a session', () => {
  it('by a person stops the agent and gives the lease back', async () => {
    let signal: AbortSignal | undefined
    const id = await play(async function* (turn) {
      signal = turn.signal
      yield* approval('May I?')
    })
    await stage.asked('t1.1')
    await stage.person('endSession', { id })
    await stage.until(() => stage.log('command.done').find(event => event.session === id && event.outcome.ok))
    expect(signal?.aborted).toBe(true)
    expect((await stage.person('getSession', { id })).ending).toMatchObject({ reason: 'stopped' })
    expect(stage.log('turn.finished')).toEqual([])
  })
})

describe('parking', () => {
  async function playHeld(run: Run, options: Parameters<RunnerFixture['start']>[1] = {}) {
    const clock = new ManualClock()
    stage = await RunnerFixture.open({ clock })
    let runs = 0
    const counted: Run = turn => {
      runs++
      return run(turn)
    }
    stage.run([generatorDriver(defineAgent({ name: 'a', title: 'A', run: counted }), { clock })])
    const id = await stage.start('a', options)
    const state = async () => (await stage.person('getSession', { id })).state
    return { id, clock, state, runs: () => runs }
  }

  it('an idle session lets go after a while, and a message brings it back', async () => {
    const { id, clock, state } = await playHeld(async function* (turn) {
      yield `${turn.history.length}`
    })
    await stage.turnOver()
    await clock.advance(14 * 60_000, 5000)
    expect(await state()).toBe('idle')
    await clock.advance(2 * 60_000, 5000)
    expect(await state()).toBe('parked')
    await stage.person('sendMessage', { id, text: 'again' })
    await stage.turnOver(2)
    expect(stage.texts()).toEqual(['0', '2'])
    expect(await state()).toBe('idle')
  })

  it('a request that waits longer than the warm window lets the generator go, and the answer brings it back', async () => {
    const run: Run = async function* () {
      yield 'before'
      const n = yield* step('count', () => 42)
      const answer = yield* approval('May I?')
      yield `after ${n} ${answer.allowed}`
    }
    const { clock, state, runs } = await playHeld(run, { parkAfterMs: 30_000 })
    const request = await stage.asked('t1.3')
    await clock.advance(29_000)
    expect(await state()).toBe('working')
    await clock.advance(2000)
    expect(await state()).toBe('parked')
    await clock.advance(60_000)
    expect(runs()).toBe(1)
    await stage.answer(request, { kind: 'allow' })
    await stage.turnOver()
    expect(runs()).toBe(2)
    expect(stage.texts()).toEqual(['before', 'after 42 true'])
    expect(stage.log('tool.started')).toHaveLength(1)
    expect(stage.log('request.handed')).toHaveLength(1)
    expect(stage.log('request.unknown')).toEqual([])
  })

  it('a generator that holds a secret or half of its answers is not let go', async () => {
    const run: Run = async function* () {
      yield* all([text('The key?', { secret: true }), approval('May I?')])
      yield* approval('And this?')
      yield 'done'
    }
    const { clock, state, runs } = await playHeld(run, { parkAfterMs: 0 })
    const secret = await stage.asked('t1.1')
    const other = await stage.asked('t1.2')
    await clock.advance(2000)
    expect(await state()).toBe('parked')
    await stage.answer(secret, { kind: 'answers', answers: [{ id: 'text', chosen: [], other: 'hunter2' }] })
    await clock.advance(5000)
    expect(runs()).toBe(2)
    expect(await state()).toBe('working')
    await stage.answer(other, { kind: 'allow' })
    const last = await stage.asked('t1.3')
    await clock.advance(5000)
    expect(await state()).toBe('working')
    await stage.answer(last, { kind: 'allow' })
    await stage.turnOver()
    expect(runs()).toBe(2)
  })
})
