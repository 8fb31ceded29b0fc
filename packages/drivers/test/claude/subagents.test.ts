/** Tests forms of MCP servers and requests of subagents with the real Claude Code. */
import { fileURLToPath } from 'node:url'
import type { Answer, Request } from '@holdpoint/protocol'
import { afterEach, describe, expect, it } from 'vitest'
import { ClaudeFixture } from './claude-fixture.ts'
import { bash, type ModelScript, say, steps, toolUse } from './model.ts'

let claude: ClaudeFixture
afterEach(() => claude.close())

describe('elicitations of MCP servers of Claude Code', () => {
  const server = fileURLToPath(new URL('./form-server.mjs', import.meta.url))
  const options = { mcpServers: { shop: { command: process.execPath, args: [server] } } }
  const order = (how: string) => steps([toolUse('mcp__shop__order', { how }, 'toolu_1')])
  async function fill(how: string, answer: Answer): Promise<Request> {
    claude = await ClaudeFixture.create(order(how))
    await claude.startClaude({ options })
    await claude.answer(await claude.waitForRequest(), { kind: 'allow' })
    const opened = await claude.waitForEvent('request.opened', event => event.value.ask.kind === 'form')
    await claude.answer(opened.value, answer)
    await claude.waitForTurnEnd()
    return claude.asPerson('getRequest', { id: opened.value.id })
  }

  it('a form of an MCP server of Claude Code is shown to the person, and the submitted values reach the server', async () => {
    const request = await fill('form', { kind: 'submit', values: { count: 3 } })
    expect(request.ask).toMatchObject({ message: 'How many?', schema: { required: ['count'] } })
    expect(request.delivery.state).toBe('taken')
    expect(claude.model.toolResult()).toContain('"action":"accept"')
    expect(claude.model.toolResult()).toContain('"count":3')
  })

  it('an MCP server of Claude Code is told when a person declines its form', async () => {
    await fill('form', { kind: 'decline' })
    expect(claude.model.toolResult()).toContain('"action":"decline"')
  })

  it('a form of an MCP server of Claude Code is canceled if nobody answers before the deadline', async () => {
    claude = await ClaudeFixture.create(order('form'))
    await claude.startClaude({ options, deadlineMs: 1000, onDeadline: 'deny' })
    await claude.answer(await claude.waitForRequest(), { kind: 'allow' })
    const { value } = await claude.waitForEvent('request.opened', event => event.value.ask.kind === 'form')
    await claude.waitForTurnEnd()
    expect((await claude.asPerson('getRequest', { id: value.id })).resolution?.by).toBe('deadline')
    expect(claude.model.toolResult()).toContain('"action":"cancel"')
  })

  it('an elicitation with a URL in Claude Code becomes a form with a link', async () => {
    const request = await fill('link', { kind: 'submit', values: {} })
    expect(request.ask).toMatchObject({ url: 'https://example.org/sign-in' })
    expect(claude.model.toolResult()).toContain('"action":"accept"')
  })
})

/** Starts two subagents at the same time, each with a different command. */
const twoSubagents: ModelScript = ({ prompt, results, conversation }) => {
  for (const name of ['one', 'two'])
    if (prompt === `touch ${name}`)
      return results.length === 0 ? [bash(`touch ${name}.txt`, `toolu_${name}`)] : [say(`${name} is over`)]
  if (conversation.includes('toolu_agent_one')) return [say('done')]
  return ['one', 'two'].map(name =>
    toolUse(
      'Agent',
      {
        description: `agent ${name}`,
        prompt: `touch ${name}`,
        subagent_type: 'general-purpose',
        run_in_background: false,
      },
      `toolu_agent_${name}`,
    ),
  )
}

describe('requests of subagents of Claude Code', () => {
  it('two subagents of Claude Code can wait at the same time under their own names and be answered in reverse order', async () => {
    claude = await ClaudeFixture.create(twoSubagents)
    await claude.startClaude()
    const [one, two] = [await claude.waitForRequest('toolu_one'), await claude.waitForRequest('toolu_two')]
    expect(one.agentPath).toEqual(['agent one'])
    expect(two.agentPath).toEqual(['agent two'])
    await claude.answer(two, { kind: 'allow' })
    await claude.waitForEvent('tool.finished', event => event.block === 'toolu_two')
    expect(claude.readFile('two.txt')).toBe('')
    expect(claude.readFile('one.txt')).toBeNull()
    await claude.answer(one, { kind: 'deny', reason: 'not you' })
    await claude.waitForTurnEnd()
    expect(claude.readFile('one.txt')).toBeNull()
    expect(claude.model.toolResult('toolu_one')).toContain('not you')
    const started = claude.eventsOf('tool.started').find(event => event.block === 'toolu_two')
    expect(started?.agentPath).toEqual(['agent two'])
    expect(claude.eventsOf('message.added').find(event => event.text === 'two is over')?.agentPath).toEqual([
      'agent two',
    ])
  })

  it('a request from a nested subagent of Claude Code names the outer and the nested subagent', async () => {
    const agent = (name: string, id: string) =>
      toolUse(
        'Agent',
        { description: name, prompt: name, subagent_type: 'general-purpose', run_in_background: false },
        id,
      )
    const script: ModelScript = ({ prompt, results }) => {
      if (results.length > 0) return [say(`${prompt} is over`)]
      if (prompt === 'go') return [agent('outer', 'toolu_outer')]
      return prompt === 'outer' ? [agent('inner', 'toolu_inner')] : [bash('touch deep.txt')]
    }
    claude = await ClaudeFixture.create(script)
    await claude.startClaude()
    const request = await claude.waitForRequest()
    expect(request.agentPath).toEqual(['outer', 'inner'])
    await claude.answer(request, { kind: 'allow' })
    await claude.waitForTurnEnd()
    expect(claude.readFile('deep.txt')).toBe('')
    const paths = new Map(claude.eventsOf('message.added').map(event => [event.text, event.agentPath]))
    expect(paths.get('inner is over')).toEqual(['outer', 'inner'])
    expect(paths.get('outer is over')).toEqual(['outer'])
    expect(paths.get('go is over')).toBeUndefined()
  })
})
