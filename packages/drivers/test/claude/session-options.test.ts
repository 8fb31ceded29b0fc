/** What a person wishes of a session when they start it: each wish is granted, or refused with a sentence. */
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

const wrong: readonly [string, JsonObject, string][] = [
  ['is not known', { mcpservers: {} }, 'options.mcpservers: is not an option of Claude Code; there is fork'],
  ['is text and should be an object', { mcpServers: 'x' }, 'options.mcpServers: must be an object'],
  ['names a server that is none', { mcpServers: { x: 5 } }, 'options.mcpServers: "x": must be an object'],
  ['names a server without a command', { mcpServers: { x: {} } }, '"x": command must be text'],
  ['gives a server odd arguments', { mcpServers: { x: { command: 'a', args: [1] } } }, 'args must be a list of texts'],
  [
    'gives a server an odd environment',
    { mcpServers: { x: { command: 'a', env: { A: 1 } } } },
    'env must be an object',
  ],
  ['names a server of no kind', { mcpServers: { x: { type: 'sdk' } } }, 'type must be stdio, http or sse'],
  ['names a server without an address', { mcpServers: { x: { type: 'http' } } }, 'url must be text'],
  ['is a list of agents', { agents: [1, 2] }, 'options.agents: must be an object, by name'],
  ['names an agent without a prompt', { agents: { a: { description: 'x' } } }, '"a": prompt must be text'],
  ['is one folder', { additionalDirectories: 'x' }, 'options.additionalDirectories: must be a list of texts'],
  ['is a list of numbers', { additionalDirectories: [5] }, 'options.additionalDirectories: must be a list of texts'],
  ['is a word for yes', { allowBypass: 'yes' }, 'options.allowBypass: must be true or false'],
  ['is a number for yes', { fork: 1 }, 'options.fork: must be true or false'],
  ['forks nothing', { fork: true }, 'options.fork: needs conversationId'],
  ['is less than no time', { idleParkMs: -5 }, 'options.idleParkMs: must be a whole number'],
  ['is part of a millisecond', { idleParkMs: 0.5 }, 'options.idleParkMs: must be a whole number'],
]

describe('a wish', () => {
  it.each(wrong)('that %s is refused', (_name, options, sentence) => {
    expect(() => parseSessionOptions({ options, conversationId: null })).toThrow(sentence)
  })

  it('that is refused ends the session at its start, and says why', async () => {
    claude = await ClaudeFixture.create(() => [say('hello')])
    const id = await claude.startClaude({ options: { mcpServers: { x: 5 } } })
    const { value } = await claude.waitForEvent('session.ended')
    expect(value).toMatchObject({ id, ending: { reason: 'failed', detail: expect.stringContaining('mcpServers') } })
    expect(claude.eventsOf('error.raised')[0]?.message).toContain('"x": must be an object')
    expect(claude.model.calls).toEqual([])
  })

  it('for an agent of one’s own is granted: it can be called, and follows its prompt', async () => {
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

  it('for more folders is granted: what is in them can be read unasked', async () => {
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
  it('is told of, once, with why', async () => {
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

describe('the folder of a session', () => {
  it.each([
    ['that is a file', (at: ClaudeFixture) => join(at.cwd, 'file.txt'), 'is not a folder'],
    ['that lies in a file', (at: ClaudeFixture) => join(at.cwd, 'file.txt', 'x'), 'is not there'],
    ['that is not a whole path', () => 'relative/x', 'is not an absolute path'],
  ])('%s fails the turn with a sentence', async (_name, cwd, sentence) => {
    claude = await ClaudeFixture.create(() => [say('hello')], { files: { 'file.txt': '' } })
    await claude.startClaude({ cwd: cwd(claude) })
    expect((await claude.waitForTurnEnd()).ending).toBe('failed')
    expect((await claude.waitForEvent('error.raised')).message).toContain(sentence)
  })
})

describe('a Claude Code of one’s own', () => {
  it('that is a folder is not ready, and that is said', async () => {
    claude = await ClaudeFixture.create(() => [])
    for (const info of [
      claudeDriver({ folder: claude.home, executable: claude.cwd }).info(),
      claudeDriver({ folder: claude.home, env: { HOLDPOINT_CLAUDE: claude.cwd } }).info(),
    ])
      expect(await info).toMatchObject({ ready: false, missing: expect.stringContaining('is not a program') })
  })
})

describe('what was noted of a session', () => {
  it('and is damaged is put aside; the conversation goes on, and its cost is not told twice', async () => {
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
    const raised = claude.eventsOf('error.raised').filter(event => event.code === 'damaged')
    expect(raised).toMatchObject([{ message: expect.stringContaining('meta.json.damaged') }])
  })
})

describe('the conversation of a session', () => {
  it('is shown by the id under which another session can go on with it', async () => {
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

describe('a picture', () => {
  it('needs no words beside it', async () => {
    claude = await ClaudeFixture.create(() => [say('seen')])
    const dot = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
    const image = { type: 'image', mediaType: 'image/png', data: dot } as const
    const id = await claude.startClaude({ prompt: '', attachments: [image] })
    await claude.waitForTurnEnd()
    await claude.asPerson('sendMessage', { id, text: '', attachments: [image] })
    expect((await claude.waitForTurnEnd(2)).ending).toBe('done')
    expect(claude.model.calls.at(-1)?.conversation.split('"type":"image"')).toHaveLength(3)
  })
})

describe('a document', () => {
  it('is given whole where it is a PDF, under its name', async () => {
    claude = await ClaudeFixture.create(() => [say('read')])
    const data = Buffer.from('%PDF-1.4\n%%EOF\n').toString('base64')
    const pdf = { type: 'document', mediaType: 'application/pdf', data, name: 'terms.pdf' } as const
    await claude.startClaude({ prompt: 'read this', attachments: [pdf] })
    await claude.waitForTurnEnd()
    expect(claude.model.calls[0]?.conversation).toContain(`"media_type":"application/pdf","data":"${data}"`)
    expect(claude.model.hasRead('terms.pdf')).toBe(true)
  })
})
