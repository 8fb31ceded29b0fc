/** Tests watchers with the hooks of agents in a person's own terminal, on a real gateway that reads the watchers from a file. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { JsonObject } from '@holdpoint/protocol'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { AgentSession } from '../src/session/agent-session.ts'
import { answerHook, parseHook, type TerminalCall } from '../src/terminal/answer-hook.ts'
import { claudeTerminal } from '../src/terminal/claude-hooks.ts'
import { geminiTerminal } from '../src/terminal/gemini-hooks.ts'
import type { TerminalAgent } from '../src/terminal/terminal-agent.ts'
import { RunnerFixture } from './runner-fixture.ts'
import { watchMachine } from './watch-machine.ts'

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

let home: string
let fixture: RunnerFixture
let session: AgentSession
let calls: TerminalCall[]
beforeEach(async () => {
  home = mkdtempSync(join(tmpdir(), 'holdpoint-terminal-watchers-'))
  const watchers = watchMachine(home)
  watchers.write(file)
  fixture = await RunnerFixture.open({ machine: watchers.machine })
  const started = await fixture.asPerson('startSession', { driver: 'external', cwd: home })
  session = new AgentSession({ call: fixture.asPerson, session: started })
  calls = []
})
afterEach(async () => {
  await fixture.close()
  rmSync(home, { recursive: true })
})

/** Runs one hook, and returns what it prints. */
async function hook(input: object, agent: TerminalAgent = claudeTerminal): Promise<JsonObject | null> {
  const event = parseHook(agent, JSON.stringify({ session_id: 'conversation', cwd: home, ...input }))
  if (!event) throw new Error('this is not the input of a hook')
  const reply = await answerHook(event, {
    ...{ agent, session, call: fixture.asPerson, onAccepted: () => {}, onFallback: () => {} },
    calls: {
      list: () => calls,
      put: call => {
        calls = [call, ...calls.filter(({ id }) => id !== call.id)]
      },
      remove: id => {
        calls = calls.filter(call => call.id !== id)
      },
      hasHook: () => true,
    },
    answeredInTerminal: new AbortController().signal,
  })
  return reply && agent.format(reply)
}
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
    const { items } = await fixture.asPerson('listVariables', { id: session.info.id })
    expect(items.map(({ value }) => value)).toEqual([false, 2])
  })

  it('watchers refuse a message in the terminal of Claude Code, and the session shows why', async () => {
    const reason = 'The watcher “no-deploys” refused this message: No deploys.'
    expect(await hook(prompt('deploy it'))).toEqual({ decision: 'block', reason })
    expect(fixture.eventsOf('error.raised').map(({ message }) => message)).toEqual([reason])
    expect((await fixture.asPerson('getSession', { id: session.info.id })).state).not.toBe('working')
  })

  it('watchers deny a call of Claude Code in a terminal until the tests have passed', async () => {
    const commit = { hook_event_name: 'PreToolUse', ...call('1', 'git commit') }
    expect(await hook(commit)).toMatchObject({ hookSpecificOutput: { permissionDecision: 'deny' } })
    expect(JSON.stringify(await hook(commit))).toContain('Run the tests.')
    const passed = { hook_event_name: 'PostToolUse', ...call('2', 'make'), tool_response: { stdout: 'ok', stderr: '' } }
    await hook(passed)
    expect(await hook({ hook_event_name: 'PreToolUse', ...call('3', 'git commit') })).toBeNull()
  })

  it('watchers send Claude Code in a terminal back to work once, and its turn goes on', async () => {
    await hook(prompt('go'))
    const stop = { hook_event_name: 'Stop', last_assistant_message: 'Done.' }
    expect(await hook(stop)).toEqual({ decision: 'block', reason: 'Nothing has passed.' })
    expect(fixture.eventsOf('turn.finished')).toEqual([])
    expect(await hook(stop)).toBeNull()
    await fixture.waitForTurnEnd()
    expect(fixture.eventsOf('watch.fired').filter(({ watcher }) => watcher.name === 'remind')).toHaveLength(1)
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
