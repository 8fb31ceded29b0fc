/** Tests what a session shows of the turns of an agent in a person's own terminal: what the agent waits for, and how a turn ended. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { TerminalFixture } from './terminal-fixture.ts'

let fixture: TerminalFixture
beforeEach(async () => {
  fixture = await TerminalFixture.open()
  await fixture.hook({ hook_event_name: 'UserPromptSubmit', prompt: 'go' })
})
afterEach(() => fixture.close())

const sessionState = async () => (await fixture.gateway.asPerson('getSession', { id: fixture.session.info.id })).state
const failure = {
  hook_event_name: 'StopFailure',
  error: 'rate_limit',
  last_assistant_message: 'API Error: 429 slow down',
}

describe('a turn of Claude Code in a terminal', () => {
  it('a turn of Claude Code in a terminal that ends with an error of the model’s API ends in the session too, with the error', async () => {
    const call = { tool_name: 'Bash', tool_input: { command: 'ls' } }
    await fixture.hook({ hook_event_name: 'PreToolUse', ...call, tool_use_id: '1' })
    expect(await fixture.hook(failure)).toBeNull()
    expect(await sessionState()).toBe('idle')
    expect(fixture.gateway.eventsOf('turn.finished').map(({ ending }) => ending)).toEqual(['failed'])
    const [error] = fixture.gateway.eventsOf('error.raised')
    expect(error?.code).toBe('rate_limit')
    expect(error?.message).toMatch(/usage limit.*API Error: 429 slow down/)
    expect(fixture.calls).toEqual([])
  })

  it('a turn of Claude Code in a terminal continues if only one of its subagents fails', async () => {
    await fixture.hook({ ...failure, agent_id: 'agent-1', agent_type: 'Explore' })
    expect(await sessionState()).toBe('working')
  })

  it('a form of an MCP server, which Claude Code shows only in its terminal, is named in the session', async () => {
    const form = { hook_event_name: 'Elicitation', mcp_server_name: 'shop', message: 'How many?', mode: 'form' }
    expect(await fixture.hook(form)).toBeNull()
    const link = { ...form, message: 'Sign in there', mode: 'url', url: 'https://example.org/sign-in' }
    expect(await fixture.hook(link)).toBeNull()
    const texts = fixture.gateway.eventsOf('message.added').map(({ text }) => text)
    expect(texts.slice(1)).toEqual([
      'Claude Code asks in its terminal, and you can answer only there: The MCP server shop: How many?',
      'Claude Code asks in its terminal, and you can answer only there: The MCP server shop: Sign in there (https://example.org/sign-in)',
    ])
  })
})
