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
const gemini = (hook_event_name: string, command = 'ls', more: object = {}) =>
  fixture.hook(
    { hook_event_name, tool_name: 'run_shell_command', tool_input: { command }, ...more },
    terminalAgents.gemini,
  )
const pending = async (): Promise<Request> => {
  const find = async () => (await fixture.gateway.asPerson('listRequests', { status: 'pending' })).items[0]
  await expect.poll(find).toBeDefined()
  return (await find()) as Request // checked above
}
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
  ])('%s has the delivery “taken” if the call of Claude Code in a terminal ran as allowed', async (_, answer, ran) => {
    const { id } = await answerWhileRunning(answer)
    await fixture.hook(post('1', ran))
    expect((await fixture.request(id)).delivery.state).toBe('taken')
    expect(errors()).toEqual([])
  })

  it('a deny has the delivery “taken” if the call of Claude Code in a terminal did not run', async () => {
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
  ])('%s of Codex in a terminal runs unchanged after a person has allowed it on the page', async (_, tool, command) => {
    await fixture.gateway.asPerson('addRule', { effect: 'ask', tool })
    const call = { tool_use_id: '1', tool_name: tool, tool_input: { command } }
    const reply = fixture.hook({ hook_event_name: 'PreToolUse', ...call }, terminalAgents.codex)
    await fixture.gateway.answer(await fixture.gateway.waitForRequest('1'), { kind: 'allow' })
    expect(await reply).toBeNull()
  })
})

describe('a request of Claude Code in a terminal whose call no hook has reported before', () => {
  const withdrawn = { by: 'agent', reason: 'withdrawn' }

  it('a request in a terminal whose call no hook has reported before is withdrawn when the call has ended', async () => {
    const waiting = fixture.hook(permission())
    const { id } = await pending()
    await fixture.hook(post('1'))
    expect(await waiting).toBeNull()
    expect((await fixture.request(id)).resolution).toMatchObject(withdrawn)
    expect(fixture.calls).toEqual([])
  })

  it('a request in a terminal whose input another hook has changed is withdrawn when the call has ended', async () => {
    await fixture.hook(pre('1', 'ls'))
    const waiting = fixture.hook(permission('ls -l'))
    const { id } = await pending()
    await fixture.hook(post('1', 'ls -l'))
    expect(await waiting).toBeNull()
    expect((await fixture.request(id)).resolution).toMatchObject(withdrawn)
    expect(fixture.calls).toEqual([])
  })

  it('a request of the main agent in a terminal is withdrawn when the main agent stops, and a request of a subagent is not', async () => {
    const subagent = { agent_id: 'a1', agent_type: 'Explore' }
    const waiting = [fixture.hook({ ...permission('pwd'), ...subagent }), fixture.hook(permission('ls'))]
    await expect
      .poll(async () => (await fixture.gateway.asPerson('listRequests', { status: 'pending' })).items.length)
      .toBe(2)
    await fixture.hook({ hook_event_name: 'Stop' })
    const left = await pending()
    expect(left.ask).toMatchObject({ input: { command: 'pwd' } })
    await fixture.gateway.answer(left, { kind: 'deny' })
    await Promise.all(waiting)
  })
})

describe('the records of calls in a terminal', () => {
  it('no record is kept of a call in a terminal that a rule has denied', async () => {
    await fixture.gateway.asPerson('addRule', { effect: 'deny', command: 'ls' })
    await fixture.hook(pre('1'))
    await gemini('BeforeTool')
    expect(fixture.calls).toEqual([])
  })

  it('no records of the main agent’s calls in a terminal are kept after the main agent has stopped', async () => {
    await fixture.hook(pre('1'))
    await fixture.hook({ hook_event_name: 'Stop' })
    expect(fixture.calls).toEqual([])
  })

  it('a result of Gemini belongs to the call that a person allowed, and not to an equal call that was denied or is waiting', async () => {
    await fixture.gateway.asPerson('addRule', { effect: 'ask', command: 'ls' })
    const ask = async () => {
      const reply = gemini('BeforeTool')
      return { reply, request: await pending() }
    }
    const denied = await ask()
    await fixture.gateway.answer(denied.request, { kind: 'deny' })
    await denied.reply
    const waits = await ask()
    const second = gemini('BeforeTool')
    const open = async () => (await fixture.gateway.asPerson('listRequests', { status: 'pending' })).items
    await expect.poll(async () => (await open()).length).toBe(2)
    const [allowed] = (await open()).filter(({ id }) => id !== waits.request.id)
    if (!allowed) throw new Error('two requests are open')
    await fixture.gateway.answer(allowed, { kind: 'allow', note: 'only once' })
    expect(await second).toBeNull()
    const result = await gemini('AfterTool', 'ls', { tool_response: { llmContent: 'a' } })
    expect(JSON.stringify(result)).toContain('only once')
    expect((await fixture.request(allowed.id)).delivery.state).toBe('taken')
    expect((await fixture.request(waits.request.id)).status).toBe('pending')
    expect(errors()).toEqual([])
    await fixture.gateway.answer(waits.request, { kind: 'deny' })
    await waits.reply
    await fixture.hook({ hook_event_name: 'AfterAgent', prompt_response: '' }, terminalAgents.gemini)
    expect((await fixture.request(denied.request.id)).delivery.state).toBe('taken')
    expect(fixture.calls).toEqual([])
  })
})
