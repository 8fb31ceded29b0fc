import { type DriverInfo, Fault } from '@holdpoint/protocol'
import { afterEach, describe, expect, it } from 'vitest'
import { type AgentSession, approval, type Driver, defineAgent, generatorDriver } from '../src/index.ts'
import type { RunnerProblem } from '../src/runner.ts'
import { ManualClock, RunnerFixture } from './runner-fixture.ts'

let fixture: RunnerFixture
afterEach(() => fixture.close())

const asker = generatorDriver(
  defineAgent({
    name: 'asker',
    title: 'Asker',
    async *run(turn) {
      yield `working on ${turn.text}. `
      yield (yield* approval('May I?')).allowed ? 'did it' : 'did not'
    },
  }),
)
function plain(name: string, run: (session: AgentSession) => Promise<void>, resumable = false): Driver {
  const info = { name, title: name, capabilities: resumable ? ['resumable' as const] : [], modes: [], ready: true }
  return { info: () => info, run }
}
const waiting = (session: AgentSession) =>
  new Promise<void>(resolve => {
    if (session.signal.aborted) resolve()
    else session.signal.addEventListener('abort', () => resolve(), { once: true })
  })

/** Returns a driver's `run` that says hello first, so that a test can wait until the session runs. */
const greeting = (run: (session: AgentSession) => Promise<void>) => async (session: AgentSession) => {
  await session.say({ type: 'message.added', block: 'hello', text: 'hello' })
  await run(session)
}

describe('a runner', () => {
  it('a runner runs two sessions at the same time', async () => {
    fixture = await RunnerFixture.open()
    fixture.startRunner([asker])
    const one = await fixture.startSession('asker', { prompt: 'one' })
    const two = await fixture.startSession('asker', { prompt: 'two' })
    const requests = [await fixture.waitForRequest('t1.2', one), await fixture.waitForRequest('t1.2', two)]
    await fixture.answer(requests[1]!, { kind: 'allow' })
    await fixture.waitForEvent('turn.finished', event => event.session === two)
    await fixture.answer(requests[0]!, { kind: 'deny' })
    await fixture.waitForEvent('turn.finished', event => event.session === one)
    expect(fixture.agentTexts()).toHaveLength(2)
    const said = fixture.eventsOf('message.added').map(event => [event.session, event.text])
    expect(said).toEqual(
      expect.arrayContaining([
        [one, 'did not'],
        [two, 'did it'],
      ]),
    )
  })

  it('a runner fails only the affected session if a driver throws, and reports the error', async () => {
    fixture = await RunnerFixture.open()
    const problems: RunnerProblem[] = []
    const buggy = plain('buggy', () => Promise.reject(new TypeError('undefined is not a function')))
    fixture.startRunner([asker, buggy], { log: problem => problems.push(problem) })
    const good = await fixture.startSession('asker')
    const bad = await fixture.startSession('buggy')
    const ended = await fixture.waitForEvent('session.ended', event => event.session === bad)
    expect(ended.value.ending).toEqual({ reason: 'failed', detail: 'undefined is not a function' })
    expect(fixture.eventsOf('error.raised').map(event => event.session)).toEqual([bad])
    expect(problems).toEqual([{ event: 'session.failed', session: bad, message: 'undefined is not a function' }])
    await fixture.answer(await fixture.waitForRequest('t1.2', good), { kind: 'allow' })
    expect((await fixture.waitForTurnEnd()).ending).toBe('done')
  })

  it('a runner ends a session whose driver returns without parking or ending it', async () => {
    fixture = await RunnerFixture.open()
    fixture.startRunner([plain('quick', async () => {})])
    const id = await fixture.startSession('quick')
    await fixture.waitForEvent('session.ended')
    expect((await fixture.asPerson('getSession', { id })).ending).toEqual({ reason: 'done' })
  })

  it('a runner stops when another runner starts with the same id, and the other runner continues its sessions', async () => {
    fixture = await RunnerFixture.open({ settings: { runnerTtlMs: 300 } })
    const first = fixture.startRunner([asker])
    const id = await fixture.startSession('asker')
    const request = await fixture.waitForRequest('t1.2')
    const second = fixture.startRunner([asker])
    await expect(first.finished).rejects.toMatchObject({ code: 'fenced' })
    await fixture.answer(request, { kind: 'allow' })
    expect((await fixture.waitForTurnEnd()).ending).toBe('done')
    expect(fixture.agentTexts()).toEqual(['working on go. ', 'did it'])
    expect((await fixture.asPerson('getSession', { id })).state).toBe('idle')
    await second.stop()
  })

  it('a runner that is told to stop parks resumable sessions, ends the other sessions, and retires', async () => {
    fixture = await RunnerFixture.open()
    const runner = fixture.startRunner([asker, plain('fleeting', waiting)])
    const parked = await fixture.startSession('asker')
    const ended = await fixture.startSession('fleeting')
    const request = await fixture.waitForRequest('t1.2')
    await fixture.waitForEvent('session.changed', event => event.session === ended && event.value.runner !== null)
    await runner.stop()
    expect((await fixture.asPerson('getSession', { id: parked })).state).toBe('parked')
    expect((await fixture.asPerson('getSession', { id: ended })).ending).toMatchObject({ reason: 'stopped' })
    expect((await fixture.asPerson('listRunners', {})).items[0]?.live).toBe(false)
    expect((await fixture.asPerson('getRequest', { id: request.id })).status).toBe('pending')
    fixture.startRunner([asker])
    await fixture.answer(request, { kind: 'allow' })
    expect((await fixture.waitForTurnEnd()).ending).toBe('done')
  })

  it('a runner reports work that it could not park in its own log and in the session log', async () => {
    fixture = await RunnerFixture.open()
    const problems: RunnerProblem[] = []
    const halfDone = async (session: AgentSession) => {
      await waiting(session)
      await session.say({ type: 'message.added', block: 'b', text: 'last words' })
      await session.park('half of it is done')
    }
    const drivers = [plain('fleeting', greeting(waiting)), plain('half', greeting(halfDone), true)]
    const runner = fixture.startRunner(drivers, { log: problem => problems.push(problem) })
    const ended = await fixture.startSession('fleeting')
    const parked = await fixture.startSession('half')
    for (const id of [ended, parked]) await fixture.waitForEvent('message.added', event => event.session === id)
    await runner.stop()
    expect(problems).toEqual(
      expect.arrayContaining([
        { event: 'session.unfinished', session: ended, message: expect.stringContaining('cannot resume') },
        { event: 'session.unfinished', session: parked, message: 'half of it is done' },
      ]),
    )
    expect(fixture.agentTexts()).toContain('last words')
    expect(fixture.eventsOf('error.raised')).toMatchObject([{ session: parked, code: 'unfinished' }])
    expect((await fixture.asPerson('getSession', { id: parked })).state).toBe('parked')
  })

  it('a runner logs the sessions that it could not release because stopping took too long', async () => {
    const clock = new ManualClock()
    fixture = await RunnerFixture.open({ clock })
    const problems: RunnerProblem[] = []
    const stubborn = plain(
      'stubborn',
      greeting(() => new Promise(() => {})),
      true,
    )
    const runner = fixture.startRunner([stubborn], { log: problem => problems.push(problem) })
    const id = await fixture.startSession('stubborn')
    await fixture.waitForEvent('message.added')
    const stopped = runner.stop()
    await clock.advance(10_000)
    await stopped
    expect(problems).toContainEqual({
      event: 'session.kept',
      session: id,
      message: expect.stringContaining('took too long'),
    })
  })

  it('a runner immediately reports changed capabilities of a driver to the gateway', async () => {
    fixture = await RunnerFixture.open()
    let learnt = () => {}
    let capabilities: DriverInfo['capabilities'] = ['resumable']
    const info = () => ({ name: 'pupil', title: 'Pupil', capabilities, modes: [], ready: true })
    const onChange = (changed: () => void) => {
      learnt = changed
    }
    fixture.startRunner([{ info, run: waiting, onChange }])
    await fixture.startSession('pupil')
    capabilities = ['resumable', 'parkable']
    learnt()
    const known = async () => (await fixture.asPerson('listDrivers', {})).items[0]?.capabilities ?? []
    while (!(await known()).includes('parkable')) await new Promise(resolve => setImmediate(resolve))
    const { capabilities: of } = await fixture.asPerson('startSession', { driver: 'pupil' })
    expect(of).toContain('parkable')
  })

  it('a runner keeps its agents running when the gateway restarts', async () => {
    fixture = await RunnerFixture.open()
    let runs = 0
    const counting = generatorDriver(
      defineAgent({
        name: 'asker',
        title: 'Asker',
        async *run() {
          runs++
          yield 'before'
          yield `${(yield* approval('May I?')).allowed}`
        },
      }),
    )
    fixture.startRunner([counting])
    await fixture.startSession('asker')
    const request = await fixture.waitForRequest('t1.2')
    await fixture.restartGateway()
    await fixture.answer(request, { kind: 'allow' })
    expect((await fixture.waitForTurnEnd()).ending).toBe('done')
    expect(runs).toBe(1)
    expect(fixture.agentTexts()).toEqual(['before', 'true'])
  })

  it('a runner stops its agents and itself if the gateway stays unreachable', async () => {
    const clock = new ManualClock()
    fixture = await RunnerFixture.open({ clock })
    let away = false
    let driven = (_: AbortSignal) => {}
    const driving = new Promise<AbortSignal>(resolve => {
      driven = resolve
    })
    const call: typeof fixture.asRunner = async (op, input, options) => {
      if (away) throw new Fault('draining', 'nobody here')
      return fixture.asRunner(op, input, options)
    }
    const holding = plain(
      'holding',
      session => {
        driven(session.signal)
        return waiting(session)
      },
      true,
    )
    const runner = fixture.startRunner([holding], { call, awayMaxMs: 60_000 })
    await fixture.startSession('holding')
    const signal = await driving
    away = true
    await clock.advance(50_000)
    expect(signal.aborted).toBe(false)
    await clock.advance(30_000)
    await runner.finished
    expect(signal.aborted).toBe(true)
  })
})
