import type { SessionId } from '@holdpoint/protocol'
import { afterEach, describe, expect, it } from 'vitest'
import { type CallKind, type Mode, modeNames, modes } from '../../src/claude/approvals/modes.ts'
import { ManualClock } from '../runner-fixture.ts'
import { advanceUntil, ClaudeFixture } from './claude-fixture.ts'
import { bash, type ModelScript, say, startModelProxy, toolUse } from './model.ts'

let claude: ClaudeFixture
afterEach(() => claude.close())

const options = ['A', 'B'].map(label => ({ label, description: label }))
const question = { question: 'Which?', header: 'W', multiSelect: false, options }
const deeds: Readonly<Record<CallKind, (cwd: string) => ReturnType<typeof toolUse>>> = {
  question: () => toolUse('AskUserQuestion', { questions: [question] }, 'question'),
  change: () => bash('touch x', 'change'),
  look: () => bash('ls -la', 'look'),
  edit: cwd => toolUse('Write', { file_path: `${cwd}/y.txt`, content: 'y' }, 'edit'),
  ruin: () => bash('rm -rf ~/', 'ruin'),
  leave: () => toolUse('ExitPlanMode', {}, 'leave'),
}
const names = Object.keys(deeds) as readonly CallKind[]
const deedsInTurn: ModelScript = ({ results }) => {
  const name = names[results.length]
  return name ? [deeds[name](claude.cwd)] : [say('done')]
}

/** Changes something once it is told to. */
const onceTold: ModelScript = ({ prompt, results }) =>
  prompt === 'now' && results.length === 0 ? [bash('sh -c "touch now.txt"', 'toolu_now')] : [say('done')]

describe('the mode', () => {
  it.each(modeNames)('%s asks, runs and refuses as the table says', async (mode: Mode) => {
    claude = await ClaudeFixture.create(deedsInTurn)
    await claude.startClaude({ mode })
    claude.answerAll(({ ask }) =>
      ask.kind === 'questions' ? { kind: 'decline' } : { kind: 'deny', reason: 'by hand' },
    )
    await claude.waitForTurnEnd()
    const seen = Object.fromEntries(
      names.map(name => {
        const asked = claude.eventsOf('request.opened').some(event => event.value.key === name)
        const finished = claude.eventsOf('tool.finished').find(event => event.block === name)
        return [name, asked ? 'asks' : finished?.ok ? 'runs' : 'refuses']
      }),
    )
    expect(seen).toEqual(modes[mode])
  })

  it('can be changed in mid-session', async () => {
    claude = await ClaudeFixture.create(({ prompt, results }) =>
      results.length < (prompt === 'go' ? 1 : 2) ? [bash(`touch ${prompt}.txt`, `toolu_${prompt}`)] : [say('done')],
    )
    const id = await claude.startClaude({ mode: 'acceptEdits' })
    await claude.waitForTurnEnd()
    expect(claude.readFile('go.txt')).toBe('')
    await claude.asPerson('patchSession', { id, mode: 'default' })
    await claude.asPerson('sendMessage', { id, text: 'again' })
    await claude.answer(await claude.waitForRequest('toolu_again'), { kind: 'deny' })
    await claude.waitForTurnEnd(2)
    expect(claude.readFile('again.txt')).toBeNull()
  })

  it('bypassPermissions cannot be entered later unless that was allowed at the start', async () => {
    claude = await ClaudeFixture.create(() => [say('done')])
    const id = await claude.startClaude()
    await claude.waitForTurnEnd()
    await claude.asPerson('patchSession', { id, mode: 'bypassPermissions' })
    const changed = await claude.waitForEvent('command.done', event => !event.outcome.ok)
    expect(changed.outcome.reason).toContain('allowBypass')
    expect((await claude.asPerson('getSession', { id })).mode).toBe('default')
  })

  it('bypassPermissions can be entered later where that was allowed at the start', async () => {
    claude = await ClaudeFixture.create(onceTold)
    const id = await claude.startClaude({ options: { allowBypass: true } })
    await claude.waitForTurnEnd()
    await claude.asPerson('patchSession', { id, mode: 'bypassPermissions' })
    await claude.asPerson('sendMessage', { id, text: 'now' })
    await claude.waitForTurnEnd(2)
    expect(claude.readFile('now.txt')).toBe('')
    expect(claude.eventsOf('request.opened')).toEqual([])
  })

  it('that was refused is not entered when the session comes back', async () => {
    const clock = new ManualClock()
    claude = await ClaudeFixture.create(onceTold, { clock, idleParkMs: 60_000 })
    const id = await claude.startClaude({ mode: 'acceptEdits' })
    await claude.waitForTurnEnd()
    await claude.asPerson('patchSession', { id, mode: 'bypassPermissions' })
    await claude.waitForEvent('command.done', event => !event.outcome.ok)
    await advanceUntil(clock, claude.waitUntilParked(id))
    // Parked, there is no CLI to refuse it: it is refused all the same when there is one.
    await claude.asPerson('patchSession', { id, mode: 'bypassPermissions' })
    await claude.asPerson('sendMessage', { id, text: 'now' })
    await claude.answer(await claude.waitForRequest('toolu_now'), { kind: 'deny' })
    await claude.waitForTurnEnd(2)
    expect(claude.readFile('now.txt')).toBeNull()
    expect(claude.eventsOf('command.done').filter(event => !event.outcome.ok)).toHaveLength(2)
    expect(claude.eventsOf('error.raised')).toMatchObject([
      { code: 'mode', message: expect.stringContaining('goes on in mode acceptEdits') },
    ])
    expect((await claude.asPerson('getSession', { id })).mode).toBe('acceptEdits')
  })

  it('that Claude Code does not have is refused at once', async () => {
    claude = await ClaudeFixture.create(() => [say('done')])
    const id = await claude.startClaude({ mode: 'plan' })
    const wrong = expect.objectContaining({ code: 'unsupported', message: expect.stringContaining('acceptEdits') })
    await expect(claude.asPerson('patchSession', { id, mode: 'yolo' })).rejects.toEqual(wrong)
    await expect(claude.asPerson('startSession', { driver: 'claude', mode: 'yolo' })).rejects.toEqual(wrong)
    await claude.waitForTurnEnd()
    expect((await claude.asPerson('getSession', { id })).mode).toBe('plan')
  })
})

describe('the model', () => {
  const service = (refused: string) =>
    startModelProxy(
      () => claude.model.server.url,
      ({ model }) => (model === refused ? { status: 404, type: 'not_found_error', message: `model: ${model}` } : null),
    )
  const models = () => claude.model.calls.map(call => call.request.model)

  it('is the one that was chosen at the start, and then the one that it was changed to', async () => {
    claude = await ClaudeFixture.create(() => [say('done')])
    const id = await claude.startClaude({ model: 'claude-first' })
    await claude.waitForTurnEnd()
    await claude.asPerson('patchSession', { id, model: 'claude-second' })
    await claude.asPerson('sendMessage', { id, text: 'again' })
    await claude.waitForTurnEnd(2)
    expect(models()).toEqual(['claude-first', 'claude-second'])
    expect(claude.eventsOf('command.done').every(event => event.outcome.ok)).toBe(true)
  })

  it('that is refused changes nothing, neither itself nor the mode that was wished for with it', async () => {
    const front = await service('claude-nonsense')
    claude = await ClaudeFixture.create(onceTold, { env: { ANTHROPIC_BASE_URL: front.url } })
    const id = await claude.startClaude({ model: 'claude-first' })
    await claude.waitForTurnEnd()
    await claude.asPerson('patchSession', { id, mode: 'acceptEdits', model: 'claude-nonsense' })
    const refused = await claude.waitForEvent('command.done', event => !event.outcome.ok)
    expect(refused.outcome.reason).toContain('claude-nonsense')
    expect(await claude.asPerson('getSession', { id })).toMatchObject({ mode: 'default', model: 'claude-first' })
    await claude.asPerson('sendMessage', { id, text: 'now' })
    await claude.answer(await claude.waitForRequest('toolu_now'), { kind: 'deny' })
    await claude.waitForTurnEnd(2)
    expect(new Set(models())).toEqual(new Set(['claude-first']))
    front.close()
  })
})

describe('the session’s mode', () => {
  const mode = async (id: SessionId) => (await claude.asPerson('getSession', { id })).mode
  const modesSeen = () => [...new Set(claude.eventsOf('session.changed').map(event => event.value.mode))]
  /** Leaves the plan mode, changes something, and changes something again when it is told to. */
  const planner: ModelScript = ({ prompt, results }) => {
    if (results.length === 0) return [toolUse('ExitPlanMode', {}, 'toolu_1')]
    if (results.length === 1) return [bash('touch one.txt', 'toolu_2')]
    return prompt === 'again' && results.length === 2 ? [bash('touch two.txt', 'toolu_3')] : [say('done')]
  }

  it('follows a plan that is approved into another, and is the same after it was parked', async () => {
    const clock = new ManualClock()
    claude = await ClaudeFixture.create(planner, { clock, idleParkMs: 60_000 })
    const id = await claude.startClaude({ mode: 'plan' })
    await claude.answer(await claude.waitForRequest(), { kind: 'allow', mode: 'acceptEdits' })
    await claude.waitForTurnEnd()
    expect(await mode(id)).toBe('acceptEdits')
    expect(modesSeen()).toEqual(expect.arrayContaining(['plan', 'acceptEdits']))
    await advanceUntil(clock, claude.waitUntilParked(id))
    await claude.asPerson('sendMessage', { id, text: 'again' })
    await claude.waitForTurnEnd(2)
    expect(claude.readFile('two.txt')).toBe('')
    expect(await mode(id)).toBe('acceptEdits')
    expect(claude.eventsOf('request.opened')).toHaveLength(1)
  })

  it('follows a suggestion to go on in another, and what a person chooses after it', async () => {
    const write = (name: string) =>
      toolUse('Write', { file_path: `${claude.cwd}/${name}`, content: 'x' }, `toolu_${name}`)
    const names = ['a', 'b', 'c']
    claude = await ClaudeFixture.create(({ results, prompt }) => {
      const next = names[results.length]
      return next === undefined || (next === 'c' && prompt === 'go') ? [say('done')] : [write(next)]
    })
    const id = await claude.startClaude()
    const request = await claude.waitForRequest('toolu_a')
    const offers = request.ask.kind === 'approval' ? (request.ask.suggestions ?? []) : []
    const offer = offers.find(one => one.label.includes('acceptEdits'))
    await claude.answer(request, { kind: 'allow', suggestion: offer!.id })
    await claude.waitForTurnEnd()
    expect(claude.readFile('b')).toBe('x')
    expect(await mode(id)).toBe('acceptEdits')
    await claude.asPerson('patchSession', { id, mode: 'default' })
    await claude.asPerson('sendMessage', { id, text: 'again' })
    await claude.answer(await claude.waitForRequest('toolu_c'), { kind: 'deny' })
    await claude.waitForTurnEnd(2)
    expect(await mode(id)).toBe('default')
  })
})
