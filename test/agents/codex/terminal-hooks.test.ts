/** The real Codex in a person's own terminal, with the hooks of `holdpoint hook install codex`, and a scripted model. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { keys, reopenAfterFailure, type Terminal } from '../../../packages/cli/test/support/terminal.ts'
import { closeGateways } from '../../support/gateway.ts'
import { OwnTerminal } from '../own-terminal.ts'

describe('Codex in a person’s own terminal', () => {
  let own: OwnTerminal
  let settings: string
  let terminal: Terminal

  beforeAll(async () => {
    own = await OwnTerminal.start('codex')
    settings = join(own.home, '.codex/hooks.json')
    expect((await own.hook('install', 'codex')).code).toBe(0)
  })
  afterAll(async () => {
    await own.close()
    await closeGateways()
  })
  reopenAfterFailure(async () => {
    terminal = own.open([])
    const isTrusted = readFileSync(join(own.home, '.codex/config.toml'), 'utf8').includes('trusted_hash')
    if (!isTrusted) await trustHooks(terminal)
    await terminal.waitFor('Ask Codex to do anything')
  })

  it('Codex in a person’s own terminal runs a command that a person allows on the page, reads the note, and shows no dialog in the meantime', async () => {
    const id = await own.prompt(terminal, 'allowed')
    const request = await own.pending()
    expect(request.ask).toMatchObject({
      tool: 'Bash',
      cwd: own.cwd,
      editable: false,
      description: 'a command',
      input: { command: 'echo ran >> allowed.txt' },
    })
    await terminal.waitFor('Holdpoint asks a person')
    expect(terminal.text()).not.toContain('Would you like to run')
    expect(own.hasRun('allowed')).toBe(false)
    await own.answer(request, { kind: 'allow', note: 'only this once' })
    await terminal.waitFor(`finished ${id}`)
    expect(own.hasRun('allowed')).toBe(true)
    expect(own.model.hasRead('only this once')).toBe(true)
    await expect.poll(async () => (await own.requestOf(request)).delivery.state).toBe('taken')
    const session = await own.gateway.call('getSession', { id: request.session })
    expect(session).toMatchObject({ cwd: own.cwd, title: 'please write allowed' })
    await expect.poll(() => own.sessionState(request.session)).toBe('idle')
    expect(await own.transcript(request.session)).toContain(`finished ${id}`)
  })

  it('Codex in a person’s own terminal does not run a denied command, and the model reads the reason', async () => {
    const id = await own.prompt(terminal, 'denied')
    await own.answer(await own.pending(), { kind: 'deny', reason: 'use the other folder' })
    await terminal.waitFor(`finished ${id}`)
    expect(own.hasRun('denied')).toBe(false)
    expect(own.model.toolResult(id)).toContain('use the other folder')
  })

  it('Codex in a person’s own terminal applies a deny rule without asking', async () => {
    const rule = await own.gateway.call('addRule', { effect: 'deny', command: 'echo ran', note: 'not today' })
    const id = await own.prompt(terminal, 'ruled')
    await terminal.waitFor(`finished ${id}`)
    await own.gateway.call('removeRule', { id: rule.id })
    expect(own.hasRun('ruled')).toBe(false)
    expect(own.model.toolResult(id)).toMatch(/rule/i)
    expect(await own.pendingCount()).toBe(0)
  })

  it('Codex in a person’s own terminal asks in the hook before a call if a rule says ask, and does not run what the person denies', async () => {
    const rule = await own.gateway.call('addRule', { effect: 'ask', command: 'echo ran' })
    const id = await own.prompt(terminal, 'questioned')
    const request = await own.pending()
    await own.answer(request, { kind: 'deny', reason: 'not without a test' })
    await terminal.waitFor(`finished ${id}`)
    await own.gateway.call('removeRule', { id: rule.id })
    expect(own.hasRun('questioned')).toBe(false)
    expect(own.model.toolResult(id)).toContain('not without a test')
  })

  it('a request of Codex in a terminal is withdrawn if the person presses Esc there', async () => {
    await own.prompt(terminal, 'interrupted')
    const request = await own.pending()
    await terminal.waitFor('Holdpoint asks a person')
    terminal.press(keys.escape)
    await terminal.waitFor('Conversation interrupted')
    await expect.poll(async () => (await own.requestOf(request)).resolution?.reason).toBe('withdrawn')
    await expect.poll(() => own.sessionState(request.session)).toBe('idle')
    expect(own.hasRun('interrupted')).toBe(false)
  })

  it('a hook of Codex keeps waiting while the gateway is killed and restarted', async () => {
    const id = await own.prompt(terminal, 'killed')
    const request = await own.pending()
    await own.gateway.kill()
    await own.gateway.start()
    expect(own.hasRun('killed')).toBe(false)
    await own.answer(request, { kind: 'allow' })
    await terminal.waitFor(`finished ${id}`)
    expect(own.hasRun('killed')).toBe(true)
  })

  it('Codex in a person’s own terminal asks in the terminal as usual while the gateway is stopped', async () => {
    await own.gateway.kill()
    const id = await own.prompt(terminal, 'alone')
    await terminal.waitFor('Would you like to run the following command?')
    expect(own.hasRun('alone')).toBe(false)
    terminal.press('y')
    await terminal.waitFor(`finished ${id}`)
    expect(own.hasRun('alone')).toBe(true)
    await own.gateway.start()
  })

  it('Codex in a person’s own terminal asks in the terminal as usual while the gateway does not reply', async () => {
    const { gatewayPid } = own.gateway
    process.kill(gatewayPid, 'SIGSTOP')
    try {
      const id = await own.prompt(terminal, 'slow')
      await terminal.waitFor('Would you like to run the following command?')
      expect(own.hasRun('slow')).toBe(false)
      terminal.press('y')
      await terminal.waitFor(`finished ${id}`)
    } finally {
      process.kill(gatewayPid, 'SIGCONT')
    }
    // A request that reached the gateway too late is withdrawn, because nobody waits for its answer.
    await expect.poll(() => own.pendingCount()).toBe(0)
  })

  it('the session of Codex ends if its processes are killed', async () => {
    await own.prompt(terminal, 'lost')
    const request = await own.pending()
    own.closeAgent()
    await expect.poll(() => own.sessionState(request.session)).toBe('ended')
    expect((await own.requestOf(request)).resolution).toMatchObject({ by: 'agent' })
  })

  it('the hooks of Codex contain no token, and its settings are byte for byte as they were after the hooks are removed', async () => {
    await own.hook('remove', 'codex')
    const text = '{\n    "hooks": {"Stop": [ {"hooks": [{"type": "command", "command": "true"}]} ]}\n}'
    writeFileSync(settings, text)
    const { out } = await own.hook('install', 'codex')
    expect(out).toMatch(/trusted.*\/hooks/)
    expect(readFileSync(settings, 'utf8')).toContain('hook run codex')
    expect(readFileSync(settings, 'utf8')).not.toContain(own.gateway.token)
    expect((await own.hook('status', 'codex')).code).toBe(0)
    await own.hook('remove', 'codex')
    expect(readFileSync(settings, 'utf8')).toBe(text)
    expect((await own.hook('status', 'codex')).code).toBe(1)
  })

  it('hooks of Codex are not installed for one folder, because other people share the settings of a folder', async () => {
    const { code, err } = await own.hook('install', 'codex', '--project')
    expect([code, err]).toEqual([1, expect.stringContaining('shared with others')])
  })
})

/** Codex asks at its start whether to trust new hooks. It ignores keys for a moment. */
async function trustHooks(terminal: Terminal): Promise<void> {
  await terminal.waitFor('Hooks need review')
  const select = () => {
    if (!terminal.text().includes('› 2.')) terminal.press('2')
    return terminal.text()
  }
  await expect.poll(select).toContain('› 2. Trust all')
  terminal.press(keys.enter)
  await terminal.waitForGone('Hooks need review')
}
