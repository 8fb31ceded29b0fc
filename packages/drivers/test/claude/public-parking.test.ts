/** Parking by what the CLI documents alone: where the self-test has failed, or a person wants nothing else. */
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
const asking = toolUse('AskUserQuestion', { questions: [question] }, 'toolu_1')
const b: Answer = { kind: 'answers', answers: [{ id: 'q1', chosen: ['B'] }] }
const planner: ModelScript = ({ results }) =>
  results.length === 0 ? [toolUse('ExitPlanMode', {}, 'toolu_1')] : [say('done')]

async function open(
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
  const { id, request, clock } = await open(script, more, options)
  const pid = claude.pidOf(id)
  await clock.advance(110_000, 5000)
  expect(isAlive(pid)).toBe(true)
  await advanceUntil(clock, claude.waitUntilParked(id))
  expect(isAlive(pid)).toBe(false)
  await clock.advance(3600_000, 60_000)
  expect((await claude.getRequest()).status).toBe('pending')
  return { id, request, clock }
}
async function answered(request: Awaited<ReturnType<typeof park>>['request'], answer: Answer) {
  await claude.answer(request, answer)
  expect((await claude.waitForTurnEnd()).ending).toBe('done')
  expect(claude.eventsOf('request.opened')).toHaveLength(1)
  expect((await claude.getRequest()).delivery.state).toBe('taken')
}

describe('by the documented way, a session', () => {
  it('parks while a question waits; the model reads the answer an hour later', async () => {
    const { request } = await park(steps([asking]))
    await answered(request, b)
    expect(claude.model.toolResult()).toContain('"Which?"="B"')
    expect(claude.model.calls).toHaveLength(2)
  })

  it('parks while a plan waits; it is approved into a mode an hour later', async () => {
    const { id, request } = await park(planner, { mode: 'plan' })
    await answered(request, { kind: 'allow', mode: 'acceptEdits', input: { plan: '# Edited' } })
    expect(claude.model.toolResult()).toContain('# Edited')
    expect((await claude.asPerson('getSession', { id })).mode).toBe('acceptEdits')
  })

  it('that was declined meanwhile is told so', async () => {
    const { request } = await park(steps([asking]))
    await answered(request, { kind: 'decline', reason: 'not today' })
    expect(claude.model.toolResult()).toContain('not today')
  })

  it('is told what was said on a slow host too', async () => {
    const { request } = await park(steps([asking]), {}, { executable: slowClaude() })
    await answered(request, { kind: 'decline', reason: 'not so fast' })
    expect(claude.model.toolResult()).toContain('not so fast')
  })

  it('comes back once more where its runner was killed before the answer was handed', async () => {
    claude = await ClaudeFixture.create(steps([asking]), { parking: 'public' })
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
    await answered(request, b)
    expect(killed).toBe(true)
    expect(claude.model.toolResult()).toContain('"Which?"="B"')
    expect(claude.model.calls).toHaveLength(2)
  })

  it('does not ask what the CLI refuses by itself', async () => {
    claude = await ClaudeFixture.create(steps([asking]), { parking: 'public' })
    await claude.startClaude({ parkAfterMs: 120_000, mode: 'dontAsk' })
    await claude.waitForTurnEnd()
    expect(claude.eventsOf('request.opened')).toEqual([])
  })

  it('answers while it is warm as ever', async () => {
    const { request } = await open(steps([asking]))
    await answered(request, b)
    expect(claude.model.toolResult()).toContain('"Which?"="B"')
    expect(claude.eventsOf('session.changed').some(event => event.value.state === 'parked')).toBe(false)
  })

  it('can be interrupted while it is warm, and when it is parked', async () => {
    const { id, clock } = await open(steps([asking]))
    await advanceUntil(
      clock,
      claude.asPerson('interruptSession', { id }).then(() => claude.waitForTurnEnd()),
    )
    expect((await claude.waitForTurnEnd()).ending).toBe('interrupted')
    await claude.close()
    const parked = await park(steps([asking]))
    await claude.asPerson('interruptSession', { id: parked.id })
    expect((await claude.waitForTurnEnd()).ending).toBe('interrupted')
  })

  it('stays live while anything else waits, and says why', async () => {
    const { id, clock, request } = await open(steps([bash('echo ran >> ran.txt')]))
    const kept = claude.waitForEvent('session.changed', event => event.value.process?.note !== undefined)
    await advanceUntil(clock, kept)
    expect((await kept).value.process?.note).toContain('only a question or a plan')
    expect(isAlive(claude.pidOf(id))).toBe(true)
    await answered(request, { kind: 'allow' })
    expect(claude.readFile('ran.txt')).toBe('ran\n')
  })

  it('stays live while a question waits that does not stand alone in its step', async () => {
    const script: ModelScript = ({ results }) =>
      results.length === 0 ? [bash('ls', 'toolu_0'), asking] : [say('done')]
    const { id, clock, request } = await open(script)
    const kept = claude.waitForEvent(
      'session.changed',
      event => event.value.process?.note?.includes('another call stands beside it') ?? false,
    )
    await advanceUntil(clock, kept)
    expect(isAlive(claude.pidOf(id))).toBe(true)
    await answered(request, b)
  })

  it('is parked by a runner that is told to stop, and goes on with the next', async () => {
    claude = await ClaudeFixture.create(steps([asking]), { parking: 'public' })
    const runner = claude.startRunner()
    const id = await claude.startSession('claude', { cwd: claude.cwd, parkAfterMs: 120_000 })
    const request = await claude.waitForRequest()
    await claude.waitForTranscript(id)
    await runner.stop()
    await claude.waitUntilParked(id)
    expect(claude.eventsOf('error.raised')).toEqual([])
    claude.startRunner()
    await answered(request, b)
    expect(claude.model.toolResult()).toContain('"Which?"="B"')
    expect(claude.model.calls).toHaveLength(2)
  })
})

describe('a Claude Code that fails the self-test', () => {
  it('is parked by the documented way, and does not say that it is parkable', async () => {
    const { id, request } = await park(steps([asking]), {}, { parking: 'auto', executable: forgetful() })
    expect((await claude.asPerson('getSession', { id })).capabilities).not.toContain('parkable')
    await answered(request, b)
    expect(claude.model.toolResult()).toContain('"Which?"="B"')
    expect((await claude.asPerson('listDrivers', {})).items[0]?.capabilities).not.toContain('parkable')
  })
})

describe('a question that is asked before the self-test has decided', () => {
  it('is parked all the same once it has', async () => {
    const { id, request } = await park(steps([asking]), {}, { parking: 'auto' })
    await answered(request, b)
    expect(claude.model.toolResult()).toContain('"Which?"="B"')
    const { items } = await claude.asPerson('listDrivers', {})
    expect(items[0]?.capabilities).toContain('parkable')
    expect((await claude.asPerson('getSession', { id })).capabilities).toContain('parkable')
  })
})

describe('parking that is off', () => {
  it('keeps the process of a question too, and says why', async () => {
    const { id, clock, request } = await open(steps([asking]), {}, { parking: 'off' })
    const kept = claude.waitForEvent('session.changed', event => event.value.process?.note !== undefined)
    await advanceUntil(clock, kept)
    expect((await kept).value.process?.note).toContain('off')
    expect(isAlive(claude.pidOf(id))).toBe(true)
    await answered(request, b)
  })
})

/** It cannot be brought back to a Bash call: it does not start with a rule that guards one. */
const forgetful = () => wrapClaude(`case "$*" in *'"ask":["Bash'*) exit 1;; esac; exec "$claude" "$@"`)
