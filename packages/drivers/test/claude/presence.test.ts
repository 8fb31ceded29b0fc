/** What people are told of Claude Code itself: what its process holds, why it is kept, how it ended; and what a runner that stops could not park. */
import type { SessionId } from '@holdpoint/protocol'
import { afterEach, describe, expect, it } from 'vitest'
import type { RunnerProblem } from '../../src/runner.ts'
import { ManualClock } from '../runner-fixture.ts'
import { alive, ClaudeFixture, eventually, pass } from './claude-fixture.ts'
import { bash, call, type Play, say, steps } from './model.ts'

let house: ClaudeFixture
afterEach(() => house.close())

const echo = steps([bash('echo ran >> ran.txt')])
const helper = {
  description: 'helper',
  prompt: 'help',
  subagent_type: 'general-purpose',
  run_in_background: false,
}
/** An agent under the agent asks. */
const delegating: Play = ({ prompt, results, all }) => {
  if (prompt === 'help') return results.length === 0 ? [bash('echo ran >> ran.txt')] : [say('helped')]
  return all.includes('toolu_agent') ? [say('done')] : [call('Agent', helper, 'toolu_agent')]
}

/** The states of the process, as the log has told them. */
const states = () => {
  const told = house.stage.log('session.changed').flatMap(event => event.value.process?.state ?? [])
  return told.filter((state, index) => state !== told[index - 1])
}
const processOf = async (id: SessionId) => (await house.stage.person('getSession', { id })).process
const told = (state: string) => house.stage.seen('session.changed', event => event.value.process?.state === state)

describe('the process of a session', () => {
  it('is told of: that it lives and what it holds, from its start to the end of the turn', async () => {
    house = await ClaudeFixture.open(echo)
    const id = await house.start()
    const request = await house.asked()
    const { value } = await told('live')
    expect(value.process).toMatchObject({ pid: house.pid(id), memoryMb: expect.any(Number) })
    expect(value.process?.memoryMb).toBeGreaterThan(50)
    await house.stage.answer(request, { kind: 'allow' })
    await house.over()
    expect(await processOf(id)).toMatchObject({ state: 'live', pid: house.pid(id) })
    expect(house.stage.log('session.changed').length).toBeLessThan(10)
  })

  it('is told to be parked, brought back, and done with', async () => {
    house = await ClaudeFixture.open(echo, { parks: true })
    const id = await house.start({ parkAfterMs: 0 })
    const request = await house.asked()
    await house.parked(id)
    expect(await processOf(id)).toMatchObject({ state: 'parked' })
    await house.stage.answer(request, { kind: 'allow' })
    await house.over()
    await told('done')
    expect(states()).toEqual(['live', 'parked', 'live', 'done'])
  })

  it('that was idle is told to have been let go for it', async () => {
    const clock = new ManualClock()
    house = await ClaudeFixture.open(() => [say('hello')], { clock, idleParkMs: 60_000 })
    const id = await house.start()
    await house.over()
    await pass(clock, house.parked(id))
    expect(await processOf(id)).toMatchObject({ state: 'idle' })
  })

  it('that was killed is told to be lost, with how', async () => {
    house = await ClaudeFixture.open(echo)
    const id = await house.start()
    await house.asked()
    await house.onRecord(id)
    process.kill(house.pid(id)!, 'SIGKILL')
    await house.parked(id)
    expect(await processOf(id)).toMatchObject({ state: 'lost', note: expect.stringContaining('SIGKILL') })
  })

  it('that must be kept says why, until what it waited for is answered', async () => {
    const clock = new ManualClock()
    house = await ClaudeFixture.open(delegating, { parks: true, clock })
    const id = await house.start({ parkAfterMs: 0 })
    const request = await house.asked()
    const kept = house.stage.seen('session.changed', event => event.value.process?.note !== undefined)
    await pass(clock, kept)
    const { process } = (await kept).value
    expect(process).toMatchObject({ state: 'live', memoryMb: expect.any(Number) })
    expect(process?.note).toContain('an agent under the agent')
    expect(house.stage.log('error.raised')).toEqual([])
    await house.stage.answer(request, { kind: 'allow' })
    await house.over()
    expect((await processOf(id))?.note).toBeUndefined()
  })
})

/** Has its runner stopped when it is told to, and hears what the runner says of it. */
async function stopped(play: Play, until: (id: SessionId) => Promise<unknown>, options = {}) {
  house = await ClaudeFixture.open(play, { parks: true, ...options })
  const troubles: RunnerProblem[] = []
  const runner = house.stage.run([house.driver()], { log: trouble => troubles.push(trouble) })
  const id = await house.stage.start('claude', { cwd: house.cwd, parkAfterMs: null })
  await until(id)
  await runner.stop()
  await house.parked(id)
  const raised = house.stage.log('error.raised').filter(event => event.code === 'unfinished')
  return { id, troubles, raised }
}

describe('a runner that is told to stop', () => {
  it('has nothing to say of a call that it can park', async () => {
    const { id, troubles, raised } = await stopped(echo, async session => {
      await house.asked()
      await house.onRecord(session)
    })
    expect(troubles).toEqual([])
    expect(raised).toEqual([])
    expect(await processOf(id)).toMatchObject({ state: 'stopped' })
  })

  it('says to its log and to the session’s that a turn is left unfinished', async () => {
    const { id, troubles, raised } = await stopped(
      () => new Promise(() => {}),
      async session => {
        await eventually(() => house.model.scenes.length > 0)
        await house.onRecord(session, '"user"')
      },
    )
    expect(raised).toMatchObject([{ session: id, message: expect.stringContaining('the turn ends here') }])
    expect(troubles).toEqual([{ event: 'session.unfinished', session: id, message: raised[0]?.message }])
  })

  it('says which call cannot be had again and why; answered later, the agent is told', async () => {
    const play: Play = scene =>
      scene.all.includes('This is what was decided') && scene.prompt !== 'help' ? [say('I see')] : delegating(scene)
    const { id, troubles, raised } = await stopped(play, async session => {
      await house.asked()
      await house.onRecord(session, 'toolu_agent')
    })
    expect(raised).toMatchObject([{ session: id, message: expect.stringContaining('an agent under the agent') }])
    expect(troubles).toMatchObject([{ event: 'session.unfinished', session: id }])
    house.run()
    await house.stage.answer(await house.request(), { kind: 'deny', reason: 'not like this' })
    await house.over()
    expect(house.model.read('not like this')).toBe(true)
  })

  it('says that what an allowed call has done is not known', async () => {
    const { troubles, raised } = await stopped(steps([bash('echo $$ > pid.txt; sleep 30')]), async () => {
      await house.stage.answer(await house.asked(), { kind: 'allow' })
      await eventually(() => (house.file('pid.txt') ?? '').endsWith('\n'))
    })
    expect(raised[0]?.message).toContain('outcome is unknown')
    expect(troubles).toHaveLength(1)
    await eventually(() => !alive(Number(house.file('pid.txt'))))
  })
})
