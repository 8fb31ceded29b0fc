/** Tests the ready-made watchers with the real Claude Code and a scripted model: what each of them makes the agent do. */
import { join } from 'node:path'
import type { SessionId } from '@holdpoint/protocol'
import { afterEach, describe, expect, it } from 'vitest'
import { ManualClock } from '../runner-fixture.ts'
import { ClaudeFixture, type ClaudeFixtureOptions } from './claude-fixture.ts'
import { bash, type ModelScript, say, steps, toolUse } from './model.ts'

let fixture: ClaudeFixture
afterEach(() => fixture.close())

async function start(
  use: readonly unknown[],
  script: ModelScript,
  options: ClaudeFixtureOptions = {},
): Promise<SessionId> {
  fixture = await ClaudeFixture.create(script, { watchers: { use }, ...options })
  return fixture.startClaude()
}
/** An expression in a text of a watcher. */
const expression = (cel: string) => `\${${cel}}`
const allowAll = () => fixture.answerAll(() => ({ kind: 'allow' }))
const write = (name: string, id: string) => toolUse('Write', { file_path: join(fixture.cwd, name), content: 'new' }, id)
const fired = () => fixture.eventsOf('watch.fired').map(({ watcher }) => watcher.name)
async function variableIn(id: SessionId, name: string) {
  return (await fixture.asPerson('listVariables', { id })).items.find(variable => variable.name === name)?.value
}
async function sendNext(id: SessionId, text: string, turn: number): Promise<void> {
  await fixture.asPerson('sendMessage', { id, text })
  await fixture.waitForTurnEnd(turn)
}

const testsCommand = 'sh run-tests.sh'
const commit = 'sh commit.sh'
const testsBeforeCommit = { name: 'tests-before-commit', with: { tests: testsCommand, commit } }
const commitFiles = { 'run-tests.sh': 'test -e fixed.txt', 'commit.sh': 'echo done >> commits.txt' }
/** Changes a file, tries to commit, runs tests that fail, tries again, and commits after the tests have passed. */
const commitScript: ModelScript = call =>
  steps(
    [write('a.txt', 'toolu_1')],
    [bash(commit, 'toolu_2')],
    [bash(testsCommand, 'toolu_3')],
    [bash(commit, 'toolu_4')],
    [write('fixed.txt', 'toolu_5')],
    [bash(testsCommand, 'toolu_6')],
    [bash(commit, 'toolu_7')],
  )(call)
const denied = 'The tests have not passed since the last change.'

function expectOneCommit(): void {
  expect(fixture.model.toolResult('toolu_2')).toContain(denied)
  expect(fixture.model.toolResult('toolu_4')).toContain(denied)
  expect(fixture.model.toolResult('toolu_7')).not.toContain(denied)
  expect(fixture.readFile('commits.txt')).toBe('done\n')
}

describe('watchers with Claude Code', () => {
  it('watchers deny a commit of Claude Code until the tests have passed after the last change, and then the commit runs', async () => {
    const id = await start([testsBeforeCommit], commitScript, { files: commitFiles })
    allowAll()
    await fixture.waitForTurnEnd()
    expectOneCommit()
    expect(await variableIn(id, 'testsPassed')).toBe(true)
  })

  it('watchers apply to a session of Claude Code that began before their file existed', async () => {
    let isWritten = false
    const script: ModelScript = call => (isWritten ? commitScript(call) : [say('ready')])
    fixture = await ClaudeFixture.create(script, { files: commitFiles })
    const id = await fixture.startClaude()
    await fixture.waitForTurnEnd()
    isWritten = true
    const context = { name: 'context-at-start', with: { text: 'Never push to main.' } }
    fixture.watchers.write({ use: [testsBeforeCommit, context] })
    allowAll()
    await sendNext(id, 'commit it', 2)
    expectOneCommit()
    expect(fixture.model.hasRead('Never push to main.')).toBe(true)
    await sendNext(id, 'again', 3)
    expect(fired().filter(name => name === 'context-at-start')).toHaveLength(1)
  })

  it('watchers send Claude Code back to work once if it stops after a change without tests', async () => {
    const reminder = { name: 'reminder-at-stop', with: { tests: testsCommand } }
    const text = `Files were changed, and ${testsCommand} has not passed since.`
    const id = await start([reminder], ({ results, prompt }) => {
      if (results.length === 0) return [write('a.txt', 'toolu_1')]
      return [say(prompt.includes(text) ? 'I stop anyway.' : 'I am done.')]
    })
    allowAll()
    await fixture.waitForTurnEnd(2)
    expect(fixture.agentTexts()).toEqual(['I am done.', 'I stop anyway.'])
    await sendNext(id, 'bye', 3)
    expect(fired().filter(name => name === 'reminder-at-stop')).toHaveLength(1)
    const messages = fixture.eventsOf('command.added').map(({ value }) => [value.madeBy, value.madeById])
    expect(messages).toEqual([
      ['ada', 'per_ada'],
      ['watcher reminder-at-stop', undefined],
      ['ada', 'per_ada'],
    ])
  })

  it('watchers deny a question of Claude Code while a variable is set, and allow the question afterwards', async () => {
    const question = (id: string) => {
      const options = [
        { label: 'Yes', description: 'y' },
        { label: 'No', description: 'n' },
      ]
      const questions = [{ question: 'Tabs?', header: 'Style', options, multiSelect: false }]
      return toolUse('AskUserQuestion', { questions }, id)
    }
    const id = await start(['no-questions'], ({ prompt, results }) => {
      if (prompt === 'go') return [say('ready')]
      return results.length < Number(prompt) ? [question(`toolu_${prompt}`)] : [say('done')]
    })
    await fixture.waitForTurnEnd()
    await fixture.asPerson('setVariable', { id, name: 'directive', value: 'Use spaces.' })
    await sendNext(id, '1', 2)
    expect(fixture.model.toolResult('toolu_1')).toContain('act on the directive: Use spaces.')
    expect(fixture.eventsOf('request.opened')).toEqual([])
    await fixture.asPerson('setVariable', { id, name: 'directive', value: '' })
    await fixture.asPerson('sendMessage', { id, text: '2' })
    const request = await fixture.waitForRequest('toolu_2')
    await fixture.answer(request, { kind: 'answers', answers: [{ id: 'q1', chosen: ['No'] }] })
    await fixture.waitForTurnEnd(3)
    expect(fixture.model.toolResult('toolu_2')).toContain('No')
  })

  it('watchers pause Claude Code at its budget until a person raises the limit, and then Claude Code continues', async () => {
    const id = await start([{ name: 'budget', with: { turns: 1 } }], ({ prompt, results }) =>
      prompt === 'go' || results.length >= Number(prompt) ? [say('done')] : [bash('echo working', `toolu_${prompt}`)],
    )
    await fixture.waitForTurnEnd()
    await fixture.asPerson('sendMessage', { id, text: '1' })
    const request = await fixture.waitForRequest('toolu_1')
    expect(request.watcher).toMatchObject({ name: 'budget' })
    expect(fixture.model.toolResult('toolu_1')).toBeUndefined()
    await fixture.asPerson('setVariable', { id, name: 'limit_budget', value: 10 })
    await fixture.answer(request, { kind: 'allow' })
    await fixture.waitForTurnEnd(2)
    expect(fixture.model.toolResult('toolu_1')).toBe('working')
    await sendNext(id, '2', 3)
    expect(fixture.eventsOf('request.opened')).toHaveLength(1)
  })

  it('watchers pause Claude Code in the middle of its first turn if the turn has used the tokens of a limit', async () => {
    // Each message of the scripted model uses two tokens. Those of the third pass the limit, and may be counted shortly after its call was checked.
    const calls = ['1', '2', '3', '4'].map(number => [bash(`echo ${number}`, `toolu_${number}`)])
    const id = await start([{ name: 'budget', with: { tokens: 5 } }], steps(...calls))
    await expect.poll(() => fixture.eventsOf('request.opened')).toHaveLength(1)
    const key = fixture.eventsOf('request.opened')[0]?.value.key
    expect(['toolu_3', 'toolu_4']).toContain(key)
    const request = await fixture.waitForRequest(key)
    expect(request.watcher).toMatchObject({ name: 'budget', text: expect.stringMatching(/[68] of 5 tokens/) })
    expect(fixture.eventsOf('turn.finished')).toEqual([])
    await fixture.asPerson('setVariable', { id, name: 'limit_budget', value: 1000 })
    await fixture.answer(request, { kind: 'allow' })
    const { usage } = await fixture.waitForTurnEnd()
    expect(usage).toMatchObject({ inputTokens: 5, outputTokens: 5 })
    expect(fixture.model.toolResult('toolu_4')).toBe('4')
    expect(fixture.eventsOf('request.opened')).toHaveLength(1)
  })

  it('watchers ask about the third identical call of Claude Code', async () => {
    await start(
      ['loop-guard'],
      steps([bash('echo again', 'toolu_1')], [bash('echo again', 'toolu_2')], [bash('echo again', 'toolu_3')]),
    )
    const request = await fixture.waitForRequest('toolu_3')
    expect(request.watcher).toMatchObject({ name: 'loop-guard' })
    expect(fixture.eventsOf('request.opened')).toHaveLength(1)
    await fixture.answer(request, { kind: 'deny', reason: 'Enough.' })
    await fixture.waitForTurnEnd()
    expect(fixture.model.toolResult('toolu_3')).toContain('Enough.')
  })

  it('watchers make Claude Code name its task with the tool set_variable before it changes a file', async () => {
    const id = await start(['task-first'], call =>
      steps(
        [write('a.txt', 'toolu_1')],
        [toolUse('mcp__holdpoint-session__set_variable', { name: 'task', value: '#12' }, 'toolu_2')],
        [write('b.txt', 'toolu_3')],
      )(call),
    )
    allowAll()
    await fixture.waitForTurnEnd()
    expect(fixture.model.toolResult('toolu_1')).toContain('No task is named yet.')
    expect(fixture.readFile('a.txt')).toBeNull()
    expect(fixture.readFile('b.txt')).toBe('new')
    expect(await variableIn(id, 'task')).toBe('#12')
    expect(fixture.eventsOf('request.opened').map(({ value }) => value.key)).toEqual(['toolu_3'])
    const offered = fixture.model.calls[0]?.request.tools?.map(({ name }) => name)
    expect(offered).toContain('mcp__holdpoint-session__set_variable')
  })

  it('watchers that are added during a session of Claude Code give it the tool with which it names its task', async () => {
    const setTask = toolUse('mcp__holdpoint-session__set_variable', { name: 'task', value: '#12' }, 'toolu_1')
    fixture = await ClaudeFixture.create(({ prompt, results }) =>
      prompt === 'go' || results.length === 2
        ? [say('ready')]
        : [results.length === 0 ? setTask : write('a.txt', 'toolu_2')],
    )
    const id = await fixture.startClaude()
    await fixture.waitForTurnEnd()
    fixture.watchers.write({ use: ['task-first'] })
    allowAll()
    await sendNext(id, 'change it', 2)
    expect(fixture.model.toolResult('toolu_1')).toBe('task is now "#12".')
    expect(fixture.readFile('a.txt')).toBe('new')
    expect(fixture.eventsOf('request.opened').map(({ value }) => value.key)).toEqual(['toolu_2'])
  })

  it('watchers give Claude Code a text at the start of its session, which the model reads once', async () => {
    const id = await start(
      [{ name: 'context-at-start', with: { text: `The folder is ${expression('session.folder')}.` } }],
      () => [say('ok')],
    )
    await fixture.waitForTurnEnd()
    expect(fixture.model.calls[0]?.conversation).toContain(`The folder is ${fixture.cwd}.`)
    await sendNext(id, 'next', 2)
    expect(fixture.model.calls.at(-1)?.conversation.split('The folder is ')).toHaveLength(2)
    const offered = fixture.model.calls[0]?.request.tools?.map(({ name }) => name)
    expect(offered).not.toContain('mcp__holdpoint-session__set_variable')
  })

  it('watchers ask before Claude Code writes outside of the folder of its session', async () => {
    await start(['no-edits-outside'], steps([bash('echo x > ../outside.txt', 'toolu_1')]))
    const request = await fixture.waitForRequest('toolu_1')
    expect(request.watcher).toMatchObject({ name: 'no-edits-outside' })
    await fixture.answer(request, { kind: 'deny' })
    await fixture.waitForTurnEnd()
    expect(fixture.readFile('../outside.txt')).toBeNull()
  })

  it('watchers ask before Claude Code uses the network in quiet hours, and not afterwards', async () => {
    const clock = new ManualClock()
    const hour = new Date(clock.now()).getHours()
    const quietHours = { name: 'quiet-hours', with: { from: hour, to: hour + 1 } }
    // Nothing listens at this port.
    const fetching = (id: string) => bash('curl --max-time 1 http://127.0.0.1:9/', id)
    const id = await start(
      [quietHours],
      ({ prompt, results }) => (results.length < Number(prompt) ? [fetching(`toolu_${prompt}`)] : [say('ready')]),
      { clock },
    )
    await fixture.waitForTurnEnd()
    allowAll()
    await fixture.asPerson('sendMessage', { id, text: '1' })
    await fixture.waitForTurnEnd(2)
    await clock.advance(3600_000, 5000)
    await fixture.asPerson('sendMessage', { id, text: '2' })
    await fixture.waitForTurnEnd(3)
    expect((await fixture.getRequest('toolu_1')).watcher).toMatchObject({ name: 'quiet-hours' })
    expect((await fixture.getRequest('toolu_2')).watcher).toBeUndefined()
  })

  it('watchers refuse a message before Claude Code gets it, and the person reads why', async () => {
    const refuse = {
      name: 'no-deploys',
      on: 'prompt',
      when: 'prompt.text.contains("deploy")',
      do: { deny: 'No deploys today.' },
    }
    fixture = await ClaudeFixture.create(() => [say('ok')], { watchers: { watch: [refuse] } })
    const id = await fixture.startClaude()
    await fixture.waitForTurnEnd()
    await fixture.asPerson('sendMessage', { id, text: 'deploy it' })
    const { outcome } = await fixture.waitForEvent('command.done', event => !event.outcome.ok)
    expect(outcome.reason).toBe('The watcher “no-deploys” refused this message: No deploys today.')
    await sendNext(id, 'then test it', 2)
    expect(fixture.model.hasRead('deploy it')).toBe(false)
  })

  it('watchers give Claude Code texts before and after a call in the same turn', async () => {
    const watch = [
      { name: 'before-echo', on: 'before', tool: 'Bash', do: { say: 'A command starts.' } },
      {
        name: 'after-echo',
        on: 'after',
        tool: 'Bash',
        do: { say: `It ended with code ${expression('result.exitCode')}.` },
      },
    ]
    fixture = await ClaudeFixture.create(steps([bash('echo x', 'toolu_1')], [bash('exit 3', 'toolu_2')]), {
      watchers: { watch },
    })
    await fixture.startClaude()
    allowAll()
    await fixture.waitForTurnEnd()
    const read = fixture.model.calls.map(({ conversation }) => conversation)
    expect(read[1]).toContain('A command starts.')
    expect(read[1]).toContain('It ended with code 0.')
    expect(read[2]).toContain('It ended with code 3.')
    expect(fired()).toEqual(['before-echo', 'after-echo', 'before-echo', 'after-echo'])
  })
})

describe('watchers with Claude Code after a crash', () => {
  const count = (on: string) => ({ name: `count-${on}`, on, do: { set: { [on]: `vars.${on} + 1` } } })
  const counted = ['prompt', 'before', 'after']
  const watchers = {
    vars: Object.fromEntries(counted.map(on => [on, 0])),
    watch: [...counted.map(count), { name: 'remind', on: 'stop', times: 1, do: { say: 'Have you run the tests?' } }],
  }

  it.each(['reportMoment', 'checkTool', 'openRequest', 'reportDelivery'] as const)(
    'watchers see each moment of Claude Code once if gateway and runner are killed at %s',
    async op => {
      fixture = await ClaudeFixture.create(steps([bash('sh once.sh', 'toolu_1')]), {
        watchers,
        files: { 'once.sh': 'echo ran' },
        knownParkable: true,
      })
      let hasCrashed = false
      const started = fixture.waitForEvent('session.opened').then(({ value }) => value.id)
      const crashed = new Promise<void>(resolve => {
        const runner = fixture.startRunner(undefined, {
          call: async (name, input, options) => {
            const output = await fixture.asRunner(name, input, options)
            // The gateway has committed the moment and its effects, and the runner does not get the reply.
            if (name !== op || hasCrashed) return output
            hasCrashed = true
            // A process that is lost before the call is in its transcript gets the message again.
            if (name !== 'reportMoment') await fixture.waitForTranscript(await started)
            runner.kill()
            resolve()
            return new Promise<never>(() => {})
          },
        })
      })
      const id = await fixture.startSession('claude', { cwd: fixture.cwd, parkAfterMs: null })
      allowAll()
      await crashed
      await fixture.restartGateway()
      fixture.startRunner()
      // Without an open request, a turn that was lost after a call began is not repeated.
      const isTurnLost = op === 'checkTool'
      if (isTurnLost) {
        const { outcome } = await fixture.waitForEvent('command.done', event => !event.outcome.ok)
        expect(outcome.reason).toContain('The runner was lost in the middle of the turn')
        await fixture.asPerson('sendMessage', { id, text: 'go on' })
      }
      await fixture.waitForEvent('watch.fired', ({ watcher }) => watcher.name === 'remind')
      await fixture.waitForTurnEnd(isTurnLost ? 3 : 2)
      const { items } = await fixture.asPerson('listVariables', { id })
      const values = Object.fromEntries(items.map(({ name, value }) => [name, value]))
      const calls = new Set(fixture.eventsOf('tool.started').map(({ block }) => block)).size
      expect(values).toEqual({ prompt: isTurnLost ? 2 : 1, before: calls, after: calls })
      expect(fired().filter(name => name === 'remind')).toHaveLength(1)
    },
  )
})
