import { type DriverInfo, Fault } from '@holdpoint/protocol'
import { afterEach, describe, expect, it } from 'vitest'
import { type AgentSession, approval, type Driver, defineAgent, generatorDriver } from '../src/index.ts'
import type { RunnerProblem } from '../src/runner.ts'
import { ManualClock, RunnerFixture } from './runner-fixture.ts'

let stage: RunnerFixture
afterEach(() => stage.close())

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

/** Says that it is there before it does anything else. */
const greeting = (run: (session: AgentSession) => Promise<void>) => async (session: AgentSession) => {
  await session.say({ type: 'message.added', block: 'hello', text: 'hello' })
  await run(session)
}

describe('a runner', () => {
  it('drives two sessions at once', async () => {
    stage = await RunnerFixture.open()
    stage.run([asker])
    const one = await stage.start('asker', { prompt: 'one' })
    const two = await stage.start('asker', { prompt: 'two' })
    const requests = [await stage.asked('t1.2', one), await stage.asked('t1.2', two)]
    await stage.answer(requests[1]!, { kind: 'allow' })
    await stage.seen('turn.finished', event => event.session === two)
    await stage.answer(requests[0]!, { kind: 'deny' })
    await stage.seen('turn.finished', event => event.session === one)
    expect(stage.texts()).toHaveLength(2)
    const said = stage.log('message.added').map(event => [event.session, event.text])
    expect(said).toEqual(
      expect.arrayContaining([
        [one, 'did not'],
        [two, 'did it'],
      ]),
    )
  })

  it('walls off the bug of one driver: only its session fails, visibly', async () => {
    stage = await RunnerFixture.open()
    const troubles: RunnerProblem[] = []
    const buggy = plain('buggy', () => Promise.reject(new TypeError('undefined is not a function')))
    stage.run([asker, buggy], { log: trouble => troubles.push(trouble) })
    const good = await stage.start('asker')
    const bad = await stage.start('buggy')
    const ended = await stage.seen('session.ended', event => event.session === bad)
    expect(ended.value.ending).toEqual({ reason: 'failed', detail: 'undefined is not a function' })
    expect(stage.log('error.raised').map(event => event.session)).toEqual([bad])
    expect(troubles).toEqual([{ event: 'session.failed', session: bad, message: 'undefined is not a function' }])
    await stage.answer(await stage.asked('t1.2', good), { kind: 'allow' })
    expect((await stage.turnOver()).ending).toBe('done')
  })

  it('that returns from a session without a word has ended it', async () => {
    stage = await RunnerFixture.open()
    stage.run([plain('quick', async () => {})])
    const id = await stage.start('quick')
    await stage.seen('session.ended')
    expect((await stage.person('getSession', { id })).ending).toEqual({ reason: 'done' })
  })

  it('yields to a newer start of itself, and its sessions go on there', async () => {
    stage = await RunnerFixture.open({ settings: { runnerTtlMs: 300 } })
    const first = stage.run([asker])
    const id = await stage.start('asker')
    const request = await stage.asked('t1.2')
    const second = stage.run([asker])
    await expect(first.over).rejects.toMatchObject({ code: 'fenced' })
    await stage.answer(request, { kind: 'allow' })
    expect((await stage.turnOver()).ending).toBe('done')
    expect(stage.texts()).toEqual(['working on go. ', 'did it'])
    expect((await stage.person('getSession', { id })).state).toBe('idle')
    await second.stop()
  })

  it('parks what can resume when it is told to stop, ends the rest, and retires', async () => {
    stage = await RunnerFixture.open()
    const runner = stage.run([asker, plain('fleeting', waiting)])
    const parked = await stage.start('asker')
    const ended = await stage.start('fleeting')
    const request = await stage.asked('t1.2')
    await stage.seen('session.changed', event => event.session === ended && event.value.runner !== null)
    await runner.stop()
    expect((await stage.person('getSession', { id: parked })).state).toBe('parked')
    expect((await stage.person('getSession', { id: ended })).ending).toMatchObject({ reason: 'stopped' })
    expect((await stage.person('listRunners', {})).items[0]?.live).toBe(false)
    expect((await stage.person('getRequest', { id: request.id })).status).toBe('pending')
    stage.run([asker])
    await stage.answer(request, { kind: 'allow' })
    expect((await stage.turnOver()).ending).toBe('done')
  })

  it('says of each session what it could not park: to its own log, and to the session’s', async () => {
    stage = await RunnerFixture.open()
    const troubles: RunnerProblem[] = []
    const halfDone = async (session: AgentSession) => {
      await waiting(session)
      await session.say({ type: 'message.added', block: 'b', text: 'last words' })
      await session.park('half of it is done')
    }
    const drivers = [plain('fleeting', greeting(waiting)), plain('half', greeting(halfDone), true)]
    const runner = stage.run(drivers, { log: trouble => troubles.push(trouble) })
    const ended = await stage.start('fleeting')
    const parked = await stage.start('half')
    for (const id of [ended, parked]) await stage.seen('message.added', event => event.session === id)
    await runner.stop()
    expect(troubles).toEqual(
      expect.arrayContaining([
        { event: 'session.unfinished', session: ended, message: expect.stringContaining('cannot resume') },
        { event: 'session.unfinished', session: parked, message: 'half of it is done' },
      ]),
    )
    expect(stage.texts()).toContain('last words')
    expect(stage.log('error.raised')).toMatchObject([{ session: parked, code: 'unfinished' }])
    expect((await stage.person('getSession', { id: parked })).state).toBe('parked')
  })

  it('names the sessions that it leaves to the gateway because stopping took too long', async () => {
    const clock = new ManualClock()
    stage = await RunnerFixture.open({ clock })
    const troubles: RunnerProblem[] = []
    const stubborn = plain(
      'stubborn',
      greeting(() => new Promise(() => {})),
      true,
    )
    const runner = stage.run([stubborn], { log: trouble => troubles.push(trouble) })
    const id = await stage.start('stubborn')
    await stage.seen('message.added')
    const stopped = runner.stop()
    await clock.advance(10_000)
    await stopped
    expect(troubles).toContainEqual({
      event: 'session.kept',
      session: id,
      message: expect.stringContaining('took too long'),
    })
  })

  it('says at once when what a driver can do has changed', async () => {
    stage = await RunnerFixture.open()
    let learnt = () => {}
    let capabilities: DriverInfo['capabilities'] = ['resumable']
    const info = () => ({ name: 'pupil', title: 'Pupil', capabilities, modes: [], ready: true })
    const onChange = (changed: () => void) => {
      learnt = changed
    }
    stage.run([{ info, run: waiting, onChange }])
    await stage.start('pupil')
    capabilities = ['resumable', 'parkable']
    learnt()
    const known = async () => (await stage.person('listDrivers', {})).items[0]?.capabilities ?? []
    while (!(await known()).includes('parkable')) await new Promise(resolve => setImmediate(resolve))
    const { capabilities: of } = await stage.person('startSession', { driver: 'pupil' })
    expect(of).toContain('parkable')
  })

  it('outlives the gateway: its agents notice nothing of a restart', async () => {
    stage = await RunnerFixture.open()
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
    stage.run([counting])
    await stage.start('asker')
    const request = await stage.asked('t1.2')
    await stage.restart()
    await stage.answer(request, { kind: 'allow' })
    expect((await stage.turnOver()).ending).toBe('done')
    expect(runs).toBe(1)
    expect(stage.texts()).toEqual(['before', 'true'])
  })

  it('gives up on a gateway that stays away, and lets its agents go', async () => {
    const clock = new ManualClock()
    stage = await RunnerFixture.open({ clock })
    let away = false
    let driven = (_: AbortSignal) => {}
    const driving = new Promise<AbortSignal>(resolve => {
      driven = resolve
    })
    const call: typeof stage.runner = async (op, input, options) => {
      if (away) throw new Fault('draining', 'nobody here')
      return stage.runner(op, input, options)
    }
    const holding = plain(
      'holding',
      session => {
        driven(session.signal)
        return waiting(session)
      },
      true,
    )
    const runner = stage.run([holding], { call, awayMaxMs: 60_000 })
    await stage.start('holding')
    const signal = await driving
    away = true
    await clock.advance(50_000)
    expect(signal.aborted).toBe(false)
    await clock.advance(30_000)
    await runner.over
    expect(signal.aborted).toBe(true)
  })
})
