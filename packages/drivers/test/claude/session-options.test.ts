/** What a person wishes of a session when they start it: each wish is granted, or refused with a sentence. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { JsonObject } from '@holdpoint/protocol'
import { afterEach, describe, expect, it } from 'vitest'
import { parseSessionOptions } from '../../src/claude/setup/session-options.ts'
import { claudeDriver } from '../../src/index.ts'
import { ClaudeFixture } from './claude-fixture.ts'
import { call, type Play, say } from './model.ts'

let house: ClaudeFixture | undefined
afterEach(async () => {
  await house?.close()
  house = undefined
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
    house = await ClaudeFixture.open(() => [say('hello')])
    const id = await house.start({ options: { mcpServers: { x: 5 } } })
    const { value } = await house.stage.seen('session.ended')
    expect(value).toMatchObject({ id, ending: { reason: 'failed', detail: expect.stringContaining('mcpServers') } })
    expect(house.stage.log('error.raised')[0]?.message).toContain('"x": must be an object')
    expect(house.model.scenes).toEqual([])
  })

  it('for an agent of one’s own is granted: it can be called, and follows its prompt', async () => {
    const play: Play = ({ prompt, all, turn }) => {
      if (prompt === 'help')
        return [say(JSON.stringify(turn.system).includes('You count sheep') ? 'counted' : 'who am I?')]
      const agent = { description: 'count', prompt: 'help', subagent_type: 'shepherd', run_in_background: false }
      return all.includes('toolu_agent') ? [say('done')] : [call('Agent', agent, 'toolu_agent')]
    }
    house = await ClaudeFixture.open(play)
    const shepherd = { description: 'counts', prompt: 'You count sheep' }
    await house.start({ options: { agents: { shepherd } } })
    await house.over()
    expect(house.model.told('toolu_agent')).toContain('counted')
  })

  it('for more folders is granted: what is in them can be read unasked', async () => {
    house = await ClaudeFixture.open(({ results }) => {
      const file_path = join(String(house?.home), 'elsewhere', 'note.txt')
      return results.length === 0 ? [call('Read', { file_path }, 'toolu_1')] : [say('done')]
    })
    const elsewhere = join(house.home, 'elsewhere')
    mkdirSync(elsewhere)
    writeFileSync(join(elsewhere, 'note.txt'), 'found here')
    await house.start({ options: { additionalDirectories: [elsewhere] } })
    await house.over()
    expect(house.model.told()).toContain('found here')
    expect(house.stage.log('request.opened')).toEqual([])
  })
})

describe('an MCP server that cannot be started', () => {
  it('is told of, once, with why', async () => {
    house = await ClaudeFixture.open(() => [say('hello')])
    const id = await house.start({ options: { mcpServers: { shop: { command: '/nowhere/shop' } } } })
    await house.over()
    const raised = await house.stage.seen('error.raised')
    expect(raised).toMatchObject({ code: 'mcp_server', message: expect.stringContaining('shop could not be started') })
    await house.stage.person('sendMessage', { id, text: 'again' })
    await house.over(2)
    expect(house.stage.log('error.raised')).toHaveLength(1)
  })
})

describe('the folder of a session', () => {
  it.each([
    ['that is a file', (at: ClaudeFixture) => join(at.cwd, 'file.txt'), 'is not a folder'],
    ['that lies in a file', (at: ClaudeFixture) => join(at.cwd, 'file.txt', 'x'), 'is not there'],
    ['that is not a whole path', () => 'relative/x', 'is not an absolute path'],
  ])('%s fails the turn with a sentence', async (_name, cwd, sentence) => {
    house = await ClaudeFixture.open(() => [say('hello')], { files: { 'file.txt': '' } })
    await house.start({ cwd: cwd(house) })
    expect((await house.over()).ending).toBe('failed')
    expect((await house.stage.seen('error.raised')).message).toContain(sentence)
  })
})

describe('a Claude Code of one’s own', () => {
  it('that is a folder is not ready, and that is said', async () => {
    house = await ClaudeFixture.open(() => [])
    for (const info of [
      claudeDriver({ folder: house.home, executable: house.cwd }).info(),
      claudeDriver({ folder: house.home, env: { HOLDPOINT_CLAUDE: house.cwd } }).info(),
    ])
      expect(await info).toMatchObject({ ready: false, missing: expect.stringContaining('is not a program') })
  })
})

describe('what was noted of a session', () => {
  it('and is damaged is put aside; the conversation goes on, and its cost is not told twice', async () => {
    house = await ClaudeFixture.open(({ prompt }) => [say(`heard ${prompt}`)])
    const runner = house.run()
    const id = await house.stage.start('claude', { cwd: house.cwd, prompt: 'one' })
    const first = await house.over()
    await house.stage.seen('command.done')
    await runner.stop()
    writeFileSync(join(house.home, 'driver', id, 'meta.json'), '{"key":')
    house.run()
    await house.stage.person('sendMessage', { id, text: 'two' })
    const second = await house.over(2)
    expect(house.model.scenes.at(-1)?.all).toContain('heard one')
    expect(second.cost).toBeCloseTo(first.cost ?? 0, 8)
    const raised = house.stage.log('error.raised').filter(event => event.code === 'damaged')
    expect(raised).toMatchObject([{ message: expect.stringContaining('meta.json.damaged') }])
  })
})

describe('the conversation of a session', () => {
  it('is shown by the id under which another session can go on with it', async () => {
    house = await ClaudeFixture.open(({ prompt }) => [say(`heard ${prompt}`)])
    const id = await house.start({ prompt: 'remember me' })
    await house.over()
    const { value } = await house.stage.seen('session.changed', event => event.value.conversationId !== null)
    const { conversationId } = value
    await house.stage.person('endSession', { id })
    const next = await house.stage.start('claude', {
      cwd: house.cwd,
      prompt: 'who?',
      conversationId: String(conversationId),
    })
    await house.over(2)
    expect(house.model.scenes.at(-1)?.all).toContain('remember me')
    expect((await house.stage.person('getSession', { id: next })).conversationId).toBe(conversationId)
  })
})

describe('a picture', () => {
  it('needs no words beside it', async () => {
    house = await ClaudeFixture.open(() => [say('seen')])
    const dot = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
    const image = { type: 'image', mediaType: 'image/png', data: dot } as const
    const id = await house.start({ prompt: '', attachments: [image] })
    await house.over()
    await house.stage.person('sendMessage', { id, text: '', attachments: [image] })
    expect((await house.over(2)).ending).toBe('done')
    expect(house.model.scenes.at(-1)?.all.split('"type":"image"')).toHaveLength(3)
  })
})

describe('a document', () => {
  it('is given whole where it is a PDF, under its name', async () => {
    house = await ClaudeFixture.open(() => [say('read')])
    const data = Buffer.from('%PDF-1.4\n%%EOF\n').toString('base64')
    const pdf = { type: 'document', mediaType: 'application/pdf', data, name: 'terms.pdf' } as const
    await house.start({ prompt: 'read this', attachments: [pdf] })
    await house.over()
    expect(house.model.scenes[0]?.all).toContain(`"media_type":"application/pdf","data":"${data}"`)
    expect(house.model.read('terms.pdf')).toBe(true)
  })
})
