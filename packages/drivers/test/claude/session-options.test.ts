/** Tests session options, working folders, conversations and attachments of Claude Code. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { JsonObject } from '@holdpoint/protocol'
import { afterEach, describe, expect, it } from 'vitest'
import { parseSessionOptions } from '../../src/claude/setup/session-options.ts'
import { claudeDriver } from '../../src/index.ts'
import { ClaudeFixture } from './claude-fixture.ts'
import { type ModelScript, say, toolUse } from './model.ts'

let claude: ClaudeFixture | undefined
afterEach(async () => {
  await claude?.close()
  claude = undefined
})

const invalid: readonly [string, JsonObject, string][] = [
  [
    'an unknown option',
    { mcpservers: {} },
    'options.mcpservers: is not an option of Claude Code; the options are fork',
  ],
  ['mcpServers that is a string', { mcpServers: 'x' }, 'options.mcpServers: must be an object'],
  ['a server that is a number', { mcpServers: { x: 5 } }, 'options.mcpServers.x: must be an object'],
  ['a server without a command', { mcpServers: { x: {} } }, 'options.mcpServers.x.command: must be a string'],
  [
    'a server argument that is a number',
    { mcpServers: { x: { command: 'a', args: [1] } } },
    'args[0]: must be a string',
  ],
  [
    'a server environment variable that is a number',
    { mcpServers: { x: { command: 'a', env: { A: 1 } } } },
    'options.mcpServers.x.env.A: must be a string',
  ],
  ['an unknown server type', { mcpServers: { x: { type: 'sdk' } } }, 'x.type: must be stdio, http or sse'],
  ['a server without a URL', { mcpServers: { x: { type: 'http' } } }, 'x.url: must be a string'],
  ['agents that is a list', { agents: [1, 2] }, 'options.agents: must be an object whose keys are names'],
  ['an agent without a prompt', { agents: { a: { description: 'x' } } }, 'options.agents.a.prompt: must be a string'],
  [
    'additionalDirectories that is a string',
    { additionalDirectories: 'x' },
    'options.additionalDirectories: must be a list of strings',
  ],
  ['a folder that is a number', { additionalDirectories: [5] }, 'options.additionalDirectories[0]: must be a string'],
  ['a flag that is a string', { allowBypass: 'yes' }, 'options.allowBypass: must be true or false'],
  ['a flag that is a number', { fork: 1 }, 'options.fork: must be true or false'],
  ['fork without a conversation', { fork: true }, 'options.fork: needs conversationId'],
  ['a negative idleParkMs', { idleParkMs: -5 }, 'options.idleParkMs: must be a whole number'],
  ['a fractional idleParkMs', { idleParkMs: 0.5 }, 'options.idleParkMs: must be a whole number'],
]

describe('session options of Claude Code', () => {
  it.each(invalid)(
    'parseSessionOptions for Claude Code refuses %s, and the error says what is wrong with which option',
    (_name, options, sentence) => {
      expect(() => parseSessionOptions({ options, conversationId: null })).toThrow(sentence)
    },
  )

  it('a Claude Code session with an invalid option ends immediately, and the log says why', async () => {
    claude = await ClaudeFixture.create(() => [say('hello')])
    const id = await claude.startClaude({ options: { mcpServers: { x: 5 } } })
    const { value } = await claude.waitForEvent('session.ended')
    expect(value).toMatchObject({ id, ending: { reason: 'failed', detail: expect.stringContaining('mcpServers') } })
    expect(claude.eventsOf('error.raised')[0]?.message).toContain('mcpServers.x: must be an object')
    expect(claude.model.calls).toEqual([])
  })

  it('a custom agent in Claude Code can be called and follows its prompt', async () => {
    const script: ModelScript = ({ prompt, conversation, request }) => {
      if (prompt === 'help')
        return [say(JSON.stringify(request.system).includes('You count sheep') ? 'counted' : 'who am I?')]
      const agent = { description: 'count', prompt: 'help', subagent_type: 'shepherd', run_in_background: false }
      return conversation.includes('toolu_agent') ? [say('done')] : [toolUse('Agent', agent, 'toolu_agent')]
    }
    claude = await ClaudeFixture.create(script)
    const shepherd = { description: 'counts', prompt: 'You count sheep' }
    await claude.startClaude({ options: { agents: { shepherd } } })
    await claude.waitForTurnEnd()
    expect(claude.model.toolResult('toolu_agent')).toContain('counted')
  })

  it('Claude Code reads files in an additional folder without asking', async () => {
    claude = await ClaudeFixture.create(({ results }) => {
      const file_path = join(String(claude?.home), 'elsewhere', 'note.txt')
      return results.length === 0 ? [toolUse('Read', { file_path }, 'toolu_1')] : [say('done')]
    })
    const elsewhere = join(claude.home, 'elsewhere')
    mkdirSync(elsewhere)
    writeFileSync(join(elsewhere, 'note.txt'), 'found here')
    await claude.startClaude({ options: { additionalDirectories: [elsewhere] } })
    await claude.waitForTurnEnd()
    expect(claude.model.toolResult()).toContain('found here')
    expect(claude.eventsOf('request.opened')).toEqual([])
  })
})

describe('MCP servers of Claude Code', () => {
  it('an MCP server that Claude Code cannot start is reported once, with its name', async () => {
    claude = await ClaudeFixture.create(() => [say('hello')])
    const id = await claude.startClaude({ options: { mcpServers: { shop: { command: '/nowhere/shop' } } } })
    await claude.waitForTurnEnd()
    const raised = await claude.waitForEvent('error.raised')
    expect(raised).toMatchObject({ code: 'mcp_server', message: expect.stringContaining('shop could not be started') })
    await claude.asPerson('sendMessage', { id, text: 'again' })
    await claude.waitForTurnEnd(2)
    expect(claude.eventsOf('error.raised')).toHaveLength(1)
  })
})

describe('a Claude Code turn', () => {
  it.each([
    ['a file', (fixture: ClaudeFixture) => join(fixture.cwd, 'file.txt'), 'is not a folder'],
    ['a path inside a file', (fixture: ClaudeFixture) => join(fixture.cwd, 'file.txt', 'x'), 'does not exist'],
    ['a relative path', () => 'relative/x', 'is not an absolute path'],
  ])('a Claude Code turn fails with an error message if the working folder is %s', async (_name, cwd, sentence) => {
    claude = await ClaudeFixture.create(() => [say('hello')], { files: { 'file.txt': '' } })
    await claude.startClaude({ cwd: cwd(claude) })
    expect((await claude.waitForTurnEnd()).ending).toBe('failed')
    expect((await claude.waitForEvent('error.raised')).message).toContain(sentence)
  })
})

describe('the Claude Code driver', () => {
  it('the Claude Code driver is not ready if the configured executable is a folder', async () => {
    claude = await ClaudeFixture.create(() => [])
    for (const info of [
      claudeDriver({ folder: claude.home, executable: claude.cwd }).info(),
      claudeDriver({ folder: claude.home, env: { HOLDPOINT_CLAUDE: claude.cwd } }).info(),
    ])
      expect(await info).toMatchObject({ ready: false, missing: expect.stringContaining('is not an executable file') })
  })
})

describe('when the meta.json of a Claude Code session is damaged', () => {
  it('the Claude Code driver moves a damaged meta.json away, continues the conversation, and does not report the cost twice', async () => {
    claude = await ClaudeFixture.create(({ prompt }) => [say(`heard ${prompt}`)])
    const runner = claude.startRunner()
    const id = await claude.startSession('claude', { cwd: claude.cwd, prompt: 'one' })
    const first = await claude.waitForTurnEnd()
    await claude.waitForEvent('command.done')
    await runner.stop()
    writeFileSync(join(claude.home, 'driver', id, 'meta.json'), '{"key":')
    claude.startRunner()
    await claude.asPerson('sendMessage', { id, text: 'two' })
    const second = await claude.waitForTurnEnd(2)
    expect(claude.model.calls.at(-1)?.conversation).toContain('heard one')
    expect(second.cost).toBeCloseTo(first.cost ?? 0, 8)
    const errors = claude.eventsOf('error.raised').filter(event => event.code === 'damaged')
    expect(errors).toMatchObject([{ message: expect.stringContaining('meta.json.damaged') }])
  })
})

describe('the conversation id of a Claude Code session', () => {
  it('the conversation id of a Claude Code session can be used to continue the conversation in another session', async () => {
    claude = await ClaudeFixture.create(({ prompt }) => [say(`heard ${prompt}`)])
    const id = await claude.startClaude({ prompt: 'remember me' })
    await claude.waitForTurnEnd()
    const { value } = await claude.waitForEvent('session.changed', event => event.value.conversationId !== null)
    const { conversationId } = value
    await claude.asPerson('endSession', { id })
    const next = await claude.startSession('claude', {
      cwd: claude.cwd,
      prompt: 'who?',
      conversationId: String(conversationId),
    })
    await claude.waitForTurnEnd(2)
    expect(claude.model.calls.at(-1)?.conversation).toContain('remember me')
    expect((await claude.asPerson('getSession', { id: next })).conversationId).toBe(conversationId)
  })
})

describe('an image for Claude Code', () => {
  it('an image for Claude Code can be sent without text', async () => {
    claude = await ClaudeFixture.create(() => [say('seen')])
    const pixel = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
    const id = await claude.startClaude()
    await claude.waitForTurnEnd()
    await claude.sendFiles(id, '', [{ type: 'image', mediaType: 'image/png', data: pixel }])
    expect((await claude.waitForTurnEnd(2)).ending).toBe('done')
    expect(claude.model.calls.at(-1)?.conversation.split('"type":"image"')).toHaveLength(2)
  })
})

describe('a PDF for Claude Code', () => {
  it('a PDF for Claude Code reaches the model unchanged and with its name', async () => {
    claude = await ClaudeFixture.create(() => [say('read')])
    const data = Buffer.from('%PDF-1.4\n%%EOF\n').toString('base64')
    const id = await claude.startClaude()
    await claude.sendFiles(id, 'read this', [
      { type: 'document', mediaType: 'application/pdf', data, name: 'terms.pdf' },
    ])
    await claude.waitForTurnEnd(2)
    expect(claude.model.calls.at(-1)?.conversation).toContain(`"media_type":"application/pdf","data":"${data}"`)
    expect(claude.model.hasRead('terms.pdf')).toBe(true)
  })
})
