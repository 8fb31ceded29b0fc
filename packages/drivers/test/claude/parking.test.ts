import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Answer } from '@holdpoint/protocol'
import { afterEach, describe, expect, it } from 'vitest'
import { ManualClock, type RunningRunner } from '../runner-fixture.ts'
import { alive, ClaudeFixture, type HouseOptions, pass, slowClaude } from './claude-fixture.ts'
import { bash, call, type Play, say, steps } from './model.ts'

let house: ClaudeFixture
afterEach(() => house.close())

const hourMs = 3600 * 1000
const touch = steps([bash('echo ran >> ran.txt')])
const question = {
  question: 'Which?',
  header: 'W',
  multiSelect: false,
  options: ['A', 'B'].map(label => ({ label, description: label })),
}
const planner: Play = ({ results }) => (results.length === 0 ? [call('ExitPlanMode', {}, 'toolu_1')] : [say('done')])

/** Asks, is let go, and waits for an hour without a process. */
async function park(play: Play, more: Parameters<ClaudeFixture['start']>[0] = {}, options: HouseOptions = {}) {
  const clock = new ManualClock()
  house = await ClaudeFixture.open(play, { parks: true, clock, ...options })
  const id = await house.start({ parkAfterMs: 120_000, ...more })
  const request = await house.asked()
  await house.onRecord(id)
  const pid = house.pid(id)
  expect(alive(pid)).toBe(true)
  await clock.advance(110_000, 5000)
  expect(alive(pid)).toBe(true)
  await pass(clock, house.parked(id))
  expect(alive(pid)).toBe(false)
  expect(house.pid(id)).toBeNull()
  await clock.advance(hourMs, 60_000)
  expect((await house.request()).status).toBe('pending')
  return { id, request, clock }
}
async function parkAndAnswer(play: Play, answer: Answer, more: Parameters<ClaudeFixture['start']>[0] = {}) {
  const { id, request } = await park(play, more)
  await house.stage.answer(request, answer)
  expect((await house.over()).ending).toBe('done')
  expect(house.stage.log('request.opened')).toHaveLength(1)
  expect((await house.request()).delivery.state).toBe('taken')
  return id
}

describe('a call that is parked and answered an hour later', () => {
  it('runs once when it is allowed', async () => {
    await parkAndAnswer(touch, { kind: 'allow', note: 'late but sure' })
    expect(house.file('ran.txt')).toBe('ran\n')
    expect(house.model.read('late but sure')).toBe(true)
  })

  it('does not run when it is denied, and the model reads why', async () => {
    await parkAndAnswer(touch, { kind: 'deny', reason: 'too late' })
    expect(house.file('ran.txt')).toBeNull()
    expect(house.model.told()).toContain('too late')
  })

  it('runs as it was edited', async () => {
    await parkAndAnswer(touch, {
      kind: 'allow',
      input: { command: 'echo edited >> ran.txt', description: 'a command' },
    })
    expect(house.file('ran.txt')).toBe('edited\n')
  })

  it('is a question whose answer the model reads', async () => {
    const play = steps([call('AskUserQuestion', { questions: [question] }, 'toolu_1')])
    await parkAndAnswer(play, { kind: 'answers', answers: [{ id: 'q1', chosen: ['B'] }] })
    expect(house.model.told()).toContain('"Which?"="B"')
  })

  it('is a plan that is approved, with edits', async () => {
    const plan = { kind: 'allow', mode: 'acceptEdits', input: { plan: '# Edited' } } as const
    await parkAndAnswer(planner, plan, { mode: 'plan' })
    expect(house.model.told()).toContain('# Edited')
  })

  it('remembers the suggestion that was accepted', async () => {
    const play = steps([bash('mkdir -p a/b')], [bash('mkdir -p a/b', 'toolu_2')])
    const { request } = await park(play)
    const offers = request.ask.kind === 'approval' ? (request.ask.suggestions ?? []) : []
    const offer = offers.find(one => one.scope === 'localSettings')
    await house.stage.answer(request, { kind: 'allow', suggestion: offer!.id })
    expect((await house.over()).ending).toBe('done')
    expect(house.file('.claude/settings.local.json')).toContain('mkdir')
    expect(house.model.told('toolu_2')).toBeDefined()
    expect(house.stage.log('request.opened')).toHaveLength(1)
  })

  it('is asked for again where the suggestion is accepted and a rule of ours wants it asked', async () => {
    const { request } = await park(steps([bash('mkdir -p a/b')], [bash('mkdir -p a/b', 'toolu_2')]))
    const offers = request.ask.kind === 'approval' ? (request.ask.suggestions ?? []) : []
    await house.stage.person('addRule', { effect: 'ask', tool: 'Bash', command: 'mkdir -p a/b' })
    await house.stage.answer(request, { kind: 'allow', suggestion: offers[0]!.id })
    await house.stage.answer(await house.asked('toolu_2'), { kind: 'deny', reason: 'once is enough' })
    await house.over()
    expect(house.model.told('toolu_2')).toContain('once is enough')
  })

  it('guards itself and nothing else: what the mode lets through runs in the same turn', async () => {
    const line = (n: number) => [bash(`echo ${n} >> ran.txt`, `toolu_${n}`)]
    const { id, request } = await park(steps(line(1), line(2)))
    await house.stage.person('patchSession', { id, mode: 'acceptEdits' })
    await house.stage.answer(request, { kind: 'deny', reason: 'not one' })
    expect((await house.over()).ending).toBe('done')
    expect(house.model.told()).toContain('not one')
    expect(house.file('ran.txt')).toBe('2\n')
    expect(house.stage.log('request.opened')).toHaveLength(1)
  })

  it('comes back from our own copy where the CLI’s transcript is gone', async () => {
    const { request } = await park(touch)
    rmSync(join(house.home, 'config', 'projects'), { recursive: true })
    await house.stage.answer(request, { kind: 'allow' })
    expect((await house.over()).ending).toBe('done')
    expect(house.file('ran.txt')).toBe('ran\n')
    expect(house.stage.log('request.opened')).toHaveLength(1)
  })

  it('leaves a session that goes on as before, in the same conversation', async () => {
    const id = await parkAndAnswer(touch, { kind: 'allow' })
    await house.stage.person('sendMessage', { id, text: 'and now?' })
    expect((await house.over(2)).ending).toBe('done')
    expect(house.model.scenes.at(-1)?.prompt).toBe('and now?')
    expect(house.model.scenes.at(-1)?.results).toHaveLength(1)
  })
})

describe('parking', () => {
  it('works three times in one turn', async () => {
    const clock = new ManualClock()
    const line = (n: number) => [bash(`echo ${n} >> ran.txt`, `toolu_${n}`)]
    house = await ClaudeFixture.open(steps(line(1), line(2), line(3)), { parks: true, clock })
    const id = await house.start({ parkAfterMs: 1000 })
    for (const key of ['toolu_1', 'toolu_2', 'toolu_3']) {
      const request = await house.asked(key)
      await house.onRecord(id, key)
      await pass(clock, house.parked(id))
      expect(house.pid(id)).toBeNull()
      await house.stage.answer(request, { kind: 'allow' })
      await house.stage.seen('request.taken', event => event.request === request.id)
    }
    await house.over()
    expect(house.file('ran.txt')).toBe('1\n2\n3\n')
    expect(house.stage.log('request.opened')).toHaveLength(3)
  })

  it('lets a message wait behind the call, and carries it out after it', async () => {
    const play: Play = ({ prompt, results }) =>
      results.length === 0 ? [bash('echo ran >> ran.txt')] : [say(`heard ${prompt}`)]
    house = await ClaudeFixture.open(play, { parks: true })
    const id = await house.start()
    const request = await house.asked()
    await house.stage.person('sendMessage', { id, text: 'are you there?' })
    await house.stage.person('patchSession', { id, parkAfterMs: 0 })
    await house.parked(id)
    await house.stage.answer(request, { kind: 'allow' })
    await house.over(2)
    expect(house.file('ran.txt')).toBe('ran\n')
    expect(house.stage.texts().at(-1)).toBe('heard are you there?')
  })

  it('is not undone by a message, which is carried out once the call is answered', async () => {
    const play: Play = ({ prompt, results }) =>
      results.length === 0 ? [bash('echo ran >> ran.txt')] : [say(`heard ${prompt}`)]
    house = await ClaudeFixture.open(play, { parks: true })
    const id = await house.start({ parkAfterMs: 0 })
    const request = await house.asked()
    await house.parked(id)
    const before = house.stage.events.length
    await house.stage.person('sendMessage', { id, text: 'are you there?' })
    await house.stage.person('sendMessage', { id, text: 'hello?' })
    await new Promise(resolve => setTimeout(resolve, 300))
    expect(house.pid(id)).toBeNull()
    expect(house.stage.events.slice(before).map(event => event.type)).toEqual(['command.added', 'command.added'])
    await house.stage.answer(request, { kind: 'allow' })
    await house.over(3)
    expect(house.stage.texts().slice(1)).toEqual(['heard are you there?', 'heard hello?'])
    expect(house.file('ran.txt')).toBe('ran\n')
  })

  it('says nothing of what passes in a moment: calls that are answered at once are no reason to stay', async () => {
    const line = (n: number) => bash(`echo ${n} >> ran.txt`, `toolu_${n}`)
    const play: Play = ({ results }) =>
      results.length === 0 ? [line(1), line(2), line(3)] : results.length === 3 ? [line(4), line(5)] : [say('done')]
    house = await ClaudeFixture.open(play, { parks: true })
    house.stage.answerAll(() => ({ kind: 'allow' }))
    await house.start({ parkAfterMs: 0 })
    await house.over()
    expect(house.file('ran.txt')).toBe('1\n2\n3\n4\n5\n')
    expect(house.stage.log('session.changed').flatMap(event => event.value.process?.note ?? [])).toEqual([])
  })

  it('brings one call back three times more before its answer is taken, with the same id; it runs once', async () => {
    house = await ClaudeFixture.open(touch, { parks: true })
    let runner: RunningRunner
    let times = 0
    // Each time that it is back, its runner goes before the answer is handed: by turns as told to, and killed.
    const crashPoint = (point: string) => {
      if (point !== 'runner:resolution-seen' || times === 3) return
      const gone = ++times % 2 === 0 ? runner.kill() : runner.stop()
      void Promise.resolve(gone).then(run)
    }
    const run = () => {
      runner = house.stage.run([house.driver()], { crashPoint })
    }
    run()
    const id = await house.stage.start('claude', { cwd: house.cwd, parkAfterMs: 0 })
    const request = await house.asked()
    await house.parked(id)
    await house.stage.answer(request, { kind: 'allow' })
    expect((await house.over()).ending).toBe('done')
    expect(times).toBe(3)
    expect(house.file('ran.txt')).toBe('ran\n')
    expect(house.stage.log('request.opened').map(event => event.value.key)).toEqual(['toolu_1'])
    expect(house.stage.log('tool.finished').map(event => event.block)).toEqual(['toolu_1'])
    const states = house.stage.log('session.changed').map(event => event.value.state)
    expect(states.filter((state, index) => state === 'parked' && states[index - 1] !== 'parked')).toHaveLength(4)
  })

  it('never runs what was denied, on a slow host and with an allow rule that has appeared since', async () => {
    const slow = { settingSources: ['local' as const] }
    const { request } = await park(touch, {}, { ...slow, executable: slowClaude() })
    mkdirSync(join(house.cwd, '.claude'), { recursive: true })
    writeFileSync(join(house.cwd, '.claude/settings.local.json'), '{"permissions":{"allow":["Bash"]}}')
    await house.stage.answer(request, { kind: 'deny', reason: 'still no' })
    await house.over()
    expect(house.file('ran.txt')).toBeNull()
    expect(house.model.told()).toContain('still no')
  })

  it('waits for a call of the same step that has not been made, and says so; the last one parks', async () => {
    const clock = new ManualClock()
    const both = [bash('echo 1 >> ran.txt', 'toolu_1'), bash('echo 2 >> ran.txt', 'toolu_2')]
    house = await ClaudeFixture.open(({ results }) => (results.length === 0 ? both : [say('done')]), {
      parks: true,
      clock,
    })
    const id = await house.start({ parkAfterMs: 1000 })
    const first = await house.asked('toolu_1')
    await house.onRecord(id, 'toolu_2')
    const kept = house.stage.seen('session.changed', event => event.value.process?.note !== undefined)
    await pass(clock, kept)
    expect((await kept).value.process?.note).toContain('another call of the same step')
    expect(alive(house.pid(id))).toBe(true)
    await house.stage.answer(first, { kind: 'allow' })
    const second = await house.asked('toolu_2')
    await house.stage.seen('request.taken', event => event.request === first.id)
    await pass(clock, house.parked(id))
    await house.stage.answer(second, { kind: 'allow' })
    await house.over()
    expect(house.file('ran.txt')).toBe('1\n2\n')
  })

  it('is not done while work goes on in the background', async () => {
    const clock = new ManualClock()
    const behind = call('Bash', { command: 'sleep 60', description: 'x', run_in_background: true }, 'toolu_0')
    house = await ClaudeFixture.open(steps([behind], [bash('echo ran >> ran.txt')]), { parks: true, clock })
    const id = await house.start({ parkAfterMs: 1000 })
    await house.asked()
    const kept = house.stage.seen('session.changed', event => event.value.process?.note !== undefined)
    await pass(clock, kept)
    expect((await kept).value.process?.note).toContain('in the background')
    expect(alive(house.pid(id))).toBe(true)
  })

  it('is not done where too much was written since', async () => {
    const clock = new ManualClock()
    const write = (name: string) =>
      call('Write', { file_path: `${house.cwd}/${name}`, content: 'y'.repeat(700_000) }, `toolu_${name}`)
    const step = () => [write('a'), write('b'), bash('sh -c "echo ran >> ran.txt"')]
    house = await ClaudeFixture.open(({ results }) => (results.length === 0 ? step() : [say('done')]), {
      parks: true,
      clock,
    })
    const large = await house.start({ parkAfterMs: 1000, mode: 'acceptEdits' })
    await house.asked()
    const said = 'too much has been written'
    const full = house.stage.seen('session.changed', event => event.value.process?.note?.includes(said) ?? false)
    await pass(clock, Promise.race([full, house.parked(large)]))
    expect(alive(house.pid(large))).toBe(true)
  })

  it('is not done to an idle session while work goes on in the background', async () => {
    const clock = new ManualClock()
    const behind = call('Bash', { command: 'sleep 60', description: 'x', run_in_background: true }, 'toolu_1')
    house = await ClaudeFixture.open(steps([behind]), { clock, idleParkMs: 60_000 })
    const id = await house.start()
    await house.over()
    await house.stage.seen('command.done')
    const pid = house.pid(id)
    await clock.advance(600_000, 10_000)
    await house.stage.person('sendMessage', { id, text: 'still there?' })
    await house.over(2)
    expect(house.pid(id)).toBe(pid)
    expect(house.stage.log('session.changed').some(event => event.value.state === 'parked')).toBe(false)
  })

  it('is not done to an agent under the agent', async () => {
    const clock = new ManualClock()
    const agent = { description: 'helper', prompt: 'help', subagent_type: 'general-purpose', run_in_background: false }
    const play: Play = ({ prompt, results, all }) => {
      if (prompt === 'help') return results.length === 0 ? [bash('echo ran >> ran.txt')] : [say('helped')]
      return all.includes('toolu_agent') ? [say('done')] : [call('Agent', agent, 'toolu_agent')]
    }
    house = await ClaudeFixture.open(play, { parks: true, clock })
    const id = await house.start({ parkAfterMs: 0 })
    const request = await house.asked()
    const kept = house.stage.seen('session.changed', event => event.value.process?.note !== undefined)
    await pass(clock, kept)
    expect((await kept).value.process?.note).toContain('an agent under the agent')
    expect(alive(house.pid(id))).toBe(true)
    await house.stage.answer(request, { kind: 'allow' })
    await house.over()
    expect(house.file('ran.txt')).toBe('ran\n')
  })

  it('is done to an idle session too, and a message brings it back', async () => {
    const clock = new ManualClock()
    house = await ClaudeFixture.open(({ prompt }) => [say(`you said ${prompt}`)], { clock, idleParkMs: 60_000 })
    const id = await house.start({ prompt: 'one' })
    await house.over()
    const pid = house.pid(id)
    await pass(clock, house.parked(id))
    expect(alive(pid)).toBe(false)
    await house.stage.person('sendMessage', { id, text: 'two' })
    await house.over(2)
    expect(house.stage.texts()).toEqual(['you said one', 'you said two'])
    expect(house.model.scenes.at(-1)?.all).toContain('you said one')
  })

  it('is said to be possible as soon as it has been tried', async () => {
    const clock = new ManualClock()
    house = await ClaudeFixture.open(touch, { clock })
    const id = await house.start({ parkAfterMs: 1000 })
    const parkable = async () => {
      const { items } = await house.stage.person('listDrivers', {})
      return items.some(driver => driver.capabilities.includes('parkable'))
    }
    expect(await parkable()).toBe(false)
    const request = await house.asked()
    await pass(clock, house.parked(id))
    expect(await parkable()).toBe(true)
    const next = await house.stage.person('startSession', { driver: 'claude', cwd: house.cwd })
    expect(next.capabilities).toContain('parkable')
    await house.stage.answer(request, { kind: 'deny' })
    await house.over()
  })

  it('happens when the runner is told to stop, and the next runner goes on', async () => {
    house = await ClaudeFixture.open(touch, { parks: true })
    const runner = house.run()
    const id = await house.stage.start('claude', { cwd: house.cwd, parkAfterMs: null })
    const request = await house.asked()
    await house.onRecord(id)
    const pid = house.pid(id)
    await runner.stop()
    expect(alive(pid)).toBe(false)
    await house.parked(id)
    house.run()
    await house.stage.answer(request, { kind: 'allow' })
    expect((await house.over()).ending).toBe('done')
    expect(house.file('ran.txt')).toBe('ran\n')
  })
})
