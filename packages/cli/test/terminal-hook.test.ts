/** Tests that the hook of a person's own terminal never lets a call pass the rules unnoticed: with inputs that cannot be checked, and after somebody has ended the session. */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { cleanEnvironment, closeGateways, type GatewayProcess, startGateway } from '../../../test/support/gateway.ts'
import { runCli } from './support/cli-process.ts'

describe('the hook of a person’s own terminal', () => {
  let gateway: GatewayProcess
  beforeAll(async () => {
    gateway = await startGateway({ runner: 'none' })
  })
  afterAll(closeGateways)

  const run = async (input: string) => {
    const env = { ...cleanEnvironment(), HOLDPOINT_HOME: gateway.home.path }
    const { out } = await runCli(['hook', 'run', 'claude'], { cwd: gateway.folder, env, input })
    return out === '' ? null : JSON.parse(out).hookSpecificOutput
  }
  /** Returns the input of a hook before a call that the built-in rule denies. */
  const readToken = (conversation: string, more: object = {}) => ({
    session_id: conversation,
    cwd: gateway.folder,
    hook_event_name: 'PreToolUse',
    tool_use_id: randomUUID(),
    tool_name: 'Bash',
    tool_input: { command: `cat ${gateway.home.path}/token`, ...more },
  })
  const openSessions = async (conversation: string) => {
    const { items } = await gateway.call('listSessions', { limit: 100 })
    return items.filter(({ conversationId, state }) => conversationId === conversation && state !== 'ended')
  }

  it.each([
    ['a lone surrogate in its description', { description: '\ud800' }],
    ['a field named __proto__', JSON.parse('{"__proto__":{"a":1}}')],
    ['too many levels', { more: JSON.parse(`${'['.repeat(80)}${']'.repeat(80)}`) }],
    ['too many values', { more: Array.from({ length: 11_000 }, () => 1) }],
  ])(
    'the agent asks in the terminal about a call that the gateway cannot check against the rules, such as a call with %s',
    async (_, more) => {
      const reply = await run(JSON.stringify(readToken(randomUUID(), more)))
      expect(reply).toMatchObject({ hookEventName: 'PreToolUse', permissionDecision: 'ask' })
      expect(reply.permissionDecisionReason).toContain('could not check its rules')
    },
  )
  it('the agent asks in the terminal about a call whose hook input has an unexpected form', async () => {
    const { tool_input: _, ...rest } = readToken(randomUUID())
    expect(await run(JSON.stringify(rest))).toMatchObject({ permissionDecision: 'ask' })
    expect(await run(JSON.stringify({ hook_event_name: 'Notification' }))).toBeNull()
    expect(await run('not JSON')).toBeNull()
  })
  it('a folder name that is cut in the middle of a character does not prevent the check of the rules', async () => {
    const hook = { ...readToken(randomUUID()), cwd: `/srv/${'a'.repeat(284)}😀` }
    expect(await run(JSON.stringify(hook))).toMatchObject({ permissionDecision: 'deny' })
  })
  it('the rules still apply in a terminal after a person has ended or deleted its session, in a new session each time', async () => {
    const conversation = randomUUID()
    const prompt = (text: string) =>
      run(
        JSON.stringify({
          ...{ session_id: conversation, cwd: gateway.folder, hook_event_name: 'UserPromptSubmit' },
          prompt: text,
        }),
      )
    await prompt('first')
    for (const deletes of [false, true, false]) {
      const [session, ...others] = await openSessions(conversation)
      expect(others).toEqual([])
      await gateway.call('endSession', { id: session?.id ?? '' })
      if (deletes) await gateway.call('deleteSession', { id: session?.id ?? '' })
      expect(await run(JSON.stringify(readToken(conversation)))).toMatchObject({ permissionDecision: 'deny' })
      await prompt('next')
    }
  })
})
