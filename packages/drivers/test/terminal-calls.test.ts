/** Tests what becomes of calls and their requests in a person's own terminal, on a real gateway in memory. */
import type { Answer, Request } from '@holdpoint/protocol'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { terminalAgents } from '../src/index.ts'
import { TerminalFixture } from './terminal-fixture.ts'

let fixture: TerminalFixture
beforeEach(async () => {
  fixture = await TerminalFixture.open()
})
afterEach(() => fixture.close())

const bash = (command: string) => ({ tool_name: 'Bash', tool_input: { command } })
const pre = (id: string, command = 'ls') => ({ hook_event_name: 'PreToolUse', tool_use_id: id, ...bash(command) })
const post = (id: string, command = 'ls') => ({
  ...{ hook_event_name: 'PostToolUse', tool_use_id: id, tool_response: { stdout: '', stderr: '' } },
  ...bash(command),
})
const permission = (command = 'ls') => ({ hook_event_name: 'PermissionRequest', ...bash(command) })
const errors = () => fixture.gateway.eventsOf('error.raised').map(({ message }) => message)

describe('an answer on the page to a call of Claude Code that a person has already allowed in the terminal', () => {
  /** The command runs after it was allowed in the terminal, so its hook still waits and gets the answer. */
  const answerWhileRunning = async (answer: Answer): Promise<Request> => {
    await fixture.hook(pre('1'))
    const waiting = fixture.hook(permission())
    const request = await fixture.gateway.waitForRequest('1')
    await fixture.gateway.answer(request, answer)
    await waiting
    return request
  }

  it.each<[string, Answer, RegExp]>([
    ['deny', { kind: 'deny', reason: 'no' }, /denied here, so it ran anyway/],
    ['edit', { kind: 'allow', input: { command: 'pwd' } }, /ran without the edits/],
  ])(
    'the %s of a call that was allowed in the terminal first is undeliverable, and the session says that the call ran',
    async (_, answer, message) => {
      const { id } = await answerWhileRunning(answer)
      await fixture.hook(post('1'))
      expect((await fixture.request(id)).delivery).toMatchObject({
        ...{ state: 'undeliverable', reason: expect.stringContaining('terminal') },
      })
      expect(errors()).toEqual([expect.stringMatching(message)])
    },
  )

  it.each<[string, Answer, string]>([
    ['an allow', { kind: 'allow' }, 'ls'],
    ['an allow with edits', { kind: 'allow', input: { command: 'pwd' } }, 'pwd'],
  ])('%s of a call of Claude Code in a terminal that ran as allowed is taken', async (_, answer, ran) => {
    const { id } = await answerWhileRunning(answer)
    await fixture.hook(post('1', ran))
    expect((await fixture.request(id)).delivery.state).toBe('taken')
    expect(errors()).toEqual([])
  })

  it('the deny of a call of Claude Code in a terminal is taken if the call did not run', async () => {
    const { id } = await answerWhileRunning({ kind: 'deny' })
    await fixture.hook({ hook_event_name: 'Stop' })
    expect((await fixture.request(id)).delivery.state).toBe('taken')
    expect(errors()).toEqual([])
  })
})

describe('a call of Codex in a terminal that a rule asks about', () => {
  const patch = '*** Begin Patch\n*** Add File: a.ts\n+text\n*** End Patch'
  it.each([
    ['a patch', 'apply_patch', patch],
    ['a command', 'Bash', 'ls'],
  ])('%s of Codex that a person allows before it runs is not changed by the hook', async (_, tool, command) => {
    await fixture.gateway.asPerson('addRule', { effect: 'ask', tool })
    const call = { tool_use_id: '1', tool_name: tool, tool_input: { command } }
    const reply = fixture.hook({ hook_event_name: 'PreToolUse', ...call }, terminalAgents.codex)
    await fixture.gateway.answer(await fixture.gateway.waitForRequest('1'), { kind: 'allow' })
    expect(await reply).toBeNull()
  })
})
