/** Tests interrupts, messages, rules, events and errors in a session of the real Claude Code. */
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

describe('interrupting Claude Code', () => {
  it('an interrupt immediately ends a turn of Claude Code that waits for an answer, and resolves its request', async () => {
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

  it('an interrupt ends the turn of a parked Claude Code session', async () => {
    claude = await ClaudeFixture.create(steps([bash('touch out.txt')]), { knownParkable: true })
    const id = await claude.startClaude({ parkAfterMs: 0 })
    await claude.waitForRequest()
    await claude.waitUntilParked(id)
    await claude.asPerson('interruptSession', { id })
    expect((await claude.waitForTurnEnd()).ending).toBe('interrupted')
    expect(claude.readFile('out.txt')).toBeNull()
  })
})

describe('when a person ends a Claude Code session', () => {
  it('the process of Claude Code exits when a person ends the session, and the pending request is resolved', async () => {
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

describe('messages to Claude Code', () => {
  it('messages that are sent during a turn of Claude Code are processed after the turn, in order', async () => {
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

  it('a message to Claude Code can contain images and documents', async () => {
    claude = await ClaudeFixture.create(() => [say('seen')])
    const pixel = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
    const note = { type: 'document', mediaType: 'text/plain', data: Buffer.from('a note').toString('base64') } as const
    const id = await claude.startClaude()
    await claude.sendFiles(id, 'look', [{ type: 'image', mediaType: 'image/png', data: pixel }, note])
    await claude.waitForTurnEnd(2)
    expect(claude.model.hasRead('a note')).toBe(true)
    expect(claude.model.calls.at(-1)?.conversation).toContain('"type":"image"')
  })

  it('a session can continue or fork an earlier conversation of Claude Code', async () => {
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

  it('a session that should continue an unknown conversation of Claude Code fails with an error message', async () => {
    claude = await ClaudeFixture.create(() => [say('hello')])
    await claude.startClaude({ conversationId: randomUUID() })
    expect((await claude.waitForTurnEnd()).ending).toBe('failed')
    expect((await claude.waitForEvent('error.raised')).message).toContain('No conversation found')
  })
})

describe('rules for Claude Code', () => {
  it('a deny rule applies to a call that Claude Code would run without asking', async () => {
    claude = await ClaudeFixture.create(steps([bash('ls -la')]))
    await claude.asPerson('addRule', { effect: 'deny', tool: 'Bash', command: 'ls -la', note: 'no looking' })
    await claude.startClaude({ mode: 'acceptEdits' })
    await claude.waitForTurnEnd()
    expect(claude.model.toolResult()).toContain('no looking')
    expect(claude.eventsOf('request.opened')).toHaveLength(0)
  })

  const runWithFailingRules = async (failure: Error) => {
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
  it('a call of Claude Code is denied if the rules cannot be checked, and the agent and the person are told why', async () => {
    await runWithFailingRules(new Fault('internal', 'the rules are broken'))
    expect(claude.model.toolResult()).toContain('the rules are broken')
    expect(claude.eventsOf('error.raised')[0]?.message).toContain(
      'Bash was denied because the rules could not be checked',
    )
  })

  it('a call of Claude Code is denied if checking the rules throws an unexpected error', async () => {
    await runWithFailingRules(new TypeError('a bug'))
    expect(claude.model.toolResult()).toBeDefined()
  })

  it('an ask rule makes Claude Code ask for a call that it would run without asking', async () => {
    claude = await ClaudeFixture.create(steps([bash('touch out.txt')]))
    await claude.asPerson('addRule', { effect: 'ask', tool: 'Bash', command: 'touch out.txt' })
    await claude.startClaude({ mode: 'bypassPermissions' })
    await claude.answer(await claude.waitForRequest(), { kind: 'deny', reason: 'by a person' })
    await claude.waitForTurnEnd()
    expect(claude.readFile('out.txt')).toBeNull()
    expect(claude.model.toolResult()).toContain('by a person')
  })

  it('an allow rule answers a request of Claude Code in place of a person', async () => {
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

describe('the log of a Claude Code turn', () => {
  it('the log of a Claude Code turn contains text, calls, results, usage and cost', async () => {
    claude = await ClaudeFixture.create(steps([say('let me see'), bash('echo hello')]))
    await claude.startClaude({ mode: 'acceptEdits' })
    const turnEnd = await claude.waitForTurnEnd()
    expect(turnEnd.usage).toEqual({ inputTokens: expect.any(Number), outputTokens: expect.any(Number) })
    expect(turnEnd.cost).toBeGreaterThan(0)
    expect(claude.agentTexts()).toEqual(['let me see', 'done'])
    expect(claude.eventsOf('tool.started')).toMatchObject([{ block: 'toolu_1', input: { command: 'echo hello' } }])
    const [finished] = claude.eventsOf('tool.finished')
    expect(finished).toMatchObject({ block: 'toolu_1', ok: true, output: expect.stringContaining('hello') })
  })

  it('the log of a Claude Code turn does not count the cost of a resumed conversation twice', async () => {
    const clock = new ManualClock()
    claude = await ClaudeFixture.create(() => [say('done')], { clock, idleParkMs: 60_000 })
    const id = await claude.startClaude()
    const first = await claude.waitForTurnEnd()
    await advanceUntil(clock, claude.waitUntilParked(id))
    await claude.asPerson('sendMessage', { id, text: 'again' })
    const second = await claude.waitForTurnEnd(2)
    expect(second.cost).toBeCloseTo(first.cost ?? 0, 8)
  })

  it('the log of a Claude Code turn reports an unreachable model API with advice to check the network', async () => {
    const env = { ANTHROPIC_BASE_URL: 'http://127.0.0.1:9', CLAUDE_CODE_MAX_RETRIES: '1' }
    claude = await ClaudeFixture.create(() => [], { env })
    await claude.startClaude()
    expect((await claude.waitForTurnEnd()).ending).toBe('failed')
    expect(claude.eventsOf('error.raised')[0]?.message).toContain('check the network')
  })

  it('the log of a Claude Code turn reports a failed authentication with advice to sign in again', async () => {
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
    const error = claude.eventsOf('error.raised').find(event => event.code === 'authentication_failed')
    expect(error?.message).toContain('sign in again')
  })
})

describe('rate limits of the model API for Claude Code', () => {
  const limited = { status: 429, type: 'rate_limit_error', message: 'slow down', headers: { 'retry-after': '0' } }
  it('a rate limit that persists is reported with advice, and the turn of Claude Code fails', async () => {
    const proxy = await startModelProxy(
      () => '',
      () => limited,
    )
    claude = await ClaudeFixture.create(() => [], {
      env: { ANTHROPIC_BASE_URL: proxy.url, CLAUDE_CODE_MAX_RETRIES: '1' },
    })
    await claude.startClaude()
    expect((await claude.waitForTurnEnd()).ending).toBe('failed')
    proxy.close()
    const [retry, last] = claude.eventsOf('error.raised')
    expect(retry).toMatchObject({ code: 'api_retry', message: expect.stringContaining('reached its usage limit') })
    expect(last).toMatchObject({ code: 'rate_limit', message: expect.stringContaining('wait, or use another account') })
  })

  it('a temporary rate limit is reported, and the turn of Claude Code continues', async () => {
    let refused = 0
    const proxy = await startModelProxy(
      () => claude.model.server.url,
      ({ tools }) => (tools && refused++ === 0 ? limited : null),
    )
    claude = await ClaudeFixture.create(() => [say('here')], { env: { ANTHROPIC_BASE_URL: proxy.url } })
    await claude.startClaude()
    expect((await claude.waitForTurnEnd()).ending).toBe('done')
    proxy.close()
    expect(claude.agentTexts()).toEqual(['here'])
    expect(claude.eventsOf('error.raised')).toMatchObject([{ code: 'api_retry' }])
  })
})

describe('the working folder of Claude Code', () => {
  it('a turn of Claude Code fails with an error message if the working folder does not exist', async () => {
    claude = await ClaudeFixture.create(() => [say('hello')])
    await claude.startClaude({ cwd: join(claude.home, 'nowhere') })
    expect((await claude.waitForTurnEnd()).ending).toBe('failed')
    expect((await claude.waitForEvent('error.raised')).message).toContain('nowhere does not exist')
  })
})

describe('Claude Code settings', () => {
  it('the CLAUDE.md files in the home folder and in the working folder apply to Claude Code by default', async () => {
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

describe('the Claude Code driver on a machine without Claude Code', () => {
  it('the Claude Code driver on a machine without Claude Code reports what is missing and what to do', async () => {
    claude = await ClaudeFixture.create(() => [])
    const info = await claudeDriver({ folder: claude.home, executable: '/nowhere/claude' }).info()
    expect(info).toMatchObject({ ready: false, missing: expect.stringContaining('HOLDPOINT_CLAUDE') })
    const notSignedIn = await claudeDriver({ folder: claude.home, env: { HOME: claude.home } }).info()
    expect(notSignedIn).toMatchObject({ ready: true, missing: expect.stringContaining('sign') })
  })
})
