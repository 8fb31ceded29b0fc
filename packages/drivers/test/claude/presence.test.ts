/** What people are told of Claude Code itself: what its process holds, why it is kept, how it ended; and what a runner that stops could not park. */
import type { SessionId } from '@holdpoint/protocol'
import { afterEach, describe, expect, it } from 'vitest'
import type { RunnerProblem } from '../../src/runner.ts'
import { ManualClock } from '../runner-fixture.ts'
import { advanceUntil, ClaudeFixture, isAlive, waitUntil } from './claude-fixture.ts'
import { bash, type ModelScript, say, steps, toolUse } from './model.ts'

let claude: ClaudeFixture
afterEach(() => claude.close())

const echo = steps([bash('echo ran >> ran.txt')])
const helper = {
  description: 'helper',
  prompt: 'help',
  subagent_type: 'general-purpose',
  run_in_background: false,
}
/** An agent under the agent asks. */
const delegating: ModelScript = ({ prompt, results, conversation }) => {
  if (prompt === 'help') return results.length === 0 ? [bash('echo ran >> ran.txt')] : [say('helped')]
  return conversation.includes('toolu_agent') ? [say('done')] : [toolUse('Agent', helper, 'toolu_agent')]
}

/** The states of the process, as the log has told them. */
const states = () => {
  const told = claude.eventsOf('session.changed').flatMap(event => event.value.process?.state ?? [])
  return told.filter((state, index) => state !== told[index - 1])
}
const processOf = async (id: SessionId) => (await claude.asPerson('getSession', { id })).process
const told = (state: string) => claude.waitForEvent('session.changed', event => event.value.process?.state === state)

describe('the process of a session', () => {
  it('is told of: that it lives and what it holds, from its start to the end of the turn', async () => {
    claude = await ClaudeFixture.create(echo)
    const id = await claude.startClaude()
    const request = await claude.waitForRequest()
    const { value } = await told('live')
    expect(value.process).toMatchObject({ pid: claude.pidOf(id), memoryMb: expect.any(Number) })
    expect(value.process?.memoryMb).toBeGreaterThan(50)
    await claude.answer(request, { kind: 'allow' })
    await claude.waitForTurnEnd()
    expect(await processOf(id)).toMatchObject({ state: 'live', pid: claude.pidOf(id) })
    expect(claude.eventsOf('session.changed').length).toBeLessThan(10)
  })

  it('is told to be parked, brought back, and done with', async () => {
    claude = await ClaudeFixture.create(echo, { knownParkable: true })
    const id = await claude.startClaude({ parkAfterMs: 0 })
    const request = await claude.waitForRequest()
    await claude.waitUntilParked(id)
    expect(await processOf(id)).toMatchObject({ state: 'parked' })
    await claude.answer(request, { kind: 'allow' })
    await claude.waitForTurnEnd()
    await told('done')
    expect(states()).toEqual(['live', 'parked', 'live', 'done'])
  })

  it('that was idle is told to have been let go for it', async () => {
    const clock = new ManualClock()
    claude = await ClaudeFixture.create(() => [say('hello')], { clock, idleParkMs: 60_000 })
    const id = await claude.startClaude()
    await claude.waitForTurnEnd()
    await advanceUntil(clock, claude.waitUntilParked(id))
    expect(await processOf(id)).toMatchObject({ state: 'idle' })
  })

  it('that was killed is told to be lost, with how', async () => {
    claude = await ClaudeFixture.create(echo)
    const id = await claude.startClaude()
    await claude.waitForRequest()
    await claude.waitForTranscript(id)
    process.kill(claude.pidOf(id)!, 'SIGKILL')
    await claude.waitUntilParked(id)
    expect(await processOf(id)).toMatchObject({ state: 'lost', note: expect.stringContaining('SIGKILL') })
  })

  it('that must be kept says why, until what it waited for is answered', async () => {
    const clock = new ManualClock()
    claude = await ClaudeFixture.create(delegating, { knownParkable: true, clock })
    const id = await claude.startClaude({ parkAfterMs: 0 })
    const request = await claude.waitForRequest()
    const kept = claude.waitForEvent('session.changed', event => event.value.process?.note !== undefined)
    await advanceUntil(clock, kept)
    const { process } = (await kept).value
    expect(process).toMatchObject({ state: 'live', memoryMb: expect.any(Number) })
    expect(process?.note).toContain('an agent under the agent')
    expect(claude.eventsOf('error.raised')).toEqual([])
    await claude.answer(request, { kind: 'allow' })
    await claude.waitForTurnEnd()
    expect((await processOf(id))?.note).toBeUndefined()
  })
})

/** Has its runner stopped when it is told to, and hears what the runner says of it. */
async function stopped(script: ModelScript, until: (id: SessionId) => Promise<unknown>, options = {}) {
  claude = await ClaudeFixture.create(script, { knownParkable: true, ...options })
  const troubles: RunnerProblem[] = []
  const runner = claude.startRunner([claude.driver()], { log: trouble => troubles.push(trouble) })
  const id = await claude.startSession('claude', { cwd: claude.cwd, parkAfterMs: null })
  await until(id)
  await runner.stop()
  await claude.waitUntilParked(id)
  const raised = claude.eventsOf('error.raised').filter(event => event.code === 'unfinished')
  return { id, troubles, raised }
}

describe('a runner that is told to stop', () => {
  it('has nothing to say of a call that it can park', async () => {
    const { id, troubles, raised } = await stopped(echo, async session => {
      await claude.waitForRequest()
      await claude.waitForTranscript(session)
    })
    expect(troubles).toEqual([])
    expect(raised).toEqual([])
    expect(await processOf(id)).toMatchObject({ state: 'stopped' })
  })

  it('says to its log and to the session’s that a turn is left unfinished', async () => {
    const { id, troubles, raised } = await stopped(
      () => new Promise(() => {}),
      async session => {
        await waitUntil(() => claude.model.calls.length > 0)
        await claude.waitForTranscript(session, '"user"')
      },
    )
    expect(raised).toMatchObject([{ session: id, message: expect.stringContaining('the turn ends here') }])
    expect(troubles).toEqual([{ event: 'session.unfinished', session: id, message: raised[0]?.message }])
  })

  it('says which call cannot be had again and why; answered later, the agent is told', async () => {
    const script: ModelScript = call =>
      call.conversation.includes('This is what was decided') && call.prompt !== 'help'
        ? [say('I see')]
        : delegating(call)
    const { id, troubles, raised } = await stopped(script, async session => {
      await claude.waitForRequest()
      await claude.waitForTranscript(session, 'toolu_agent')
    })
    expect(raised).toMatchObject([{ session: id, message: expect.stringContaining('an agent under the agent') }])
    expect(troubles).toMatchObject([{ event: 'session.unfinished', session: id }])
    claude.startRunner()
    await claude.answer(await claude.getRequest(), { kind: 'deny', reason: 'not like this' })
    await claude.waitForTurnEnd()
    expect(claude.model.hasRead('not like this')).toBe(true)
  })

  it('says that what an allowed call has done is not known', async () => {
    const { troubles, raised } = await stopped(steps([bash('echo $$ > pid.txt; sleep 30')]), async () => {
      await claude.answer(await claude.waitForRequest(), { kind: 'allow' })
      await waitUntil(() => (claude.readFile('pid.txt') ?? '').endsWith('\n'))
    })
    expect(raised[0]?.message).toContain('outcome is unknown')
    expect(troubles).toHaveLength(1)
    await waitUntil(() => !isAlive(Number(claude.readFile('pid.txt'))))
  })
})
