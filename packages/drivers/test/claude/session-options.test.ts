/** Session options, working folders, conversations and attachments of Claude Code. */
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
  ['servers as text', { mcpServers: 'x' }, 'options.mcpServers: must be an object'],
  ['a server that is a number', { mcpServers: { x: 5 } }, 'options.mcpServers.x: must be an object'],
  ['a server without a command', { mcpServers: { x: {} } }, 'options.mcpServers.x.command: must be text'],
  ['a server argument that is a number', { mcpServers: { x: { command: 'a', args: [1] } } }, 'args[0]: must be text'],
  [
    'a server environment with a number',
    { mcpServers: { x: { command: 'a', env: { A: 1 } } } },
    'options.mcpServers.x.env.A: must be text',
  ],
  ['an unknown server type', { mcpServers: { x: { type: 'sdk' } } }, 'x.type: must be stdio, http or sse'],
  ['a server without a URL', { mcpServers: { x: { type: 'http' } } }, 'x.url: must be text'],
  ['a list of agents', { agents: [1, 2] }, 'options.agents: must be an object whose keys are names'],
  ['an agent without a prompt', { agents: { a: { description: 'x' } } }, 'options.agents.a.prompt: must be text'],
  ['one folder as text', { additionalDirectories: 'x' }, 'options.additionalDirectories: must be a list of texts'],
  ['a folder that is a number', { additionalDirectories: [5] }, 'options.additionalDirectories[0]: must be text'],
  ['a flag as text', { allowBypass: 'yes' }, 'options.allowBypass: must be true or false'],
  ['a flag as a number', { fork: 1 }, 'options.fork: must be true or false'],
  ['a fork without a conversation', { fork: true }, 'options.fork: needs conversationId'],
  ['a negative duration', { idleParkMs: -5 }, 'options.idleParkMs: must be a whole number'],
  ['a fraction of a millisecond', { idleParkMs: 0.5 }, 'options.idleParkMs: must be a whole number'],
]

describe('a session option', () => {
  it.each(invalid)('%s is an error that names the option and what is allowed', (_name, options, sentence) => {
    expect(() => parseSessionOptions({ options, conversationId: null })).toThrow(sentence)
  })

  it('an invalid option ends the session at its start with the reason', async () => {
    claude = await ClaudeFixture.create(() => [say('hello')])
    const id = await claude.startClaude({ options: { mcpServers: { x: 5 } } })
    const { value } = await claude.waitForEvent('session.ended')
    expect(value).toMatchObject({ id, ending: { reason: 'failed', detail: expect.stringContaining('mcpServers') } })
    expect(claude.eventsOf('error.raised')[0]?.message).toContain('mcpServers.x: must be an object')
    expect(claude.model.calls).toEqual([])
  })

  it('a custom agent can be called and follows its prompt', async () => {
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

  it('files in an additional folder can be read without asking', async () => {
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

describe('an MCP server that cannot be started', () => {
  it('a missing server is reported once, with the reason', async () => {
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

describe('an unusable working folder', () => {
  it.each([
    ['a file', (fixture: ClaudeFixture) => join(fixture.cwd, 'file.txt'), 'is not a folder'],
    ['a path inside a file', (fixture: ClaudeFixture) => join(fixture.cwd, 'file.txt', 'x'), 'does not exist'],
    ['a relative path', () => 'relative/x', 'is not an absolute path'],
  ])('%s as working folder fails the turn with a message', async (_name, cwd, sentence) => {
    claude = await ClaudeFixture.create(() => [say('hello')], { files: { 'file.txt': '' } })
    await claude.startClaude({ cwd: cwd(claude) })
    expect((await claude.waitForTurnEnd()).ending).toBe('failed')
    expect((await claude.waitForEvent('error.raised')).message).toContain(sentence)
  })
})

describe('a configured claude executable', () => {
  it('a folder in place of the executable makes the driver not ready', async () => {
    claude = await ClaudeFixture.create(() => [])
    for (const info of [
      claudeDriver({ folder: claude.home, executable: claude.cwd }).info(),
      claudeDriver({ folder: claude.home, env: { HOLDPOINT_CLAUDE: claude.cwd } }).info(),
    ])
      expect(await info).toMatchObject({ ready: false, missing: expect.stringContaining('is not a program') })
  })
})

describe('a damaged meta.json', () => {
  it('a damaged meta.json is moved away, the conversation continues, and its cost is not reported twice', async () => {
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

describe('the conversation id of a session', () => {
  it('another session can continue the conversation by its id', async () => {
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

describe('an image', () => {
  it('an image can be sent without text', async () => {
    claude = await ClaudeFixture.create(() => [say('seen')])
    const pixel = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
    const image = { type: 'image', mediaType: 'image/png', data: pixel } as const
    const id = await claude.startClaude({ prompt: '', attachments: [image] })
    await claude.waitForTurnEnd()
    await claude.asPerson('sendMessage', { id, text: '', attachments: [image] })
    expect((await claude.waitForTurnEnd(2)).ending).toBe('done')
    expect(claude.model.calls.at(-1)?.conversation.split('"type":"image"')).toHaveLength(3)
  })
})

describe('a document', () => {
  it('a PDF reaches the model whole, with its name', async () => {
    claude = await ClaudeFixture.create(() => [say('read')])
    const data = Buffer.from('%PDF-1.4\n%%EOF\n').toString('base64')
    const pdf = { type: 'document', mediaType: 'application/pdf', data, name: 'terms.pdf' } as const
    await claude.startClaude({ prompt: 'read this', attachments: [pdf] })
    await claude.waitForTurnEnd()
    expect(claude.model.calls[0]?.conversation).toContain(`"media_type":"application/pdf","data":"${data}"`)
    expect(claude.model.hasRead('terms.pdf')).toBe(true)
  })
})
