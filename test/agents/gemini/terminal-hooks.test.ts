/** The real Gemini in a person's own terminal, with the hooks of `holdpoint hook install gemini`, and a scripted model. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Rule } from '@holdpoint/protocol'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { keys, type Terminal } from '../../../packages/cli/test/support/terminal.ts'
import { closeGateways } from '../../support/gateway.ts'
import { OwnTerminal } from '../own-terminal.ts'

describe('Gemini in a person’s own terminal', () => {
  let own: OwnTerminal
  let settings: string
  let settingsText: string

  beforeAll(async () => {
    own = await OwnTerminal.start('gemini')
    settings = join(own.home, '.gemini/settings.json')
    settingsText = readFileSync(settings, 'utf8')
  })
  afterAll(async () => {
    await own.close()
    await closeGateways()
  })
  beforeEach(() => writeFileSync(settings, settingsText))
  afterEach(() => own.closeAgent())

  /** In the mode `default`, Gemini asks before a command; in the mode `yolo`, it never asks. */
  const openGemini = async (mode: 'default' | 'yolo'): Promise<Terminal> => {
    expect((await own.hook('install', 'gemini')).code).toBe(0)
    const terminal = own.open(['-m', 'gemini-2.5-flash', '--approval-mode', mode])
    await terminal.waitFor('Type your message')
    return terminal
  }

  it('Gemini in a person’s own terminal asks in its terminal, the session shows that, and the call runs once the person allows it there', async () => {
    const terminal = await openGemini('default')
    const id = await own.prompt(terminal, 'asked')
    await terminal.waitFor('Allow execution of')
    const session = await own.session()
    await expect.poll(() => own.transcript(session)).toContain('Gemini asks in its terminal')
    expect(await own.pendingCount()).toBe(0)
    expect(own.hasRun('asked')).toBe(false)
    terminal.press(keys.enter)
    await terminal.waitFor(`finished ${id}`)
    expect(own.hasRun('asked')).toBe(true)
    expect(await own.gateway.call('getSession', { id: session })).toMatchObject({
      cwd: own.cwd,
      title: 'please write asked',
    })
    await expect.poll(() => own.sessionState(session)).toBe('idle')
    await expect.poll(() => own.transcript(session)).toContain('"type":"tool.finished"')
    terminal.press('/quit')
    await terminal.waitFor('Exit the cli')
    terminal.press(keys.enter)
    await terminal.exit
    await expect.poll(() => own.sessionState(session)).toBe('ended')
  })

  it('Gemini in a person’s own terminal applies a deny rule without asking, and the model reads the reason', async () => {
    const rule = await own.gateway.call('addRule', { effect: 'deny', command: 'echo ran', note: 'not today' })
    const terminal = await openGemini('default')
    const id = await own.prompt(terminal, 'ruled')
    await terminal.waitFor(`finished ${id}`)
    await own.gateway.call('removeRule', { id: rule.id })
    expect(own.hasRun('ruled')).toBe(false)
    expect(own.model.toolResult(id)).toMatch(/rule/i)
  })

  describe('Gemini in a mode in which it never asks, with a rule that says ask', () => {
    let rule: Pick<Rule, 'id'>
    beforeAll(async () => {
      rule = await own.gateway.call('addRule', { effect: 'ask', command: 'echo ran' })
    })
    afterAll(async () => {
      await own.gateway.call('removeRule', { id: rule.id })
    })

    it('Gemini in a person’s own terminal runs a command that a person allows on the page, and the model reads the note', async () => {
      const terminal = await openGemini('yolo')
      const id = await own.prompt(terminal, 'allowed')
      const request = await own.pending()
      expect(request.ask).toMatchObject({ tool: 'run_shell_command', cwd: own.cwd, editable: true })
      expect(own.hasRun('allowed')).toBe(false)
      await own.answer(request, { kind: 'allow', note: 'only this once' })
      await terminal.waitFor(`finished ${id}`)
      expect(own.hasRun('allowed')).toBe(true)
      expect(own.model.toolResult(id)).toContain('only this once')
      await expect.poll(async () => (await own.requestOf(request)).delivery.state).toBe('taken')
    })

    it('Gemini in a person’s own terminal runs the command that a person has edited on the page', async () => {
      const terminal = await openGemini('yolo')
      const id = await own.prompt(terminal, 'written')
      const request = await own.pending()
      const input = { command: 'echo ran >> edited.txt', description: 'a command', is_background: false }
      await own.answer(request, { kind: 'allow', input })
      await terminal.waitFor(`finished ${id}`)
      expect([own.hasRun('written'), own.hasRun('edited')]).toEqual([false, true])
      await expect.poll(async () => (await own.requestOf(request)).delivery.state).toBe('taken')
    })

    it('Gemini in a person’s own terminal does not run a denied command, and the model reads the reason', async () => {
      const terminal = await openGemini('yolo')
      const id = await own.prompt(terminal, 'denied')
      await own.answer(await own.pending(), { kind: 'deny', reason: 'use the other folder' })
      await terminal.waitFor(`finished ${id}`)
      expect(own.hasRun('denied')).toBe(false)
      expect(own.model.toolResult(id)).toContain('use the other folder')
    })

    it('if Gemini is killed, its session and its request end', async () => {
      const terminal = await openGemini('yolo')
      await own.prompt(terminal, 'lost')
      const request = await own.pending()
      own.closeAgent()
      await expect.poll(() => own.sessionState(request.session)).toBe('ended')
      expect((await own.requestOf(request)).resolution).toMatchObject({ by: 'agent' })
    })
  })

  it('Gemini in a person’s own terminal asks in the terminal as usual while the gateway is stopped', async () => {
    const terminal = await openGemini('default')
    await own.gateway.kill()
    const id = await own.prompt(terminal, 'alone')
    await terminal.waitFor('Allow execution of')
    expect(own.hasRun('alone')).toBe(false)
    terminal.press(keys.enter)
    await terminal.waitFor(`finished ${id}`)
    expect(own.hasRun('alone')).toBe(true)
    await own.gateway.start()
  })

  it('Gemini in a person’s own terminal asks in the terminal as usual while the gateway does not reply', async () => {
    const terminal = await openGemini('default')
    const { gatewayPid } = own.gateway
    process.kill(gatewayPid, 'SIGSTOP')
    try {
      await own.prompt(terminal, 'slow')
      await terminal.waitFor('Allow execution of')
      expect(own.hasRun('slow')).toBe(false)
    } finally {
      process.kill(gatewayPid, 'SIGCONT')
    }
  })

  it('the hooks of Gemini contain no token, the installation lists their limits, and the settings are byte for byte as before after the hooks are removed', async () => {
    const { out } = await own.hook('install', 'gemini')
    expect(out).toContain('cannot answer what Gemini asks')
    expect(readFileSync(settings, 'utf8')).toContain('hook run gemini')
    expect(readFileSync(settings, 'utf8')).not.toContain(own.gateway.token)
    const status = await own.hook('status', 'gemini')
    expect([status.code, status.out]).toEqual([0, expect.stringContaining('cannot answer what Gemini asks')])
    await own.hook('remove', 'gemini')
    expect(readFileSync(settings, 'utf8')).toBe(settingsText)
    expect((await own.hook('status', 'gemini')).code).toBe(1)
  })
})
