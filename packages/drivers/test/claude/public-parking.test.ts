/** Parking by what the CLI documents alone: where the self-test has failed, or a person wants nothing else. */
import type { Answer } from '@holdpoint/protocol'
import { afterEach, describe, expect, it } from 'vitest'
import { ManualClock, type RunningRunner } from '../runner-fixture.ts'
import { alive, ClaudeFixture, claudeBehind, type HouseOptions, pass, slowClaude } from './claude-fixture.ts'
import { bash, call, type Play, say, steps } from './model.ts'

let house: ClaudeFixture
afterEach(() => house.close())

const question = {
  question: 'Which?',
  header: 'W',
  multiSelect: false,
  options: ['A', 'B'].map(label => ({ label, description: label })),
}
const asking = call('AskUserQuestion', { questions: [question] }, 'toolu_1')
const b: Answer = { kind: 'answers', answers: [{ id: 'q1', chosen: ['B'] }] }
const planner: Play = ({ results }) => (results.length === 0 ? [call('ExitPlanMode', {}, 'toolu_1')] : [say('done')])

async function open(play: Play, more: Parameters<ClaudeFixture['start']>[0] = {}, options: HouseOptions = {}) {
  const clock = new ManualClock()
  house = await ClaudeFixture.open(play, { clock, parking: 'public', ...options })
  const id = await house.start({ parkAfterMs: 120_000, ...more })
  const request = await house.asked()
  await house.onRecord(id)
  return { id, request, clock }
}
async function park(play: Play, more: Parameters<ClaudeFixture['start']>[0] = {}, options: HouseOptions = {}) {
  const { id, request, clock } = await open(play, more, options)
  const pid = house.pid(id)
  await clock.advance(110_000, 5000)
  expect(alive(pid)).toBe(true)
  await pass(clock, house.parked(id))
  expect(alive(pid)).toBe(false)
  await clock.advance(3600_000, 60_000)
  expect((await house.request()).status).toBe('pending')
  return { id, request, clock }
}
async function answered(request: Awaited<ReturnType<typeof park>>['request'], answer: Answer) {
  await house.stage.answer(request, answer)
  expect((await house.over()).ending).toBe('done')
  expect(house.stage.log('request.opened')).toHaveLength(1)
  expect((await house.request()).delivery.state).toBe('taken')
}

describe('by the documented way, a session', () => {
  it('parks while a question waits; the model reads the answer an hour later', async () => {
    const { request } = await park(steps([asking]))
    await answered(request, b)
    expect(house.model.told()).toContain('"Which?"="B"')
    expect(house.model.scenes).toHaveLength(2)
  })

  it('parks while a plan waits; it is approved into a mode an hour later', async () => {
    const { id, request } = await park(planner, { mode: 'plan' })
    await answered(request, { kind: 'allow', mode: 'acceptEdits', input: { plan: '# Edited' } })
    expect(house.model.told()).toContain('# Edited')
    expect((await house.stage.person('getSession', { id })).mode).toBe('acceptEdits')
  })

  it('that was declined meanwhile is told so', async () => {
    const { request } = await park(steps([asking]))
    await answered(request, { kind: 'decline', reason: 'not today' })
    expect(house.model.told()).toContain('not today')
  })

  it('is told what was said on a slow host too', async () => {
    const { request } = await park(steps([asking]), {}, { executable: slowClaude() })
    await answered(request, { kind: 'decline', reason: 'not so fast' })
    expect(house.model.told()).toContain('not so fast')
  })

  it('comes back once more where its runner was killed before the answer was handed', async () => {
    house = await ClaudeFixture.open(steps([asking]), { parking: 'public' })
    let runner: RunningRunner
    let killed = false
    const run = () => {
      runner = house.stage.run([house.driver()], { crashPoint })
    }
    const crashPoint = (point: string) => {
      if (point !== 'runner:resolution-seen' || killed) return
      killed = true
      runner.kill()
      run()
    }
    run()
    const id = await house.stage.start('claude', { cwd: house.cwd, parkAfterMs: 0 })
    const request = await house.asked()
    await house.parked(id)
    await answered(request, b)
    expect(killed).toBe(true)
    expect(house.model.told()).toContain('"Which?"="B"')
    expect(house.model.scenes).toHaveLength(2)
  })

  it('does not ask what the CLI refuses by itself', async () => {
    house = await ClaudeFixture.open(steps([asking]), { parking: 'public' })
    await house.start({ parkAfterMs: 120_000, mode: 'dontAsk' })
    await house.over()
    expect(house.stage.log('request.opened')).toEqual([])
  })

  it('answers while it is warm as ever', async () => {
    const { request } = await open(steps([asking]))
    await answered(request, b)
    expect(house.model.told()).toContain('"Which?"="B"')
    expect(house.stage.log('session.changed').some(event => event.value.state === 'parked')).toBe(false)
  })

  it('can be interrupted while it is warm, and when it is parked', async () => {
    const { id, clock } = await open(steps([asking]))
    await pass(
      clock,
      house.stage.person('interruptSession', { id }).then(() => house.over()),
    )
    expect((await house.over()).ending).toBe('interrupted')
    await house.close()
    const parked = await park(steps([asking]))
    await house.stage.person('interruptSession', { id: parked.id })
    expect((await house.over()).ending).toBe('interrupted')
  })

  it('stays live while anything else waits, and says why', async () => {
    const { id, clock, request } = await open(steps([bash('echo ran >> ran.txt')]))
    const kept = house.stage.seen('session.changed', event => event.value.process?.note !== undefined)
    await pass(clock, kept)
    expect((await kept).value.process?.note).toContain('only a question or a plan')
    expect(alive(house.pid(id))).toBe(true)
    await answered(request, { kind: 'allow' })
    expect(house.file('ran.txt')).toBe('ran\n')
  })

  it('stays live while a question waits that does not stand alone in its step', async () => {
    const play: Play = ({ results }) => (results.length === 0 ? [bash('ls', 'toolu_0'), asking] : [say('done')])
    const { id, clock, request } = await open(play)
    const kept = house.stage.seen(
      'session.changed',
      event => event.value.process?.note?.includes('another call stands beside it') ?? false,
    )
    await pass(clock, kept)
    expect(alive(house.pid(id))).toBe(true)
    await answered(request, b)
  })

  it('is parked by a runner that is told to stop, and goes on with the next', async () => {
    house = await ClaudeFixture.open(steps([asking]), { parking: 'public' })
    const runner = house.run()
    const id = await house.stage.start('claude', { cwd: house.cwd, parkAfterMs: 120_000 })
    const request = await house.asked()
    await house.onRecord(id)
    await runner.stop()
    await house.parked(id)
    expect(house.stage.log('error.raised')).toEqual([])
    house.run()
    await answered(request, b)
    expect(house.model.told()).toContain('"Which?"="B"')
    expect(house.model.scenes).toHaveLength(2)
  })
})

describe('a Claude Code that fails the self-test', () => {
  it('is parked by the documented way, and does not say that it is parkable', async () => {
    const { id, request } = await park(steps([asking]), {}, { parking: 'auto', executable: forgetful() })
    expect((await house.stage.person('getSession', { id })).capabilities).not.toContain('parkable')
    await answered(request, b)
    expect(house.model.told()).toContain('"Which?"="B"')
    expect((await house.stage.person('listDrivers', {})).items[0]?.capabilities).not.toContain('parkable')
  })
})

describe('a question that is asked before the self-test has decided', () => {
  it('is parked all the same once it has', async () => {
    const { id, request } = await park(steps([asking]), {}, { parking: 'auto' })
    await answered(request, b)
    expect(house.model.told()).toContain('"Which?"="B"')
    const { items } = await house.stage.person('listDrivers', {})
    expect(items[0]?.capabilities).toContain('parkable')
    expect((await house.stage.person('getSession', { id })).capabilities).toContain('parkable')
  })
})

describe('parking that is off', () => {
  it('keeps the process of a question too, and says why', async () => {
    const { id, clock, request } = await open(steps([asking]), {}, { parking: 'off' })
    const kept = house.stage.seen('session.changed', event => event.value.process?.note !== undefined)
    await pass(clock, kept)
    expect((await kept).value.process?.note).toContain('off')
    expect(alive(house.pid(id))).toBe(true)
    await answered(request, b)
  })
})

/** It cannot be brought back to a Bash call: it does not start with a rule that guards one. */
const forgetful = () => claudeBehind(`case "$*" in *'"ask":["Bash'*) exit 1;; esac; exec "$claude" "$@"`)
