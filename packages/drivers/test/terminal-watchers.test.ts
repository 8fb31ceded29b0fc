/** Tests watchers with the hooks of agents in a person's own terminal, on a real gateway that reads the watchers from a file. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { codexTerminal } from '../src/terminal/codex-hooks.ts'
import { geminiTerminal } from '../src/terminal/gemini-hooks.ts'
import type { TerminalAgent } from '../src/terminal/terminal-agent.ts'
import { TerminalFixture } from './terminal-fixture.ts'

const file = {
  vars: { passed: false, code: -1 },
  watch: [
    { name: 'context', on: 'start', do: { say: 'Never push.' } },
    { name: 'no-deploys', on: 'prompt', when: 'prompt.text.contains("deploy")', do: { deny: 'No deploys.' } },
    { name: 'hint', on: 'before', command: 'make', do: { say: 'It takes a minute.' } },
    { name: 'no-commit', on: 'before', command: 'git commit', when: '!vars.passed', do: { deny: 'Run the tests.' } },
    {
      name: 'ran',
      on: 'after',
      command: 'make',
      do: { set: { passed: 'result.ok', code: 'result.exitCode' }, say: 'Seen.' },
    },
    { name: 'remind', on: 'stop', when: '!vars.passed', times: 1, do: { say: 'Nothing has passed.' } },
  ],
}

let fixture: TerminalFixture
beforeEach(async () => {
  fixture = await TerminalFixture.open(file)
})
afterEach(() => fixture.close())

const hook = (input: object, agent?: TerminalAgent) => fixture.hook(input, agent)
const call = (id: string, command: string) => ({ tool_use_id: id, tool_name: 'Bash', tool_input: { command } })
const prompt = (text: string) => ({ hook_event_name: 'UserPromptSubmit', prompt: text })
const context = (hookEventName: string, additionalContext: string) => ({
  hookSpecificOutput: { hookEventName, additionalContext },
})

describe('watchers with the hooks of Claude Code', () => {
  it('watchers give Claude Code in a terminal their texts with a message and with the result of a call', async () => {
    expect(await hook(prompt('go'))).toEqual(context('UserPromptSubmit', 'Never push.'))
    expect(await hook({ hook_event_name: 'PreToolUse', ...call('1', 'make') })).toBeNull()
    const finished = { hook_event_name: 'PostToolUseFailure', ...call('1', 'make'), error: 'Exit code 2\nno' }
    expect(await hook(finished)).toEqual(context('PostToolUseFailure', 'It takes a minute.\n\nSeen.'))
    const { items } = await fixture.gateway.asPerson('listVariables', { id: fixture.session.info.id })
    expect(items.map(({ value }) => value)).toEqual([false, 2])
  })

  it('watchers refuse a message in the terminal of Claude Code, and the session shows why', async () => {
    const reason = 'The watcher “no-deploys” refused this message: No deploys.'
    expect(await hook(prompt('deploy it'))).toEqual({ decision: 'block', reason })
    expect(fixture.gateway.eventsOf('error.raised').map(({ message }) => message)).toEqual([reason])
    expect((await fixture.gateway.asPerson('getSession', { id: fixture.session.info.id })).state).not.toBe('working')
  })

  it('watchers deny a call of Claude Code in a terminal until the tests have passed', async () => {
    const commit = { hook_event_name: 'PreToolUse', ...call('1', 'git commit') }
    expect(await hook(commit)).toMatchObject({ hookSpecificOutput: { permissionDecision: 'deny' } })
    expect(JSON.stringify(await hook(commit))).toContain('Run the tests.')
    const passed = { hook_event_name: 'PostToolUse', ...call('2', 'make'), tool_response: { stdout: 'ok', stderr: '' } }
    await hook(passed)
    expect(await hook({ hook_event_name: 'PreToolUse', ...call('3', 'git commit') })).toBeNull()
  })

  it('watchers send Claude Code in a terminal back to work once, and its turn continues', async () => {
    await hook(prompt('go'))
    const stop = { hook_event_name: 'Stop', last_assistant_message: 'Done.' }
    expect(await hook(stop)).toEqual({ decision: 'block', reason: 'Nothing has passed.' })
    expect(fixture.gateway.eventsOf('turn.finished')).toEqual([])
    expect(await hook(stop)).toBeNull()
    await fixture.gateway.waitForTurnEnd()
    expect(fixture.gateway.eventsOf('watch.fired').filter(({ watcher }) => watcher.name === 'remind')).toHaveLength(1)
  })
})

describe('watchers with the hooks of Gemini', () => {
  it('watchers refuse a message for Gemini, and send Gemini back to work, in the words of its hooks', async () => {
    const refused = await hook({ hook_event_name: 'BeforeAgent', prompt: 'deploy it' }, geminiTerminal)
    expect(refused).toMatchObject({ decision: 'deny' })
    const stopped = await hook({ hook_event_name: 'AfterAgent', prompt_response: 'Done.' }, geminiTerminal)
    expect(stopped).toEqual({ decision: 'deny', reason: expect.stringContaining('Nothing has passed.') })
  })
})

describe('watchers with the hooks of Codex', () => {
  it('a call of Codex in a terminal does not count as passed, because Codex does not tell its hooks whether the call failed', async () => {
    await hook({ hook_event_name: 'PreToolUse', ...call('1', 'make') }, codexTerminal)
    await hook({ hook_event_name: 'PostToolUse', ...call('1', 'make'), tool_response: 'no' }, codexTerminal)
    const { items } = await fixture.gateway.asPerson('listVariables', { id: fixture.session.info.id })
    expect(items.map(({ value }) => value)).toEqual([false, -1])
    const commit = await hook({ hook_event_name: 'PreToolUse', ...call('2', 'git commit') }, codexTerminal)
    expect(commit).toMatchObject({ hookSpecificOutput: { permissionDecision: 'deny' } })
    expect(fixture.gateway.eventsOf('tool.finished')).toMatchObject([{ ok: true }])
  })
})
