import type { SessionId } from '@holdpoint/protocol'
import { afterEach, describe, expect, it } from 'vitest'
import { type CallKind, type Mode, modeNames, modes } from '../../src/claude/approvals/modes.ts'
import { ManualClock } from '../runner-fixture.ts'
import { ClaudeFixture, pass } from './claude-fixture.ts'
import { bash, call, type Play, say, serviceBefore } from './model.ts'

let house: ClaudeFixture
afterEach(() => house.close())

const options = ['A', 'B'].map(label => ({ label, description: label }))
const question = { question: 'Which?', header: 'W', multiSelect: false, options }
const deeds: Readonly<Record<CallKind, (cwd: string) => ReturnType<typeof call>>> = {
  question: () => call('AskUserQuestion', { questions: [question] }, 'question'),
  change: () => bash('touch x', 'change'),
  look: () => bash('ls -la', 'look'),
  edit: cwd => call('Write', { file_path: `${cwd}/y.txt`, content: 'y' }, 'edit'),
  ruin: () => bash('rm -rf ~/', 'ruin'),
  leave: () => call('ExitPlanMode', {}, 'leave'),
}
const names = Object.keys(deeds) as readonly CallKind[]
const deedsInTurn: Play = ({ results }) => {
  const name = names[results.length]
  return name ? [deeds[name](house.cwd)] : [say('done')]
}

/** Changes something once it is told to. */
const onceTold: Play = ({ prompt, results }) =>
  prompt === 'now' && results.length === 0 ? [bash('sh -c "touch now.txt"', 'toolu_now')] : [say('done')]

describe('the mode', () => {
  it.each(modeNames)('%s asks, runs and refuses as the table says', async (mode: Mode) => {
    house = await ClaudeFixture.open(deedsInTurn)
    await house.start({ mode })
    house.stage.answerAll(({ ask }) =>
      ask.kind === 'questions' ? { kind: 'decline' } : { kind: 'deny', reason: 'by hand' },
    )
    await house.over()
    const seen = Object.fromEntries(
      names.map(name => {
        const asked = house.stage.log('request.opened').some(event => event.value.key === name)
        const finished = house.stage.log('tool.finished').find(event => event.block === name)
        return [name, asked ? 'asks' : finished?.ok ? 'runs' : 'refuses']
      }),
    )
    expect(seen).toEqual(modes[mode])
  })

  it('can be changed in mid-session', async () => {
    house = await ClaudeFixture.open(({ prompt, results }) =>
      results.length < (prompt === 'go' ? 1 : 2) ? [bash(`touch ${prompt}.txt`, `toolu_${prompt}`)] : [say('done')],
    )
    const id = await house.start({ mode: 'acceptEdits' })
    await house.over()
    expect(house.file('go.txt')).toBe('')
    await house.stage.person('patchSession', { id, mode: 'default' })
    await house.stage.person('sendMessage', { id, text: 'again' })
    await house.stage.answer(await house.asked('toolu_again'), { kind: 'deny' })
    await house.over(2)
    expect(house.file('again.txt')).toBeNull()
  })

  it('bypassPermissions cannot be entered later unless that was allowed at the start', async () => {
    house = await ClaudeFixture.open(() => [say('done')])
    const id = await house.start()
    await house.over()
    await house.stage.person('patchSession', { id, mode: 'bypassPermissions' })
    const changed = await house.stage.seen('command.done', event => !event.outcome.ok)
    expect(changed.outcome.reason).toContain('allowBypass')
    expect((await house.stage.person('getSession', { id })).mode).toBe('default')
  })

  it('bypassPermissions can be entered later where that was allowed at the start', async () => {
    house = await ClaudeFixture.open(onceTold)
    const id = await house.start({ options: { allowBypass: true } })
    await house.over()
    await house.stage.person('patchSession', { id, mode: 'bypassPermissions' })
    await house.stage.person('sendMessage', { id, text: 'now' })
    await house.over(2)
    expect(house.file('now.txt')).toBe('')
    expect(house.stage.log('request.opened')).toEqual([])
  })

  it('that was refused is not entered when the session comes back', async () => {
    const clock = new ManualClock()
    house = await ClaudeFixture.open(onceTold, { clock, idleParkMs: 60_000 })
    const id = await house.start({ mode: 'acceptEdits' })
    await house.over()
    await house.stage.person('patchSession', { id, mode: 'bypassPermissions' })
    await house.stage.seen('command.done', event => !event.outcome.ok)
    await pass(clock, house.parked(id))
    // Parked, there is no CLI to refuse it: it is refused all the same when there is one.
    await house.stage.person('patchSession', { id, mode: 'bypassPermissions' })
    await house.stage.person('sendMessage', { id, text: 'now' })
    await house.stage.answer(await house.asked('toolu_now'), { kind: 'deny' })
    await house.over(2)
    expect(house.file('now.txt')).toBeNull()
    expect(house.stage.log('command.done').filter(event => !event.outcome.ok)).toHaveLength(2)
    expect(house.stage.log('error.raised')).toMatchObject([
      { code: 'mode', message: expect.stringContaining('goes on in mode acceptEdits') },
    ])
    expect((await house.stage.person('getSession', { id })).mode).toBe('acceptEdits')
  })

  it('that Claude Code does not have is refused at once', async () => {
    house = await ClaudeFixture.open(() => [say('done')])
    const id = await house.start({ mode: 'plan' })
    const wrong = expect.objectContaining({ code: 'unsupported', message: expect.stringContaining('acceptEdits') })
    await expect(house.stage.person('patchSession', { id, mode: 'yolo' })).rejects.toEqual(wrong)
    await expect(house.stage.person('startSession', { driver: 'claude', mode: 'yolo' })).rejects.toEqual(wrong)
    await house.over()
    expect((await house.stage.person('getSession', { id })).mode).toBe('plan')
  })
})

describe('the model', () => {
  const service = (refused: string) =>
    serviceBefore(
      () => house.model.server.url,
      ({ model }) => (model === refused ? { status: 404, type: 'not_found_error', message: `model: ${model}` } : null),
    )
  const models = () => house.model.scenes.map(scene => scene.turn.model)

  it('is the one that was chosen at the start, and then the one that it was changed to', async () => {
    house = await ClaudeFixture.open(() => [say('done')])
    const id = await house.start({ model: 'claude-first' })
    await house.over()
    await house.stage.person('patchSession', { id, model: 'claude-second' })
    await house.stage.person('sendMessage', { id, text: 'again' })
    await house.over(2)
    expect(models()).toEqual(['claude-first', 'claude-second'])
    expect(house.stage.log('command.done').every(event => event.outcome.ok)).toBe(true)
  })

  it('that is refused changes nothing, neither itself nor the mode that was wished for with it', async () => {
    const front = await service('claude-nonsense')
    house = await ClaudeFixture.open(onceTold, { env: { ANTHROPIC_BASE_URL: front.url } })
    const id = await house.start({ model: 'claude-first' })
    await house.over()
    await house.stage.person('patchSession', { id, mode: 'acceptEdits', model: 'claude-nonsense' })
    const refused = await house.stage.seen('command.done', event => !event.outcome.ok)
    expect(refused.outcome.reason).toContain('claude-nonsense')
    expect(await house.stage.person('getSession', { id })).toMatchObject({ mode: 'default', model: 'claude-first' })
    await house.stage.person('sendMessage', { id, text: 'now' })
    await house.stage.answer(await house.asked('toolu_now'), { kind: 'deny' })
    await house.over(2)
    expect(new Set(models())).toEqual(new Set(['claude-first']))
    front.close()
  })
})

describe('the session’s mode', () => {
  const mode = async (id: SessionId) => (await house.stage.person('getSession', { id })).mode
  const modesSeen = () => [...new Set(house.stage.log('session.changed').map(event => event.value.mode))]
  /** Leaves the plan mode, changes something, and changes something again when it is told to. */
  const planner: Play = ({ prompt, results }) => {
    if (results.length === 0) return [call('ExitPlanMode', {}, 'toolu_1')]
    if (results.length === 1) return [bash('touch one.txt', 'toolu_2')]
    return prompt === 'again' && results.length === 2 ? [bash('touch two.txt', 'toolu_3')] : [say('done')]
  }

  it('follows a plan that is approved into another, and is the same after it was parked', async () => {
    const clock = new ManualClock()
    house = await ClaudeFixture.open(planner, { clock, idleParkMs: 60_000 })
    const id = await house.start({ mode: 'plan' })
    await house.stage.answer(await house.asked(), { kind: 'allow', mode: 'acceptEdits' })
    await house.over()
    expect(await mode(id)).toBe('acceptEdits')
    expect(modesSeen()).toEqual(expect.arrayContaining(['plan', 'acceptEdits']))
    await pass(clock, house.parked(id))
    await house.stage.person('sendMessage', { id, text: 'again' })
    await house.over(2)
    expect(house.file('two.txt')).toBe('')
    expect(await mode(id)).toBe('acceptEdits')
    expect(house.stage.log('request.opened')).toHaveLength(1)
  })

  it('follows a suggestion to go on in another, and what a person chooses after it', async () => {
    const write = (name: string) => call('Write', { file_path: `${house.cwd}/${name}`, content: 'x' }, `toolu_${name}`)
    const names = ['a', 'b', 'c']
    house = await ClaudeFixture.open(({ results, prompt }) => {
      const next = names[results.length]
      return next === undefined || (next === 'c' && prompt === 'go') ? [say('done')] : [write(next)]
    })
    const id = await house.start()
    const request = await house.asked('toolu_a')
    const offers = request.ask.kind === 'approval' ? (request.ask.suggestions ?? []) : []
    const offer = offers.find(one => one.label.includes('acceptEdits'))
    await house.stage.answer(request, { kind: 'allow', suggestion: offer!.id })
    await house.over()
    expect(house.file('b')).toBe('x')
    expect(await mode(id)).toBe('acceptEdits')
    await house.stage.person('patchSession', { id, mode: 'default' })
    await house.stage.person('sendMessage', { id, text: 'again' })
    await house.stage.answer(await house.asked('toolu_c'), { kind: 'deny' })
    await house.over(2)
    expect(await mode(id)).toBe('default')
  })
})
