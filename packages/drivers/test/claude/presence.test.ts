/** Tests what the session log says about the process of Claude Code: its memory, why it must keep running, how it ended, and which work a stopping runner could not park. */
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
/** A model script that starts a subagent, which then runs a command. */
const delegating: ModelScript = ({ prompt, results, conversation }) => {
  if (prompt === 'help') return results.length === 0 ? [bash('echo ran >> ran.txt')] : [say('helped')]
  return conversation.includes('toolu_agent') ? [say('done')] : [toolUse('Agent', helper, 'toolu_agent')]
}

/** Returns the process states in the order in which the log reports them, without consecutive duplicates. */
const states = () => {
  const all = claude.eventsOf('session.changed').flatMap(event => event.value.process?.state ?? [])
  return all.filter((state, index) => state !== all[index - 1])
}
const processOf = async (id: SessionId) => (await claude.asPerson('getSession', { id })).process
const waitForState = (state: string) =>
  claude.waitForEvent('session.changed', event => event.value.process?.state === state)

describe('the process of a Claude Code session', () => {
  it('the process of a Claude Code session is logged as live, with its memory usage, until the turn has ended', async () => {
    claude = await ClaudeFixture.create(echo)
    const id = await claude.startClaude()
    const request = await claude.waitForRequest()
    const { value } = await waitForState('live')
    expect(value.process).toMatchObject({ pid: claude.pidOf(id), memoryMb: expect.any(Number) })
    expect(value.process?.memoryMb).toBeGreaterThan(50)
    await claude.answer(request, { kind: 'allow' })
    await claude.waitForTurnEnd()
    expect(await processOf(id)).toMatchObject({ state: 'live', pid: claude.pidOf(id) })
    expect(claude.eventsOf('session.changed').length).toBeLessThan(10)
  })

  it('the process of a Claude Code session is logged as live, then as parked, as live again, and as done', async () => {
    claude = await ClaudeFixture.create(echo, { knownParkable: true })
    const id = await claude.startClaude({ parkAfterMs: 0 })
    const request = await claude.waitForRequest()
    await claude.waitUntilParked(id)
    expect(await processOf(id)).toMatchObject({ state: 'parked' })
    await claude.answer(request, { kind: 'allow' })
    await claude.waitForTurnEnd()
    await waitForState('done')
    expect(states()).toEqual(['live', 'parked', 'live', 'done'])
  })

  it('the process of a Claude Code session is logged as idle if it was stopped because the session was idle', async () => {
    const clock = new ManualClock()
    claude = await ClaudeFixture.create(() => [say('hello')], { clock, idleParkMs: 60_000 })
    const id = await claude.startClaude()
    await claude.waitForTurnEnd()
    await advanceUntil(clock, claude.waitUntilParked(id))
    expect(await processOf(id)).toMatchObject({ state: 'idle' })
  })

  it('the process of a Claude Code session is logged as lost, with its signal, if it was killed', async () => {
    claude = await ClaudeFixture.create(echo)
    const id = await claude.startClaude()
    await claude.waitForRequest()
    await claude.waitForTranscript(id)
    process.kill(claude.pidOf(id)!, 'SIGKILL')
    await claude.waitUntilParked(id)
    expect(await processOf(id)).toMatchObject({ state: 'lost', note: expect.stringContaining('SIGKILL') })
  })

  it('the process of a Claude Code session is logged with the reason why it cannot be parked until the request is answered', async () => {
    const clock = new ManualClock()
    claude = await ClaudeFixture.create(delegating, { knownParkable: true, clock })
    const id = await claude.startClaude({ parkAfterMs: 0 })
    const request = await claude.waitForRequest()
    const noted = claude.waitForEvent('session.changed', event => event.value.process?.note !== undefined)
    await advanceUntil(clock, noted)
    const { process } = (await noted).value
    expect(process).toMatchObject({ state: 'live', memoryMb: expect.any(Number) })
    expect(process?.note).toContain('a subagent')
    expect(claude.eventsOf('error.raised')).toEqual([])
    await claude.answer(request, { kind: 'allow' })
    await claude.waitForTurnEnd()
    expect((await processOf(id))?.note).toBeUndefined()
  })
})

/** Starts a session, waits, stops the runner, and returns the problems in the runner log and the errors in the session log. */
async function stopRunner(script: ModelScript, waitUntilReady: (id: SessionId) => Promise<unknown>, options = {}) {
  claude = await ClaudeFixture.create(script, { knownParkable: true, ...options })
  const problems: RunnerProblem[] = []
  const runner = claude.startRunner([claude.driver()], { log: problem => problems.push(problem) })
  const id = await claude.startSession('claude', { cwd: claude.cwd, parkAfterMs: null })
  await waitUntilReady(id)
  await runner.stop()
  await claude.waitUntilParked(id)
  const errors = claude.eventsOf('error.raised').filter(event => event.code === 'unfinished')
  return { id, problems, errors }
}

describe('a runner that is stopped during a Claude Code session', () => {
  it('a runner that is stopped during a Claude Code session reports nothing about a session that it can park', async () => {
    const { id, problems, errors } = await stopRunner(echo, async session => {
      await claude.waitForRequest()
      await claude.waitForTranscript(session)
    })
    expect(problems).toEqual([])
    expect(errors).toEqual([])
    expect(await processOf(id)).toMatchObject({ state: 'stopped' })
  })

  it('a runner that is stopped during a Claude Code session reports an unfinished turn in its own log and in the session log', async () => {
    const { id, problems, errors } = await stopRunner(
      () => new Promise(() => {}),
      async session => {
        await waitUntil(() => claude.model.calls.length > 0)
        await claude.waitForTranscript(session, '"user"')
      },
    )
    expect(errors).toMatchObject([{ session: id, message: expect.stringContaining('the turn ended early') }])
    expect(problems).toEqual([{ event: 'session.unfinished', session: id, message: errors[0]?.message }])
  })

  it('a runner that is stopped during a Claude Code session reports a request that cannot be resumed, and the agent is later told the answer', async () => {
    const script: ModelScript = call =>
      call.conversation.includes('This is what was decided') && call.prompt !== 'help'
        ? [say('I see')]
        : delegating(call)
    const { id, problems, errors } = await stopRunner(script, async session => {
      await claude.waitForRequest()
      await claude.waitForTranscript(session, 'toolu_agent')
    })
    expect(errors).toMatchObject([{ session: id, message: expect.stringContaining('a subagent') }])
    expect(problems).toMatchObject([{ event: 'session.unfinished', session: id }])
    claude.startRunner()
    await claude.answer(await claude.getRequest(), { kind: 'deny', reason: 'not like this' })
    await claude.waitForTurnEnd()
    expect(claude.model.hasRead('not like this')).toBe(true)
  })

  it('a runner that is stopped during a Claude Code session reports that the outcome of a running call is unknown', async () => {
    const { problems, errors } = await stopRunner(steps([bash('echo $$ > pid.txt; sleep 30')]), async () => {
      await claude.answer(await claude.waitForRequest(), { kind: 'allow' })
      await waitUntil(() => (claude.readFile('pid.txt') ?? '').endsWith('\n'))
    })
    expect(errors[0]?.message).toContain('outcome is unknown')
    expect(problems).toHaveLength(1)
    await waitUntil(() => !isAlive(Number(claude.readFile('pid.txt'))))
  })
})
