/** Tests with the real Claude Code which calls it asks about in each permission mode, and how modes and models change during a session. */
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
const calls: Readonly<Record<CallKind, (cwd: string) => ReturnType<typeof toolUse>>> = {
  question: () => toolUse('AskUserQuestion', { questions: [question] }, 'question'),
  write: () => bash('touch x', 'write'),
  read: () => bash('ls -la', 'read'),
  edit: cwd => toolUse('Write', { file_path: `${cwd}/y.txt`, content: 'y' }, 'edit'),
  destructive: () => bash('rm -rf ~/', 'destructive'),
  exitPlan: () => toolUse('ExitPlanMode', {}, 'exitPlan'),
}
const names = Object.keys(calls) as readonly CallKind[]
const callEachKind: ModelScript = ({ results }) => {
  const name = names[results.length]
  return name ? [calls[name](claude.cwd)] : [say('done')]
}

/** A model script that runs a command when the prompt is “now”. */
const commandOnNow: ModelScript = ({ prompt, results }) =>
  prompt === 'now' && results.length === 0 ? [bash('sh -c "touch now.txt"', 'toolu_now')] : [say('done')]

describe('permission modes of Claude Code', () => {
  it.each(modeNames)(
    'in mode %s, Claude Code asks about, runs or refuses each kind of call as the modes table says',
    async (mode: Mode) => {
      claude = await ClaudeFixture.create(callEachKind)
      await claude.startClaude({ mode })
      claude.answerAll(({ ask }) =>
        ask.kind === 'questions' ? { kind: 'decline' } : { kind: 'deny', reason: 'by hand' },
      )
      await claude.waitForTurnEnd()
      const behavior = Object.fromEntries(
        names.map(name => {
          const asked = claude.eventsOf('request.opened').some(event => event.value.key === name)
          const finished = claude.eventsOf('tool.finished').find(event => event.block === name)
          return [name, asked ? 'asks' : finished?.ok ? 'runs' : 'refuses']
        }),
      )
      expect(behavior).toEqual(modes[mode])
    },
  )

  it('a person can change the mode of Claude Code during a session', async () => {
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

  it('a Claude Code session cannot enter bypassPermissions later unless it was started with allowBypass', async () => {
    claude = await ClaudeFixture.create(() => [say('done')])
    const id = await claude.startClaude()
    await claude.waitForTurnEnd()
    await claude.asPerson('patchSession', { id, mode: 'bypassPermissions' })
    const changed = await claude.waitForEvent('command.done', event => !event.outcome.ok)
    expect(changed.outcome.reason).toContain('allowBypass')
    expect((await claude.asPerson('getSession', { id })).mode).toBe('default')
  })

  it('a Claude Code session can enter bypassPermissions later if it was started with allowBypass', async () => {
    claude = await ClaudeFixture.create(commandOnNow)
    const id = await claude.startClaude({ options: { allowBypass: true } })
    await claude.waitForTurnEnd()
    await claude.asPerson('patchSession', { id, mode: 'bypassPermissions' })
    await claude.asPerson('sendMessage', { id, text: 'now' })
    await claude.waitForTurnEnd(2)
    expect(claude.readFile('now.txt')).toBe('')
    expect(claude.eventsOf('request.opened')).toEqual([])
  })

  it('a parked Claude Code session that was set to a mode that it may not enter resumes in its previous mode', async () => {
    const clock = new ManualClock()
    claude = await ClaudeFixture.create(commandOnNow, { clock, idleParkMs: 60_000 })
    const id = await claude.startClaude({ mode: 'acceptEdits' })
    await claude.waitForTurnEnd()
    await claude.asPerson('patchSession', { id, mode: 'bypassPermissions' })
    await claude.waitForEvent('command.done', event => !event.outcome.ok)
    await advanceUntil(clock, claude.waitUntilParked(id))
    // A parked session has no CLI that could refuse the mode, so the driver refuses the mode when it resumes the session.
    await claude.asPerson('patchSession', { id, mode: 'bypassPermissions' })
    await claude.asPerson('sendMessage', { id, text: 'now' })
    await claude.answer(await claude.waitForRequest('toolu_now'), { kind: 'deny' })
    await claude.waitForTurnEnd(2)
    expect(claude.readFile('now.txt')).toBeNull()
    expect(claude.eventsOf('command.done').filter(event => !event.outcome.ok)).toHaveLength(2)
    expect(claude.eventsOf('error.raised')).toMatchObject([
      { code: 'refused', message: expect.stringContaining('The mode was not changed') },
      { code: 'mode', message: expect.stringContaining('Continuing in mode acceptEdits') },
      { code: 'refused', message: expect.stringContaining('The mode was not changed') },
    ])
    expect((await claude.asPerson('getSession', { id })).mode).toBe('acceptEdits')
  })

  it('setting an unknown mode of Claude Code is an error', async () => {
    claude = await ClaudeFixture.create(() => [say('done')])
    const id = await claude.startClaude({ mode: 'plan' })
    const unsupported = expect.objectContaining({
      code: 'unsupported',
      message: expect.stringContaining('acceptEdits'),
    })
    await expect(claude.asPerson('patchSession', { id, mode: 'yolo' })).rejects.toEqual(unsupported)
    await expect(claude.asPerson('startSession', { driver: 'claude', mode: 'yolo' })).rejects.toEqual(unsupported)
    await claude.waitForTurnEnd()
    expect((await claude.asPerson('getSession', { id })).mode).toBe('plan')
  })
})

describe('the model of a Claude Code session', () => {
  const startProxy = (refused: string) =>
    startModelProxy(
      () => claude.model.server.url,
      ({ model }) => (model === refused ? { status: 404, type: 'not_found_error', message: `model: ${model}` } : null),
    )
  const models = () => claude.model.calls.map(call => call.request.model)

  it('a Claude Code session uses the model that it was started with until a person changes the model', async () => {
    claude = await ClaudeFixture.create(() => [say('done')])
    const id = await claude.startClaude({ model: 'claude-first' })
    await claude.waitForTurnEnd()
    await claude.asPerson('patchSession', { id, model: 'claude-second' })
    await claude.asPerson('sendMessage', { id, text: 'again' })
    await claude.waitForTurnEnd(2)
    expect(models()).toEqual(['claude-first', 'claude-second'])
    expect(claude.eventsOf('command.done').every(event => event.outcome.ok)).toBe(true)
  })

  it('if Claude Code refuses the new model in a change of model and mode, neither is changed', async () => {
    const proxy = await startProxy('claude-nonsense')
    claude = await ClaudeFixture.create(commandOnNow, { env: { ANTHROPIC_BASE_URL: proxy.url } })
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
    proxy.close()
  })
})

describe('the displayed mode of a Claude Code session', () => {
  const mode = async (id: SessionId) => (await claude.asPerson('getSession', { id })).mode
  const modesSeen = () => [...new Set(claude.eventsOf('session.changed').map(event => event.value.mode))]
  /** A model script that leaves plan mode and runs a command, and runs another command when the prompt is “again”. */
  const planner: ModelScript = ({ prompt, results }) => {
    if (results.length === 0) return [toolUse('ExitPlanMode', {}, 'toolu_1')]
    if (results.length === 1) return [bash('touch one.txt', 'toolu_2')]
    return prompt === 'again' && results.length === 2 ? [bash('touch two.txt', 'toolu_3')] : [say('done')]
  }

  it('a Claude Code session shows the mode that was chosen with an approved plan, even after the session was parked', async () => {
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

  it('a Claude Code session shows the mode that an accepted suggestion sets, and later the mode that a person sets', async () => {
    const write = (name: string) =>
      toolUse('Write', { file_path: `${claude.cwd}/${name}`, content: 'x' }, `toolu_${name}`)
    const names = ['a', 'b', 'c']
    claude = await ClaudeFixture.create(({ results, prompt }) => {
      const next = names[results.length]
      return next === undefined || (next === 'c' && prompt === 'go') ? [say('done')] : [write(next)]
    })
    const id = await claude.startClaude()
    const request = await claude.waitForRequest('toolu_a')
    const suggestions = request.ask.kind === 'approval' ? (request.ask.suggestions ?? []) : []
    const suggestion = suggestions.find(one => one.label.includes('acceptEdits'))
    await claude.answer(request, { kind: 'allow', suggestion: suggestion!.id })
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
