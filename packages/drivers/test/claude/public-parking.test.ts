/** Tests parking with the CLI's documented `defer`, which is used for versions that fail the self-test and with the option `parking: 'public'`. */
import type { Answer } from '@holdpoint/protocol'
import { afterEach, describe, expect, it } from 'vitest'
import { ManualClock, type RunningRunner } from '../runner-fixture.ts'
import {
  advanceUntil,
  ClaudeFixture,
  type ClaudeFixtureOptions,
  isAlive,
  slowClaude,
  wrapClaude,
} from './claude-fixture.ts'
import { bash, type ModelScript, say, steps, toolUse } from './model.ts'

let claude: ClaudeFixture
afterEach(() => claude.close())

const question = {
  question: 'Which?',
  header: 'W',
  multiSelect: false,
  options: ['A', 'B'].map(label => ({ label, description: label })),
}
const askQuestion = toolUse('AskUserQuestion', { questions: [question] }, 'toolu_1')
const answerB: Answer = { kind: 'answers', answers: [{ id: 'q1', chosen: ['B'] }] }
const planner: ModelScript = ({ results }) =>
  results.length === 0 ? [toolUse('ExitPlanMode', {}, 'toolu_1')] : [say('done')]

async function openRequest(
  script: ModelScript,
  more: Parameters<ClaudeFixture['startClaude']>[0] = {},
  options: ClaudeFixtureOptions = {},
) {
  const clock = new ManualClock()
  claude = await ClaudeFixture.create(script, { clock, parking: 'public', ...options })
  const id = await claude.startClaude({ parkAfterMs: 120_000, ...more })
  const request = await claude.waitForRequest()
  await claude.waitForTranscript(id)
  return { id, request, clock }
}
async function park(
  script: ModelScript,
  more: Parameters<ClaudeFixture['startClaude']>[0] = {},
  options: ClaudeFixtureOptions = {},
) {
  const { id, request, clock } = await openRequest(script, more, options)
  const pid = claude.pidOf(id)
  await clock.advance(110_000, 5000)
  expect(isAlive(pid)).toBe(true)
  await advanceUntil(clock, claude.waitUntilParked(id))
  expect(isAlive(pid)).toBe(false)
  await clock.advance(3600_000, 60_000)
  expect((await claude.getRequest()).status).toBe('pending')
  return { id, request, clock }
}
async function answerAndFinish(request: Awaited<ReturnType<typeof park>>['request'], answer: Answer) {
  await claude.answer(request, answer)
  expect((await claude.waitForTurnEnd()).ending).toBe('done')
  expect(claude.eventsOf('request.opened')).toHaveLength(1)
  expect((await claude.getRequest()).delivery.state).toBe('taken')
}

describe('parking Claude Code with `defer`', () => {
  it('a Claude Code session that was parked on a question with `defer` passes the answer to the model after an hour', async () => {
    const { request } = await park(steps([askQuestion]))
    await answerAndFinish(request, answerB)
    expect(claude.model.toolResult()).toContain('"Which?"="B"')
    expect(claude.model.calls).toHaveLength(2)
  })

  it('a Claude Code session that was parked on a plan with `defer` enters the approved mode after an hour', async () => {
    const { id, request } = await park(planner, { mode: 'plan' })
    await answerAndFinish(request, { kind: 'allow', mode: 'acceptEdits', input: { plan: '# Edited' } })
    expect(claude.model.toolResult()).toContain('# Edited')
    expect((await claude.asPerson('getSession', { id })).mode).toBe('acceptEdits')
  })

  it('a Claude Code session that was parked on a question with `defer` passes the reason to the model if a person declines', async () => {
    const { request } = await park(steps([askQuestion]))
    await answerAndFinish(request, { kind: 'decline', reason: 'not today' })
    expect(claude.model.toolResult()).toContain('not today')
  })

  it('a Claude Code session that was parked on a question with `defer` passes the answer to the model on a slow machine', async () => {
    const { request } = await park(steps([askQuestion]), {}, { executable: slowClaude() })
    await answerAndFinish(request, { kind: 'decline', reason: 'not so fast' })
    expect(claude.model.toolResult()).toContain('not so fast')
  })

  it('a Claude Code session that was parked with `defer` resumes again if its runner is killed before the answer is handed', async () => {
    claude = await ClaudeFixture.create(steps([askQuestion]), { parking: 'public' })
    let runner: RunningRunner
    let killed = false
    const run = () => {
      runner = claude.startRunner([claude.driver()], { crashPoint })
    }
    const crashPoint = (point: string) => {
      if (point !== 'runner:resolution-seen' || killed) return
      killed = true
      runner.kill()
      run()
    }
    run()
    const id = await claude.startSession('claude', { cwd: claude.cwd, parkAfterMs: 0 })
    const request = await claude.waitForRequest()
    await claude.waitUntilParked(id)
    await answerAndFinish(request, answerB)
    expect(killed).toBe(true)
    expect(claude.model.toolResult()).toContain('"Which?"="B"')
    expect(claude.model.calls).toHaveLength(2)
  })

  it('a question that Claude Code refuses by itself opens no request, even with `defer`', async () => {
    claude = await ClaudeFixture.create(steps([askQuestion]), { parking: 'public' })
    await claude.startClaude({ parkAfterMs: 120_000, mode: 'dontAsk' })
    await claude.waitForTurnEnd()
    expect(claude.eventsOf('request.opened')).toEqual([])
  })

  it('a Claude Code session is not parked with `defer` on a question that is answered in time', async () => {
    const { request } = await openRequest(steps([askQuestion]))
    await answerAndFinish(request, answerB)
    expect(claude.model.toolResult()).toContain('"Which?"="B"')
    expect(claude.eventsOf('session.changed').some(event => event.value.state === 'parked')).toBe(false)
  })

  it('a Claude Code session can be interrupted before and after it is parked on a question with `defer`', async () => {
    const { id, clock } = await openRequest(steps([askQuestion]))
    await advanceUntil(
      clock,
      claude.asPerson('interruptSession', { id }).then(() => claude.waitForTurnEnd()),
    )
    expect((await claude.waitForTurnEnd()).ending).toBe('interrupted')
    await claude.close()
    const parked = await park(steps([askQuestion]))
    await claude.asPerson('interruptSession', { id: parked.id })
    expect((await claude.waitForTurnEnd()).ending).toBe('interrupted')
  })

  it('a Claude Code session is not parked with `defer` on a command, and the log says why', async () => {
    const { id, clock, request } = await openRequest(steps([bash('echo ran >> ran.txt')]))
    const noted = claude.waitForEvent('session.changed', event => event.value.process?.note !== undefined)
    await advanceUntil(clock, noted)
    expect((await noted).value.process?.note).toContain('only be parked on a question or a plan')
    expect(isAlive(claude.pidOf(id))).toBe(true)
    await answerAndFinish(request, { kind: 'allow' })
    expect(claude.readFile('ran.txt')).toBe('ran\n')
  })

  it('a Claude Code session is not parked with `defer` on a question if the same step contains another call', async () => {
    const script: ModelScript = ({ results }) =>
      results.length === 0 ? [bash('ls', 'toolu_0'), askQuestion] : [say('done')]
    const { id, clock, request } = await openRequest(script)
    const noted = claude.waitForEvent(
      'session.changed',
      event => event.value.process?.note?.includes('the same step contains another call') ?? false,
    )
    await advanceUntil(clock, noted)
    expect(isAlive(claude.pidOf(id))).toBe(true)
    await answerAndFinish(request, answerB)
  })

  it('a runner that is stopped parks a Claude Code session with `defer` on its question, and the next runner resumes the session', async () => {
    claude = await ClaudeFixture.create(steps([askQuestion]), { parking: 'public' })
    const runner = claude.startRunner()
    const id = await claude.startSession('claude', { cwd: claude.cwd, parkAfterMs: 120_000 })
    const request = await claude.waitForRequest()
    await claude.waitForTranscript(id)
    await runner.stop()
    await claude.waitUntilParked(id)
    expect(claude.eventsOf('error.raised')).toEqual([])
    claude.startRunner()
    await answerAndFinish(request, answerB)
    expect(claude.model.toolResult()).toContain('"Which?"="B"')
    expect(claude.model.calls).toHaveLength(2)
  })
})

describe('when Claude Code fails the parking self-test', () => {
  it('if Claude Code fails the parking self-test, a session is parked with `defer`, and the driver does not report the capability “parkable”', async () => {
    const { id, request } = await park(
      steps([askQuestion]),
      {},
      { parking: 'auto', executable: claudeThatCannotResume() },
    )
    expect((await claude.asPerson('getSession', { id })).capabilities).not.toContain('parkable')
    await answerAndFinish(request, answerB)
    expect(claude.model.toolResult()).toContain('"Which?"="B"')
    expect((await claude.asPerson('listDrivers', {})).items[0]?.capabilities).not.toContain('parkable')
  })
})

describe('when Claude Code asks a question before the parking self-test has finished', () => {
  it('if Claude Code asks a question before the parking self-test has finished, the session is parked as soon as the self-test has passed', async () => {
    const { id, request } = await park(steps([askQuestion]), {}, { parking: 'auto' })
    await answerAndFinish(request, answerB)
    expect(claude.model.toolResult()).toContain('"Which?"="B"')
    const { items } = await claude.asPerson('listDrivers', {})
    expect(items[0]?.capabilities).toContain('parkable')
    expect((await claude.asPerson('getSession', { id })).capabilities).toContain('parkable')
  })
})

describe('Claude Code with the driver option `parking: off`', () => {
  it('the process of Claude Code keeps running with `parking: off` while a question is pending, and the log says why', async () => {
    const { id, clock, request } = await openRequest(steps([askQuestion]), {}, { parking: 'off' })
    const noted = claude.waitForEvent('session.changed', event => event.value.process?.note !== undefined)
    await advanceUntil(clock, noted)
    expect((await noted).value.process?.note).toContain('off')
    expect(isAlive(claude.pidOf(id))).toBe(true)
    await answerAndFinish(request, answerB)
  })
})

/** A wrapper around Claude Code that exits if it is started with an ask rule for Bash, so that Bash calls cannot be resumed. */
const claudeThatCannotResume = () => wrapClaude(`case "$*" in *'"ask":["Bash'*) exit 1;; esac; exec "$claude" "$@"`)
