/** Runs hooks of agents against a real gateway, as an agent would start them. The process of the tests counts as the agent. */
import { spawn } from 'node:child_process'
import { text } from 'node:stream/consumers'
import type { Answer, Request } from '@holdpoint/protocol'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  cleanEnvironment,
  closeGateways,
  type GatewayProcess,
  holdpoint,
  startGateway,
} from '../../../test/support/gateway.ts'
import { type CliResult, runCli } from './support/cli-process.ts'

describe('a hook of an agent', () => {
  let gateway: GatewayProcess
  beforeAll(async () => {
    gateway = await startGateway({ runner: 'none' })
  })
  afterAll(closeGateways)

  let conversations = 0
  const newConversation = () => `conversation-${++conversations}`
  const env = (more: Record<string, string> = {}) => ({
    ...cleanEnvironment(),
    HOLDPOINT_HOME: gateway.home.path,
    ...more,
  })
  const bash = (conversation: string, event: string, command = 'ls') =>
    JSON.stringify({
      hook_event_name: event,
      session_id: conversation,
      cwd: gateway.folder,
      tool_name: 'Bash',
      tool_input: { command },
      tool_use_id: `${conversation}-${command}`,
    })
  const run = (agent: string, input: string, more: Record<string, string> = {}): Promise<CliResult> =>
    runCli(['hook', 'run', agent], { env: env(more), input })
  const startAgentWithHook = ({ home }: GatewayProcess, input: string) => {
    const hook = JSON.stringify([holdpoint, 'hook', 'run', 'codex'])
    const script = `const stdio = ['pipe', 'inherit', 'inherit']
      const hook = require('node:child_process').spawn(process.execPath, ${hook}, { detached: true, stdio })
      process.stdin.pipe(hook.stdin)
      setInterval(() => {}, 1000)`
    const agent = spawn(process.execPath, ['-e', script], {
      env: { ...cleanEnvironment(), HOLDPOINT_HOME: home.path },
      stdio: ['pipe', 'pipe', 'ignore'],
    })
    agent.stdin.end(input)
    return agent
  }
  const prompt = (conversation: string) =>
    run(
      'claude',
      JSON.stringify({ hook_event_name: 'UserPromptSubmit', session_id: conversation, cwd: '/', prompt: conversation }),
    )
  const sessionsOf = async (title: string) =>
    (await gateway.call('listSessions', { limit: 100 })).items.filter(session => session.title === title)
  const pending = async (): Promise<Request> => {
    const find = async () => (await gateway.call('listRequests', { status: 'pending' })).items[0]
    await expect.poll(find).toBeDefined()
    return (await find()) as Request // checked above
  }
  const answer = ({ id, digest }: Request, given: Answer) =>
    gateway.call('answerRequest', { id, digest, answer: given })

  it('after a person has ended the session of a conversation, its next hook applies the rules in a new session', async () => {
    const conversation = newConversation()
    await prompt(conversation)
    const [first] = await sessionsOf(conversation)
    if (!first) throw new Error('the prompt starts a session')
    await gateway.call('endSession', { id: first.id })
    const rule = await gateway.call('addRule', { effect: 'deny', command: 'git push' })
    const { out } = await run('claude', bash(conversation, 'PreToolUse', 'git push'))
    await gateway.call('removeRule', { id: rule.id })
    expect(JSON.parse(out)).toMatchObject({ hookSpecificOutput: { permissionDecision: 'deny' } })
    await prompt(conversation)
    expect(await sessionsOf(conversation)).toHaveLength(2)
  })

  it('the request of a hook that was killed is withdrawn by the gateway', async () => {
    const child = spawn(process.execPath, [holdpoint, 'hook', 'run', 'codex'], { env: env(), stdio: 'pipe' })
    child.stdin.end(bash(newConversation(), 'PermissionRequest'))
    const { id } = await pending()
    child.kill('SIGKILL')
    await expect.poll(async () => (await gateway.call('getRequest', { id })).resolution?.reason).toBe('withdrawn')
  })

  it('a waiting hook ends after its agent and the gateway were killed', async () => {
    const other = await startGateway({ runner: 'none' })
    const agent = startAgentWithHook(other, bash(newConversation(), 'PermissionRequest'))
    await expect.poll(async () => (await other.call('listRequests', { status: 'pending' })).items.length).toBe(1)
    await other.kill()
    agent.kill('SIGKILL')
    // The agent and its hook share this pipe, so it ends when both have ended.
    expect(await text(agent.stdout)).toBe('')
  })

  it('the request of a waiting hook whose agent was killed ends with its session', async () => {
    const agent = startAgentWithHook(gateway, bash(newConversation(), 'PermissionRequest'))
    const { id, session } = await pending()
    agent.kill('SIGKILL')
    expect(await text(agent.stdout)).toBe('')
    await expect.poll(async () => (await gateway.call('getSession', { id: session })).state).toBe('ended')
    expect((await gateway.call('getRequest', { id })).resolution).toMatchObject({
      by: 'agent',
      reason: 'session_ended',
    })
  })

  it('a request that reaches the gateway after its call has run is withdrawn even if the gateway replied to no hook', async () => {
    const conversation = newConversation()
    await run('codex', JSON.stringify({ ...JSON.parse(bash(conversation, 'UserPromptSubmit')), prompt: conversation }))
    const { gatewayPid } = gateway
    process.kill(gatewayPid, 'SIGSTOP')
    try {
      await run('codex', bash(conversation, 'PermissionRequest'))
      await run('codex', bash(conversation, 'PostToolUse'))
    } finally {
      process.kill(gatewayPid, 'SIGCONT')
    }
    const [session] = await sessionsOf(conversation)
    const requests = async () => (await gateway.call('listRequests', { session: session?.id })).items
    await expect.poll(async () => (await requests()).map(({ resolution }) => resolution?.reason)).toEqual(['withdrawn'])
  })

  it('a hook of an agent that a runner has started reports nothing, because the driver of the agent asks', async () => {
    const conversation = newConversation()
    const input = JSON.stringify({
      hook_event_name: 'UserPromptSubmit',
      session_id: conversation,
      cwd: '/',
      prompt: conversation,
    })
    const { code, out } = await run('codex', input, { AGENT_PROCESS_TAG: 'some runner' })
    expect([code, out]).toEqual([0, ''])
    expect(await sessionsOf(conversation)).toEqual([])
  })

  it('a hook of Codex opens a request for a call that a rule asks about, and prints nothing after an allow', async () => {
    const rule = await gateway.call('addRule', { effect: 'ask', command: 'git push' })
    const reply = run('codex', bash(newConversation(), 'PreToolUse', 'git push'))
    const request = await pending()
    expect(request.ask).toMatchObject({ editable: false, input: { command: 'git push' } })
    await answer(request, { kind: 'allow' })
    expect(await reply).toMatchObject({ code: 0, out: '' })
    await gateway.call('removeRule', { id: rule.id })
  })

  describe('a call that a rule asks about', () => {
    const before = {
      codex: (conversation: string) => bash(conversation, 'PreToolUse', 'git push'),
      gemini: (conversation: string) =>
        JSON.stringify({
          ...{ hook_event_name: 'BeforeTool', session_id: conversation, cwd: gateway.folder },
          ...{ tool_name: 'run_shell_command', tool_input: { command: 'git push' } },
        }),
    }
    const denials = {
      codex: { hookSpecificOutput: { permissionDecision: 'deny', permissionDecisionReason: expect.any(String) } },
      gemini: { decision: 'deny', reason: expect.any(String) },
    }
    const ends: Readonly<Record<string, (request: Request) => Promise<unknown>>> = {
      'interrupts the session': ({ session }) => gateway.call('interruptSession', { id: session }),
      'ends the session': ({ session }) => gateway.call('endSession', { id: session }),
      'stops all sessions': () => gateway.call('stopEverything', {}),
    }
    let rule: { readonly id: string }
    beforeAll(async () => {
      rule = await gateway.call('addRule', { effect: 'ask', command: 'git push' })
    })
    afterAll(() => gateway.call('removeRule', { id: rule.id }))

    const cases = (['codex', 'gemini'] as const).flatMap(agent => Object.keys(ends).map(what => [agent, what] as const))
    it.each(cases)('%s does not run a call that a rule asks about if a person %s', async (agent, what) => {
      const reply = run(agent, before[agent](newConversation()))
      await ends[what]?.(await pending())
      const { code, out } = await reply
      expect(code).toBe(0)
      expect(JSON.parse(out || 'null')).toMatchObject(denials[agent])
    })

    it.each(['codex', 'gemini'] as const)(
      '%s does not run a call that a rule asks about if its hook gets a signal to end',
      async agent => {
        const child = spawn(process.execPath, [holdpoint, 'hook', 'run', agent], { env: env(), stdio: 'pipe' })
        const output = text(child.stdout)
        child.stdin.end(before[agent](newConversation()))
        const { id } = await pending()
        child.kill('SIGTERM')
        expect(JSON.parse((await output) || 'null')).toMatchObject(denials[agent])
        await expect.poll(async () => (await gateway.call('getRequest', { id })).resolution?.reason).toBe('withdrawn')
      },
    )
  })

  it('a hook uses the gateway of its own machine, even if the environment names another gateway and its token', async () => {
    const conversation = newConversation()
    const other = { HOLDPOINT_URL: 'http://127.0.0.1:1', HOLDPOINT_TOKEN: 'hp_other' }
    await run('codex', bash(conversation, 'PreToolUse'), other)
    const { items } = await gateway.call('listSessions', { limit: 1 })
    expect(items).toMatchObject([{ title: expect.stringMatching(/^Codex in /) }])
    const { items: events } = await gateway.call('listEvents', { id: items[0]?.id ?? '', limit: 100 })
    expect(JSON.stringify(events)).toContain(conversation)
  })

  it('the session of an agent in a terminal accepts no messages and no interrupts, and reports that every call is checked', async () => {
    for (const [agent, more] of [
      ['claude', ['editInput', 'questions']],
      ['codex', []],
    ] as const) {
      const conversation = newConversation()
      await run(agent, bash(conversation, 'PreToolUse'))
      const [session] = (await gateway.call('listSessions', { limit: 1 })).items
      const common = ['approvals', 'checksEveryTool', 'concurrentRequests', 'denyAndContinue', 'note']
      expect(session?.capabilities.toSorted()).toEqual([...common, ...more].sort())
    }
  })

  it('holdpoint hook refuses an unknown agent and lists the known agents', async () => {
    const { code, err } = await runCli(['hook', 'install', 'cursor'], { env: env(), input: '' })
    expect([code, err]).toEqual([2, expect.stringMatching(/claude, codex, gemini/)])
  })
})
