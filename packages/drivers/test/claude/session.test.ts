import { randomUUID } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { type Call, Fault } from '@holdpoint/protocol'
import { afterEach, describe, expect, it } from 'vitest'
import { claudeDriver } from '../../src/index.ts'
import { ManualClock } from '../runner-fixture.ts'
import { advanceUntil, ClaudeFixture, isAlive, waitUntil } from './claude-fixture.ts'
import { bash, type ModelScript, say, startModelProxy, steps } from './model.ts'

let claude: ClaudeFixture
afterEach(() => claude.close())

describe('an interrupt', () => {
  it('ends a turn that waits, at once, and the request with it', async () => {
    claude = await ClaudeFixture.create(steps([bash('touch out.txt')]))
    const id = await claude.startClaude()
    await claude.waitForRequest()
    await claude.asPerson('interruptSession', { id })
    expect((await claude.waitForTurnEnd()).ending).toBe('interrupted')
    expect((await claude.getRequest()).resolution).toMatchObject({ by: 'agent', reason: 'interrupted' })
    expect(claude.readFile('out.txt')).toBeNull()
    await claude.asPerson('sendMessage', { id, text: 'go on' })
    await claude.waitForTurnEnd(2)
    expect(claude.model.calls.at(-1)?.prompt).toBe('go on')
  })

  it('ends a turn whose call is parked', async () => {
    claude = await ClaudeFixture.create(steps([bash('touch out.txt')]), { knownParkable: true })
    const id = await claude.startClaude({ parkAfterMs: 0 })
    await claude.waitForRequest()
    await claude.waitUntilParked(id)
    await claude.asPerson('interruptSession', { id })
    expect((await claude.waitForTurnEnd()).ending).toBe('interrupted')
    expect(claude.readFile('out.txt')).toBeNull()
  })
})

describe('the end of a session by a person', () => {
  it('ends its process and resolves what waits', async () => {
    claude = await ClaudeFixture.create(steps([bash('touch out.txt')]))
    const id = await claude.startClaude()
    await claude.waitForRequest()
    const pid = claude.pidOf(id)
    await claude.asPerson('endSession', { id })
    await waitUntil(() => !isAlive(pid))
    expect((await claude.getRequest()).resolution).toMatchObject({ by: 'agent', reason: 'session_ended' })
    expect(claude.readFile('out.txt')).toBeNull()
  })
})

describe('messages', () => {
  it('that are sent while it works wait for their turn, in order', async () => {
    const script: ModelScript = ({ prompt, results }) =>
      prompt === 'go' && results.length === 0 ? [bash('touch out.txt')] : [say(`heard ${prompt}`)]
    claude = await ClaudeFixture.create(script)
    const id = await claude.startClaude()
    const request = await claude.waitForRequest()
    await claude.asPerson('sendMessage', { id, text: 'second' })
    await claude.asPerson('sendMessage', { id, text: 'third' })
    await claude.answer(request, { kind: 'allow' })
    await claude.waitForTurnEnd(3)
    expect(claude.agentTexts()).toEqual(['heard go', 'heard second', 'heard third'])
  })

  it('bring images and documents along', async () => {
    claude = await ClaudeFixture.create(() => [say('seen')])
    const dot = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
    const note = { type: 'document', mediaType: 'text/plain', data: Buffer.from('a note').toString('base64') } as const
    await claude.startClaude({
      prompt: 'look',
      attachments: [{ type: 'image', mediaType: 'image/png', data: dot }, note],
    })
    await claude.waitForTurnEnd()
    expect(claude.model.hasRead('a note')).toBe(true)
    expect(claude.model.calls[0]?.conversation).toContain('"type":"image"')
  })

  it('go on with an earlier conversation of Claude Code, or fork it', async () => {
    claude = await ClaudeFixture.create(({ prompt }) => [say(`heard ${prompt}`)])
    const first = await claude.startClaude({ prompt: 'remember me' })
    await claude.waitForTurnEnd()
    await claude.asPerson('endSession', { id: first })
    const { key } = JSON.parse(await claude.readDriverFile(first, 'meta.json'))
    const fork = await claude.startSession('claude', {
      cwd: claude.cwd,
      prompt: 'who?',
      conversationId: key.sessionId,
      options: { fork: true },
    })
    await claude.waitForTurnEnd(2)
    expect(claude.model.calls.at(-1)?.conversation).toContain('remember me')
    expect(JSON.parse(await claude.readDriverFile(fork, 'meta.json')).key.sessionId).not.toBe(key.sessionId)
    const same = await claude.startSession('claude', {
      cwd: claude.cwd,
      prompt: 'again',
      conversationId: key.sessionId,
    })
    await claude.waitForTurnEnd(3)
    expect(claude.model.calls.at(-1)?.conversation).toContain('remember me')
    expect(JSON.parse(await claude.readDriverFile(same, 'meta.json')).key.sessionId).toBe(key.sessionId)
  })

  it('to go on with a conversation that is not there fail with a sentence', async () => {
    claude = await ClaudeFixture.create(() => [say('hello')])
    await claude.startClaude({ conversationId: randomUUID() })
    expect((await claude.waitForTurnEnd()).ending).toBe('failed')
    expect((await claude.waitForEvent('error.raised')).message).toContain('No conversation found')
  })
})

describe('the rules', () => {
  it('see every call: a deny holds for what the CLI would run unasked', async () => {
    claude = await ClaudeFixture.create(steps([bash('ls -la')]))
    await claude.asPerson('addRule', { effect: 'deny', tool: 'Bash', command: 'ls -la', note: 'no looking' })
    await claude.startClaude({ mode: 'acceptEdits' })
    await claude.waitForTurnEnd()
    expect(claude.model.toolResult()).toContain('no looking')
    expect(claude.eventsOf('request.opened')).toHaveLength(0)
  })

  const outOfOrder = async (failure: Error) => {
    claude = await ClaudeFixture.create(steps([bash('touch out.txt')]))
    const call: Call = async (op, input, options) => {
      if (op === 'checkTool') throw failure
      return claude.asRunner(op, input, options)
    }
    claude.startRunner([claude.driver()], { call })
    await claude.startSession('claude', { cwd: claude.cwd, mode: 'bypassPermissions' })
    await claude.waitForTurnEnd()
    expect(claude.readFile('out.txt')).toBeNull()
  }
  it('that cannot be asked let nothing through, and agent and person read why', async () => {
    await outOfOrder(new Fault('internal', 'they are out of order'))
    expect(claude.model.toolResult()).toContain('they are out of order')
    expect(claude.eventsOf('error.raised')[0]?.message).toContain(
      'Bash was refused, since the rules could not be asked',
    )
  })

  it('let nothing through either where asking them breaks', async () => {
    await outOfOrder(new TypeError('a mistake of ours'))
    expect(claude.model.toolResult()).toBeDefined()
  })

  it('make the CLI ask for what it would run unasked', async () => {
    claude = await ClaudeFixture.create(steps([bash('touch out.txt')]))
    await claude.asPerson('addRule', { effect: 'ask', tool: 'Bash', command: 'touch out.txt' })
    await claude.startClaude({ mode: 'bypassPermissions' })
    await claude.answer(await claude.waitForRequest(), { kind: 'deny', reason: 'by a person' })
    await claude.waitForTurnEnd()
    expect(claude.readFile('out.txt')).toBeNull()
    expect(claude.model.toolResult()).toContain('by a person')
  })

  it('answer for a person where they allow', async () => {
    claude = await ClaudeFixture.create(steps([bash('touch out.txt')]))
    await claude.asPerson('addRule', {
      effect: 'allow',
      tool: 'Bash',
      command: 'touch out.txt',
      scope: { cwd: claude.cwd },
    })
    await claude.startClaude()
    await claude.waitForTurnEnd()
    expect(claude.readFile('out.txt')).toBe('')
    expect((await claude.getRequest()).resolution?.by).toBe('rule')
  })
})

describe('what is heard of a turn', () => {
  it('is kept: text, calls, their results, the usage and the cost', async () => {
    claude = await ClaudeFixture.create(steps([say('let me see'), bash('echo hello')]))
    await claude.startClaude({ mode: 'acceptEdits' })
    const over = await claude.waitForTurnEnd()
    expect(over.usage).toEqual({ inputTokens: expect.any(Number), outputTokens: expect.any(Number) })
    expect(over.cost).toBeGreaterThan(0)
    expect(claude.agentTexts()).toEqual(['let me see', 'done'])
    expect(claude.eventsOf('tool.started')).toMatchObject([{ block: 'toolu_1', input: { command: 'echo hello' } }])
    const [finished] = claude.eventsOf('tool.finished')
    expect(finished).toMatchObject({ block: 'toolu_1', ok: true, output: expect.stringContaining('hello') })
  })

  it('costs what it costs, however often the conversation was resumed', async () => {
    const clock = new ManualClock()
    claude = await ClaudeFixture.create(() => [say('done')], { clock, idleParkMs: 60_000 })
    const id = await claude.startClaude()
    const first = await claude.waitForTurnEnd()
    await advanceUntil(clock, claude.waitUntilParked(id))
    await claude.asPerson('sendMessage', { id, text: 'again' })
    const second = await claude.waitForTurnEnd(2)
    expect(second.cost).toBeCloseTo(first.cost ?? 0, 8)
  })

  it('tells of a network that is not there, in a sentence to act on', async () => {
    const env = { ANTHROPIC_BASE_URL: 'http://127.0.0.1:9', CLAUDE_CODE_MAX_RETRIES: '1' }
    claude = await ClaudeFixture.create(() => [], { env })
    await claude.startClaude()
    expect((await claude.waitForTurnEnd()).ending).toBe('failed')
    expect(claude.eventsOf('error.raised')[0]?.message).toContain('check the network')
  })

  it('tells of a sign-in that is refused, in a sentence to act on', async () => {
    const refusing = createServer((_, response) => {
      response.writeHead(401, { 'content-type': 'application/json' })
      response.end('{"type":"error","error":{"type":"authentication_error","message":"invalid x-api-key"}}')
    })
    await new Promise<void>(resolve => refusing.listen(0, '127.0.0.1', resolve))
    const { port } = refusing.address() as AddressInfo
    claude = await ClaudeFixture.create(() => [], {
      env: { ANTHROPIC_BASE_URL: `http://127.0.0.1:${port}`, CLAUDE_CODE_MAX_RETRIES: '1' },
    })
    await claude.startClaude()
    expect((await claude.waitForTurnEnd()).ending).toBe('failed')
    refusing.close()
    const raised = claude.eventsOf('error.raised').find(event => event.code === 'authentication_failed')
    expect(raised?.message).toContain('sign in again')
  })
})

describe('a limit that is reached', () => {
  const limited = { status: 429, type: 'rate_limit_error', message: 'slow down', headers: { 'retry-after': '0' } }
  it('is told in a sentence to act on, and the turn fails with it', async () => {
    const front = await startModelProxy(
      () => '',
      () => limited,
    )
    claude = await ClaudeFixture.create(() => [], {
      env: { ANTHROPIC_BASE_URL: front.url, CLAUDE_CODE_MAX_RETRIES: '1' },
    })
    await claude.startClaude()
    expect((await claude.waitForTurnEnd()).ending).toBe('failed')
    front.close()
    const [retry, last] = claude.eventsOf('error.raised')
    expect(retry).toMatchObject({ code: 'api_retry', message: expect.stringContaining('limit of this account') })
    expect(last).toMatchObject({ code: 'rate_limit', message: expect.stringContaining('wait, or use another account') })
  })

  it('and passes is told, and the turn goes on', async () => {
    let refused = 0
    const front = await startModelProxy(
      () => claude.model.server.url,
      ({ tools }) => (tools && refused++ === 0 ? limited : null),
    )
    claude = await ClaudeFixture.create(() => [say('here')], { env: { ANTHROPIC_BASE_URL: front.url } })
    await claude.startClaude()
    expect((await claude.waitForTurnEnd()).ending).toBe('done')
    front.close()
    expect(claude.agentTexts()).toEqual(['here'])
    expect(claude.eventsOf('error.raised')).toMatchObject([{ code: 'api_retry' }])
  })
})

describe('a folder that is not there', () => {
  it('fails the turn with a sentence', async () => {
    claude = await ClaudeFixture.create(() => [say('hello')])
    await claude.startClaude({ cwd: join(claude.home, 'nowhere') })
    expect((await claude.waitForTurnEnd()).ending).toBe('failed')
    expect((await claude.waitForEvent('error.raised')).message).toContain('nowhere is not there')
  })
})

describe('the person’s own settings', () => {
  it('apply by default: their CLAUDE.md, and that of the folder', async () => {
    claude = await ClaudeFixture.create(() => [say('read')], { files: { 'CLAUDE.md': 'the folder says: be kind' } })
    mkdirSync(join(claude.home, 'config'), { recursive: true })
    writeFileSync(join(claude.home, 'config', 'CLAUDE.md'), 'the person says: be brief')
    claude.startRunner([claudeDriver({ folder: join(claude.home, 'driver'), env: claude.env })])
    const id = await claude.startSession('claude', { cwd: claude.cwd })
    await claude.waitForTurnEnd()
    expect(claude.model.hasRead('the folder says: be kind')).toBe(true)
    expect(claude.model.hasRead('the person says: be brief')).toBe(true)
    await claude.asPerson('endSession', { id })
  })
})

describe('a machine without Claude Code', () => {
  it('says what is missing and what to do', async () => {
    claude = await ClaudeFixture.create(() => [])
    const info = await claudeDriver({ folder: claude.home, executable: '/nowhere/claude' }).info()
    expect(info).toMatchObject({ ready: false, missing: expect.stringContaining('HOLDPOINT_CLAUDE') })
    const unsigned = await claudeDriver({ folder: claude.home, env: { HOME: claude.home } }).info()
    expect(unsigned).toMatchObject({ ready: true, missing: expect.stringContaining('sign') })
  })
})
