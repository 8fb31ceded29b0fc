/** Tests parking with marker rows and the real Claude Code: the process is stopped while a request is pending, and the answer resumes the same call. */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Answer } from '@holdpoint/protocol'
import { afterEach, describe, expect, it } from 'vitest'
import { ManualClock, type RunningRunner } from '../runner-fixture.ts'
import { advanceUntil, ClaudeFixture, type ClaudeFixtureOptions, isAlive, slowClaude } from './claude-fixture.ts'
import { bash, type ModelScript, say, steps, toolUse } from './model.ts'

let claude: ClaudeFixture
afterEach(() => claude.close())

const hourMs = 3600 * 1000
const touch = steps([bash('echo ran >> ran.txt')])
const question = {
  question: 'Which?',
  header: 'W',
  multiSelect: false,
  options: ['A', 'B'].map(label => ({ label, description: label })),
}
const planner: ModelScript = ({ results }) =>
  results.length === 0 ? [toolUse('ExitPlanMode', {}, 'toolu_1')] : [say('done')]

/** Starts a session, waits until it is parked on its request, then advances the clock by an hour. */
async function park(
  script: ModelScript,
  more: Parameters<ClaudeFixture['startClaude']>[0] = {},
  options: ClaudeFixtureOptions = {},
) {
  const clock = new ManualClock()
  claude = await ClaudeFixture.create(script, { knownParkable: true, clock, ...options })
  const id = await claude.startClaude({ parkAfterMs: 120_000, ...more })
  const request = await claude.waitForRequest()
  await claude.waitForTranscript(id)
  const pid = claude.pidOf(id)
  expect(isAlive(pid)).toBe(true)
  await clock.advance(110_000, 5000)
  expect(isAlive(pid)).toBe(true)
  await advanceUntil(clock, claude.waitUntilParked(id))
  expect(isAlive(pid)).toBe(false)
  expect(claude.pidOf(id)).toBeNull()
  await clock.advance(hourMs, 60_000)
  expect((await claude.getRequest()).status).toBe('pending')
  return { id, request, clock }
}
async function parkAndAnswer(
  script: ModelScript,
  answer: Answer,
  more: Parameters<ClaudeFixture['startClaude']>[0] = {},
) {
  const { id, request } = await park(script, more)
  await claude.answer(request, answer)
  expect((await claude.waitForTurnEnd()).ending).toBe('done')
  expect(claude.eventsOf('request.opened')).toHaveLength(1)
  expect((await claude.getRequest()).delivery.state).toBe('taken')
  return id
}

describe('when the request of a parked Claude Code session is answered after an hour', () => {
  it('a command of Claude Code that is allowed an hour after the session was parked runs once', async () => {
    await parkAndAnswer(touch, { kind: 'allow', note: 'late but sure' })
    expect(claude.readFile('ran.txt')).toBe('ran\n')
    expect(claude.model.hasRead('late but sure')).toBe(true)
  })

  it('a command of Claude Code that is denied an hour after the session was parked does not run, and the model is told why', async () => {
    await parkAndAnswer(touch, { kind: 'deny', reason: 'too late' })
    expect(claude.readFile('ran.txt')).toBeNull()
    expect(claude.model.toolResult()).toContain('too late')
  })

  it('a command of Claude Code that is edited an hour after the session was parked runs as the person edited it', async () => {
    await parkAndAnswer(touch, {
      kind: 'allow',
      input: { command: 'echo edited >> ran.txt', description: 'a command' },
    })
    expect(claude.readFile('ran.txt')).toBe('edited\n')
  })

  it('the answer to a question of a parked Claude Code session reaches the model after an hour', async () => {
    const script = steps([toolUse('AskUserQuestion', { questions: [question] }, 'toolu_1')])
    await parkAndAnswer(script, { kind: 'answers', answers: [{ id: 'q1', chosen: ['B'] }] })
    expect(claude.model.toolResult()).toContain('"Which?"="B"')
  })

  it('the edited plan of a parked Claude Code session reaches the model after an hour', async () => {
    const plan = { kind: 'allow', mode: 'acceptEdits', input: { plan: '# Edited' } } as const
    await parkAndAnswer(planner, plan, { mode: 'plan' })
    expect(claude.model.toolResult()).toContain('# Edited')
  })

  it('an “always allow” suggestion of a parked Claude Code session that is accepted after an hour applies to the next equal call', async () => {
    const script = steps([bash('mkdir -p a/b')], [bash('mkdir -p a/b', 'toolu_2')])
    const { request } = await park(script)
    const suggestions = request.ask.kind === 'approval' ? (request.ask.suggestions ?? []) : []
    const suggestion = suggestions.find(one => one.scope === 'localSettings')
    await claude.answer(request, { kind: 'allow', suggestion: suggestion!.id })
    expect((await claude.waitForTurnEnd()).ending).toBe('done')
    expect(claude.readFile('.claude/settings.local.json')).toContain('mkdir')
    expect(claude.model.toolResult('toolu_2')).toBeDefined()
    expect(claude.eventsOf('request.opened')).toHaveLength(1)
  })

  it('an accepted “always allow” suggestion of a parked Claude Code session does not override a rule that says ask', async () => {
    const { request } = await park(steps([bash('mkdir -p a/b')], [bash('mkdir -p a/b', 'toolu_2')]))
    const suggestions = request.ask.kind === 'approval' ? (request.ask.suggestions ?? []) : []
    await claude.asPerson('addRule', { effect: 'ask', tool: 'Bash', command: 'mkdir -p a/b' })
    await claude.answer(request, { kind: 'allow', suggestion: suggestions[0]!.id })
    await claude.answer(await claude.waitForRequest('toolu_2'), { kind: 'deny', reason: 'once is enough' })
    await claude.waitForTurnEnd()
    expect(claude.model.toolResult('toolu_2')).toContain('once is enough')
  })

  it('a resumed Claude Code session asks only about the pending call, and other calls run as the mode says', async () => {
    const line = (n: number) => [bash(`echo ${n} >> ran.txt`, `toolu_${n}`)]
    const { id, request } = await park(steps(line(1), line(2)))
    await claude.asPerson('patchSession', { id, mode: 'acceptEdits' })
    await claude.answer(request, { kind: 'deny', reason: 'not one' })
    expect((await claude.waitForTurnEnd()).ending).toBe('done')
    expect(claude.model.toolResult()).toContain('not one')
    expect(claude.readFile('ran.txt')).toBe('2\n')
    expect(claude.eventsOf('request.opened')).toHaveLength(1)
  })

  it('a parked Claude Code session resumes from the driver’s transcript if the CLI’s own transcript is missing', async () => {
    const { request } = await park(touch)
    rmSync(join(claude.home, 'config', 'projects'), { recursive: true })
    await claude.answer(request, { kind: 'allow' })
    expect((await claude.waitForTurnEnd()).ending).toBe('done')
    expect(claude.readFile('ran.txt')).toBe('ran\n')
    expect(claude.eventsOf('request.opened')).toHaveLength(1)
  })

  it('the next message to a resumed Claude Code session continues the same conversation', async () => {
    const id = await parkAndAnswer(touch, { kind: 'allow' })
    await claude.asPerson('sendMessage', { id, text: 'and now?' })
    expect((await claude.waitForTurnEnd(2)).ending).toBe('done')
    expect(claude.model.calls.at(-1)?.prompt).toBe('and now?')
    expect(claude.model.calls.at(-1)?.results).toHaveLength(1)
  })
})

describe('parking Claude Code with marker rows', () => {
  it('a Claude Code session can be parked three times in one turn', async () => {
    const clock = new ManualClock()
    const line = (n: number) => [bash(`echo ${n} >> ran.txt`, `toolu_${n}`)]
    claude = await ClaudeFixture.create(steps(line(1), line(2), line(3)), { knownParkable: true, clock })
    const id = await claude.startClaude({ parkAfterMs: 1000 })
    for (const key of ['toolu_1', 'toolu_2', 'toolu_3']) {
      const request = await claude.waitForRequest(key)
      await claude.waitForTranscript(id, key)
      await advanceUntil(clock, claude.waitUntilParked(id))
      expect(claude.pidOf(id)).toBeNull()
      await claude.answer(request, { kind: 'allow' })
      await claude.waitForEvent('request.taken', event => event.request === request.id)
    }
    await claude.waitForTurnEnd()
    expect(claude.readFile('ran.txt')).toBe('1\n2\n3\n')
    expect(claude.eventsOf('request.opened')).toHaveLength(3)
  })

  it('a message that arrives before a Claude Code session is parked is processed after the pending call', async () => {
    const script: ModelScript = ({ prompt, results }) =>
      results.length === 0 ? [bash('echo ran >> ran.txt')] : [say(`heard ${prompt}`)]
    claude = await ClaudeFixture.create(script, { knownParkable: true })
    const id = await claude.startClaude()
    const request = await claude.waitForRequest()
    await claude.asPerson('sendMessage', { id, text: 'are you there?' })
    await claude.asPerson('patchSession', { id, parkAfterMs: 0 })
    await claude.waitUntilParked(id)
    await claude.answer(request, { kind: 'allow' })
    await claude.waitForTurnEnd(2)
    expect(claude.readFile('ran.txt')).toBe('ran\n')
    expect(claude.agentTexts().at(-1)).toBe('heard are you there?')
  })

  it('a message does not resume a Claude Code session that is parked on a request, and is processed after the answer', async () => {
    const script: ModelScript = ({ prompt, results }) =>
      results.length === 0 ? [bash('echo ran >> ran.txt')] : [say(`heard ${prompt}`)]
    claude = await ClaudeFixture.create(script, { knownParkable: true })
    const id = await claude.startClaude({ parkAfterMs: 0 })
    const request = await claude.waitForRequest()
    await claude.waitUntilParked(id)
    const before = claude.events.length
    await claude.asPerson('sendMessage', { id, text: 'are you there?' })
    await claude.asPerson('sendMessage', { id, text: 'hello?' })
    await new Promise(resolve => setTimeout(resolve, 300))
    expect(claude.pidOf(id)).toBeNull()
    expect(claude.events.slice(before).map(event => event.type)).toEqual(['command.added', 'command.added'])
    await claude.answer(request, { kind: 'allow' })
    await claude.waitForTurnEnd(3)
    expect(claude.agentTexts().slice(1)).toEqual(['heard are you there?', 'heard hello?'])
    expect(claude.readFile('ran.txt')).toBe('ran\n')
  })

  it('a Claude Code session whose calls are answered immediately does not report that it cannot be parked', async () => {
    const line = (n: number) => bash(`echo ${n} >> ran.txt`, `toolu_${n}`)
    const script: ModelScript = ({ results }) =>
      results.length === 0 ? [line(1), line(2), line(3)] : results.length === 3 ? [line(4), line(5)] : [say('done')]
    claude = await ClaudeFixture.create(script, { knownParkable: true })
    claude.answerAll(() => ({ kind: 'allow' }))
    await claude.startClaude({ parkAfterMs: 0 })
    await claude.waitForTurnEnd()
    expect(claude.readFile('ran.txt')).toBe('1\n2\n3\n4\n5\n')
    expect(claude.eventsOf('session.changed').flatMap(event => event.value.process?.note ?? [])).toEqual([])
  })

  it('a call of Claude Code whose runner is stopped or killed three times before the answer is taken keeps its id and runs once', async () => {
    claude = await ClaudeFixture.create(touch, { knownParkable: true })
    let runner: RunningRunner
    let times = 0
    // Stop or kill the runner, alternately, each time after it has resumed the call and before it hands the answer.
    const crashPoint = (point: string) => {
      if (point !== 'runner:resolution-seen' || times === 3) return
      const stopped = ++times % 2 === 0 ? runner.kill() : runner.stop()
      void Promise.resolve(stopped).then(run)
    }
    const run = () => {
      runner = claude.startRunner([claude.driver()], { crashPoint })
    }
    run()
    const id = await claude.startSession('claude', { cwd: claude.cwd, parkAfterMs: 0 })
    const request = await claude.waitForRequest()
    await claude.waitUntilParked(id)
    await claude.answer(request, { kind: 'allow' })
    expect((await claude.waitForTurnEnd()).ending).toBe('done')
    expect(times).toBe(3)
    expect(claude.readFile('ran.txt')).toBe('ran\n')
    expect(claude.eventsOf('request.opened').map(event => event.value.key)).toEqual(['toolu_1'])
    expect(claude.eventsOf('tool.finished').map(event => event.block)).toEqual(['toolu_1'])
    const states = claude.eventsOf('session.changed').map(event => event.value.state)
    expect(states.filter((state, index) => state === 'parked' && states[index - 1] !== 'parked')).toHaveLength(4)
  })

  it('a denied call of Claude Code does not run, even if the machine is slow and an allow rule was added while the session was parked', async () => {
    const slow = { settingSources: ['local' as const] }
    const { request } = await park(touch, {}, { ...slow, executable: slowClaude() })
    mkdirSync(join(claude.cwd, '.claude'), { recursive: true })
    writeFileSync(join(claude.cwd, '.claude/settings.local.json'), '{"permissions":{"allow":["Bash"]}}')
    await claude.answer(request, { kind: 'deny', reason: 'still no' })
    await claude.waitForTurnEnd()
    expect(claude.readFile('ran.txt')).toBeNull()
    expect(claude.model.toolResult()).toContain('still no')
  })

  it('a Claude Code session is not parked while another call in the same step is unfinished, and is parked on the last call', async () => {
    const clock = new ManualClock()
    const both = [bash('echo 1 >> ran.txt', 'toolu_1'), bash('echo 2 >> ran.txt', 'toolu_2')]
    claude = await ClaudeFixture.create(({ results }) => (results.length === 0 ? both : [say('done')]), {
      knownParkable: true,
      clock,
    })
    const id = await claude.startClaude({ parkAfterMs: 1000 })
    const first = await claude.waitForRequest('toolu_1')
    await claude.waitForTranscript(id, 'toolu_2')
    const noted = claude.waitForEvent('session.changed', event => event.value.process?.note !== undefined)
    await advanceUntil(clock, noted)
    expect((await noted).value.process?.note).toContain('another call in the same step')
    expect(isAlive(claude.pidOf(id))).toBe(true)
    await claude.answer(first, { kind: 'allow' })
    const second = await claude.waitForRequest('toolu_2')
    await claude.waitForEvent('request.taken', event => event.request === first.id)
    await advanceUntil(clock, claude.waitUntilParked(id))
    await claude.answer(second, { kind: 'allow' })
    await claude.waitForTurnEnd()
    expect(claude.readFile('ran.txt')).toBe('1\n2\n')
  })

  it('a Claude Code session is not parked on a request while a background task runs', async () => {
    const clock = new ManualClock()
    const backgroundTask = toolUse(
      'Bash',
      { command: 'sleep 60', description: 'x', run_in_background: true },
      'toolu_0',
    )
    claude = await ClaudeFixture.create(steps([backgroundTask], [bash('echo ran >> ran.txt')]), {
      knownParkable: true,
      clock,
    })
    const id = await claude.startClaude({ parkAfterMs: 1000 })
    await claude.waitForRequest()
    const noted = claude.waitForEvent('session.changed', event => event.value.process?.note !== undefined)
    await advanceUntil(clock, noted)
    expect((await noted).value.process?.note).toContain('in the background')
    expect(isAlive(claude.pidOf(id))).toBe(true)
  })

  it('a Claude Code session is not parked if the transcript has grown too much since the call', async () => {
    const clock = new ManualClock()
    const write = (name: string) =>
      toolUse('Write', { file_path: `${claude.cwd}/${name}`, content: 'y'.repeat(700_000) }, `toolu_${name}`)
    const step = () => [write('a'), write('b'), bash('sh -c "echo ran >> ran.txt"')]
    claude = await ClaudeFixture.create(({ results }) => (results.length === 0 ? step() : [say('done')]), {
      knownParkable: true,
      clock,
    })
    const large = await claude.startClaude({ parkAfterMs: 1000, mode: 'acceptEdits' })
    await claude.waitForRequest()
    const reason = 'the transcript has grown too much'
    const full = claude.waitForEvent('session.changed', event => event.value.process?.note?.includes(reason) ?? false)
    await advanceUntil(clock, Promise.race([full, claude.waitUntilParked(large)]))
    expect(isAlive(claude.pidOf(large))).toBe(true)
  })

  it('an idle Claude Code session is not parked while a background task runs', async () => {
    const clock = new ManualClock()
    const backgroundTask = toolUse(
      'Bash',
      { command: 'sleep 60', description: 'x', run_in_background: true },
      'toolu_1',
    )
    claude = await ClaudeFixture.create(steps([backgroundTask]), { clock, idleParkMs: 60_000 })
    const id = await claude.startClaude()
    await claude.waitForTurnEnd()
    await claude.waitForEvent('command.done')
    const pid = claude.pidOf(id)
    await clock.advance(600_000, 10_000)
    await claude.asPerson('sendMessage', { id, text: 'still there?' })
    await claude.waitForTurnEnd(2)
    expect(claude.pidOf(id)).toBe(pid)
    expect(claude.eventsOf('session.changed').some(event => event.value.state === 'parked')).toBe(false)
  })

  it('a Claude Code session is not parked on a request of a subagent', async () => {
    const clock = new ManualClock()
    const agent = { description: 'helper', prompt: 'help', subagent_type: 'general-purpose', run_in_background: false }
    const script: ModelScript = ({ prompt, results, conversation }) => {
      if (prompt === 'help') return results.length === 0 ? [bash('echo ran >> ran.txt')] : [say('helped')]
      return conversation.includes('toolu_agent') ? [say('done')] : [toolUse('Agent', agent, 'toolu_agent')]
    }
    claude = await ClaudeFixture.create(script, { knownParkable: true, clock })
    const id = await claude.startClaude({ parkAfterMs: 0 })
    const request = await claude.waitForRequest()
    const noted = claude.waitForEvent('session.changed', event => event.value.process?.note !== undefined)
    await advanceUntil(clock, noted)
    expect((await noted).value.process?.note).toContain('a subagent')
    expect(isAlive(claude.pidOf(id))).toBe(true)
    await claude.answer(request, { kind: 'allow' })
    await claude.waitForTurnEnd()
    expect(claude.readFile('ran.txt')).toBe('ran\n')
  })

  it('an idle Claude Code session is parked, and a message resumes it', async () => {
    const clock = new ManualClock()
    claude = await ClaudeFixture.create(({ prompt }) => [say(`you said ${prompt}`)], { clock, idleParkMs: 60_000 })
    const id = await claude.startClaude({ prompt: 'one' })
    await claude.waitForTurnEnd()
    const pid = claude.pidOf(id)
    await advanceUntil(clock, claude.waitUntilParked(id))
    expect(isAlive(pid)).toBe(false)
    await claude.asPerson('sendMessage', { id, text: 'two' })
    await claude.waitForTurnEnd(2)
    expect(claude.agentTexts()).toEqual(['you said one', 'you said two'])
    expect(claude.model.calls.at(-1)?.conversation).toContain('you said one')
  })

  it('the Claude Code driver reports the capability “parkable” as soon as the self-test has passed', async () => {
    const clock = new ManualClock()
    claude = await ClaudeFixture.create(touch, { clock })
    const id = await claude.startClaude({ parkAfterMs: 1000 })
    const parkable = async () => {
      const { items } = await claude.asPerson('listDrivers', {})
      return items.some(driver => driver.capabilities.includes('parkable'))
    }
    expect(await parkable()).toBe(false)
    const request = await claude.waitForRequest()
    await advanceUntil(clock, claude.waitUntilParked(id))
    expect(await parkable()).toBe(true)
    const next = await claude.asPerson('startSession', { driver: 'claude', cwd: claude.cwd })
    expect(next.capabilities).toContain('parkable')
    await claude.answer(request, { kind: 'deny' })
    await claude.waitForTurnEnd()
  })

  it('a runner that is stopped parks its Claude Code session, and the next runner resumes the session', async () => {
    claude = await ClaudeFixture.create(touch, { knownParkable: true })
    const runner = claude.startRunner()
    const id = await claude.startSession('claude', { cwd: claude.cwd, parkAfterMs: null })
    const request = await claude.waitForRequest()
    await claude.waitForTranscript(id)
    const pid = claude.pidOf(id)
    await runner.stop()
    expect(isAlive(pid)).toBe(false)
    await claude.waitUntilParked(id)
    claude.startRunner()
    await claude.answer(request, { kind: 'allow' })
    expect((await claude.waitForTurnEnd()).ending).toBe('done')
    expect(claude.readFile('ran.txt')).toBe('ran\n')
  })
})
