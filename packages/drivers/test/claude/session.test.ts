import { randomUUID } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { type Call, Fault } from '@holdpoint/protocol'
import { afterEach, describe, expect, it } from 'vitest'
import { claudeDriver } from '../../src/index.ts'
import { ManualClock } from '../runner-fixture.ts'
import { alive, ClaudeFixture, eventually, pass } from './claude-fixture.ts'
import { bash, type Play, say, serviceBefore, steps } from './model.ts'

let house: ClaudeFixture
afterEach(() => house.close())

describe('an interrupt', () => {
  it('ends a turn that waits, at once, and the request with it', async () => {
    house = await ClaudeFixture.open(steps([bash('touch out.txt')]))
    const id = await house.start()
    await house.asked()
    await house.stage.person('interruptSession', { id })
    expect((await house.over()).ending).toBe('interrupted')
    expect((await house.request()).resolution).toMatchObject({ by: 'agent', reason: 'interrupted' })
    expect(house.file('out.txt')).toBeNull()
    await house.stage.person('sendMessage', { id, text: 'go on' })
    await house.over(2)
    expect(house.model.scenes.at(-1)?.prompt).toBe('go on')
  })

  it('ends a turn whose call is parked', async () => {
    house = await ClaudeFixture.open(steps([bash('touch out.txt')]), { parks: true })
    const id = await house.start({ parkAfterMs: 0 })
    await house.asked()
    await house.parked(id)
    await house.stage.person('interruptSession', { id })
    expect((await house.over()).ending).toBe('interrupted')
    expect(house.file('out.txt')).toBeNull()
  })
})

describe('the end of a session by a person', () => {
  it('ends its process and resolves what waits', async () => {
    house = await ClaudeFixture.open(steps([bash('touch out.txt')]))
    const id = await house.start()
    await house.asked()
    const pid = house.pid(id)
    await house.stage.person('endSession', { id })
    await eventually(() => !alive(pid))
    expect((await house.request()).resolution).toMatchObject({ by: 'agent', reason: 'session_ended' })
    expect(house.file('out.txt')).toBeNull()
  })
})

describe('messages', () => {
  it('that are sent while it works wait for their turn, in order', async () => {
    const play: Play = ({ prompt, results }) =>
      prompt === 'go' && results.length === 0 ? [bash('touch out.txt')] : [say(`heard ${prompt}`)]
    house = await ClaudeFixture.open(play)
    const id = await house.start()
    const request = await house.asked()
    await house.stage.person('sendMessage', { id, text: 'second' })
    await house.stage.person('sendMessage', { id, text: 'third' })
    await house.stage.answer(request, { kind: 'allow' })
    await house.over(3)
    expect(house.stage.texts()).toEqual(['heard go', 'heard second', 'heard third'])
  })

  it('bring images and documents along', async () => {
    house = await ClaudeFixture.open(() => [say('seen')])
    const dot = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
    const note = { type: 'document', mediaType: 'text/plain', data: Buffer.from('a note').toString('base64') } as const
    await house.start({ prompt: 'look', attachments: [{ type: 'image', mediaType: 'image/png', data: dot }, note] })
    await house.over()
    expect(house.model.read('a note')).toBe(true)
    expect(house.model.scenes[0]?.all).toContain('"type":"image"')
  })

  it('go on with an earlier conversation of Claude Code, or fork it', async () => {
    house = await ClaudeFixture.open(({ prompt }) => [say(`heard ${prompt}`)])
    const first = await house.start({ prompt: 'remember me' })
    await house.over()
    await house.stage.person('endSession', { id: first })
    const { key } = JSON.parse(await house.note(first, 'meta.json'))
    const fork = await house.stage.start('claude', {
      cwd: house.cwd,
      prompt: 'who?',
      conversationId: key.sessionId,
      options: { fork: true },
    })
    await house.over(2)
    expect(house.model.scenes.at(-1)?.all).toContain('remember me')
    expect(JSON.parse(await house.note(fork, 'meta.json')).key.sessionId).not.toBe(key.sessionId)
    const same = await house.stage.start('claude', { cwd: house.cwd, prompt: 'again', conversationId: key.sessionId })
    await house.over(3)
    expect(house.model.scenes.at(-1)?.all).toContain('remember me')
    expect(JSON.parse(await house.note(same, 'meta.json')).key.sessionId).toBe(key.sessionId)
  })

  it('to go on with a conversation that is not there fail with a sentence', async () => {
    house = await ClaudeFixture.open(() => [say('hello')])
    await house.start({ conversationId: randomUUID() })
    expect((await house.over()).ending).toBe('failed')
    expect((await house.stage.seen('error.raised')).message).toContain('No conversation found')
  })
})

describe('the rules', () => {
  it('see every call: a deny holds for what the CLI would run unasked', async () => {
    house = await ClaudeFixture.open(steps([bash('ls -la')]))
    await house.stage.person('addRule', { effect: 'deny', tool: 'Bash', command: 'ls -la', note: 'no looking' })
    await house.start({ mode: 'acceptEdits' })
    await house.over()
    expect(house.model.told()).toContain('no looking')
    expect(house.stage.log('request.opened')).toHaveLength(0)
  })

  const outOfOrder = async (failure: Error) => {
    house = await ClaudeFixture.open(steps([bash('touch out.txt')]))
    const call: Call = async (op, input, options) => {
      if (op === 'checkTool') throw failure
      return house.stage.runner(op, input, options)
    }
    house.stage.run([house.driver()], { call })
    await house.stage.start('claude', { cwd: house.cwd, mode: 'bypassPermissions' })
    await house.over()
    expect(house.file('out.txt')).toBeNull()
  }
  it('that cannot be asked let nothing through, and agent and person read why', async () => {
    await outOfOrder(new Fault('internal', 'they are out of order'))
    expect(house.model.told()).toContain('they are out of order')
    expect(house.stage.log('error.raised')[0]?.message).toContain(
      'Bash was refused, since the rules could not be asked',
    )
  })

  it('let nothing through either where asking them breaks', async () => {
    await outOfOrder(new TypeError('a mistake of ours'))
    expect(house.model.told()).toBeDefined()
  })

  it('make the CLI ask for what it would run unasked', async () => {
    house = await ClaudeFixture.open(steps([bash('touch out.txt')]))
    await house.stage.person('addRule', { effect: 'ask', tool: 'Bash', command: 'touch out.txt' })
    await house.start({ mode: 'bypassPermissions' })
    await house.stage.answer(await house.asked(), { kind: 'deny', reason: 'by a person' })
    await house.over()
    expect(house.file('out.txt')).toBeNull()
    expect(house.model.told()).toContain('by a person')
  })

  it('answer for a person where they allow', async () => {
    house = await ClaudeFixture.open(steps([bash('touch out.txt')]))
    await house.stage.person('addRule', {
      effect: 'allow',
      tool: 'Bash',
      command: 'touch out.txt',
      scope: { cwd: house.cwd },
    })
    await house.start()
    await house.over()
    expect(house.file('out.txt')).toBe('')
    expect((await house.request()).resolution?.by).toBe('rule')
  })
})

describe('what is heard of a turn', () => {
  it('is kept: text, calls, their results, the usage and the cost', async () => {
    house = await ClaudeFixture.open(steps([say('let me see'), bash('echo hello')]))
    await house.start({ mode: 'acceptEdits' })
    const over = await house.over()
    expect(over.usage).toEqual({ inputTokens: expect.any(Number), outputTokens: expect.any(Number) })
    expect(over.cost).toBeGreaterThan(0)
    expect(house.stage.texts()).toEqual(['let me see', 'done'])
    expect(house.stage.log('tool.started')).toMatchObject([{ block: 'toolu_1', input: { command: 'echo hello' } }])
    const [finished] = house.stage.log('tool.finished')
    expect(finished).toMatchObject({ block: 'toolu_1', ok: true, output: expect.stringContaining('hello') })
  })

  it('costs what it costs, however often the conversation was resumed', async () => {
    const clock = new ManualClock()
    house = await ClaudeFixture.open(() => [say('done')], { clock, idleParkMs: 60_000 })
    const id = await house.start()
    const first = await house.over()
    await pass(clock, house.parked(id))
    await house.stage.person('sendMessage', { id, text: 'again' })
    const second = await house.over(2)
    expect(second.cost).toBeCloseTo(first.cost ?? 0, 8)
  })

  it('tells of a network that is not there, in a sentence to act on', async () => {
    const env = { ANTHROPIC_BASE_URL: 'http://127.0.0.1:9', CLAUDE_CODE_MAX_RETRIES: '1' }
    house = await ClaudeFixture.open(() => [], { env })
    await house.start()
    expect((await house.over()).ending).toBe('failed')
    expect(house.stage.log('error.raised')[0]?.message).toContain('check the network')
  })

  it('tells of a sign-in that is refused, in a sentence to act on', async () => {
    const refusing = createServer((_, response) => {
      response.writeHead(401, { 'content-type': 'application/json' })
      response.end('{"type":"error","error":{"type":"authentication_error","message":"invalid x-api-key"}}')
    })
    await new Promise<void>(resolve => refusing.listen(0, '127.0.0.1', resolve))
    const { port } = refusing.address() as AddressInfo
    house = await ClaudeFixture.open(() => [], {
      env: { ANTHROPIC_BASE_URL: `http://127.0.0.1:${port}`, CLAUDE_CODE_MAX_RETRIES: '1' },
    })
    await house.start()
    expect((await house.over()).ending).toBe('failed')
    refusing.close()
    const raised = house.stage.log('error.raised').find(event => event.code === 'authentication_failed')
    expect(raised?.message).toContain('sign in again')
  })
})

describe('a limit that is reached', () => {
  const limited = { status: 429, type: 'rate_limit_error', message: 'slow down', headers: { 'retry-after': '0' } }
  it('is told in a sentence to act on, and the turn fails with it', async () => {
    const front = await serviceBefore(
      () => '',
      () => limited,
    )
    house = await ClaudeFixture.open(() => [], { env: { ANTHROPIC_BASE_URL: front.url, CLAUDE_CODE_MAX_RETRIES: '1' } })
    await house.start()
    expect((await house.over()).ending).toBe('failed')
    front.close()
    const [retry, last] = house.stage.log('error.raised')
    expect(retry).toMatchObject({ code: 'api_retry', message: expect.stringContaining('limit of this account') })
    expect(last).toMatchObject({ code: 'rate_limit', message: expect.stringContaining('wait, or use another account') })
  })

  it('and passes is told, and the turn goes on', async () => {
    let refused = 0
    const front = await serviceBefore(
      () => house.model.server.url,
      ({ tools }) => (tools && refused++ === 0 ? limited : null),
    )
    house = await ClaudeFixture.open(() => [say('here')], { env: { ANTHROPIC_BASE_URL: front.url } })
    await house.start()
    expect((await house.over()).ending).toBe('done')
    front.close()
    expect(house.stage.texts()).toEqual(['here'])
    expect(house.stage.log('error.raised')).toMatchObject([{ code: 'api_retry' }])
  })
})

describe('a folder that is not there', () => {
  it('fails the turn with a sentence', async () => {
    house = await ClaudeFixture.open(() => [say('hello')])
    await house.start({ cwd: join(house.home, 'nowhere') })
    expect((await house.over()).ending).toBe('failed')
    expect((await house.stage.seen('error.raised')).message).toContain('nowhere is not there')
  })
})

describe('the person’s own settings', () => {
  it('apply by default: their CLAUDE.md, and that of the folder', async () => {
    house = await ClaudeFixture.open(() => [say('read')], { files: { 'CLAUDE.md': 'the folder says: be kind' } })
    mkdirSync(join(house.home, 'config'), { recursive: true })
    writeFileSync(join(house.home, 'config', 'CLAUDE.md'), 'the person says: be brief')
    house.stage.run([claudeDriver({ folder: join(house.home, 'driver'), env: house.env })])
    const id = await house.stage.start('claude', { cwd: house.cwd })
    await house.over()
    expect(house.model.read('the folder says: be kind')).toBe(true)
    expect(house.model.read('the person says: be brief')).toBe(true)
    await house.stage.person('endSession', { id })
  })
})

describe('a machine without Claude Code', () => {
  it('says what is missing and what to do', async () => {
    house = await ClaudeFixture.open(() => [])
    const info = await claudeDriver({ folder: house.home, executable: '/nowhere/claude' }).info()
    expect(info).toMatchObject({ ready: false, missing: expect.stringContaining('HOLDPOINT_CLAUDE') })
    const unsigned = await claudeDriver({ folder: house.home, env: { HOME: house.home } }).info()
    expect(unsigned).toMatchObject({ ready: true, missing: expect.stringContaining('sign') })
  })
})
