/** Editors, Ctrl+Z and signals in a real pseudo-terminal: a key typed for another program never answers a request, and the terminal is restored. */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Ask, Request } from '@holdpoint/protocol'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { closeGateways, holdpoint } from '../../../test/support/gateway.ts'
import { approvalAsk } from './support/gateway-fixture.ts'
import { SessionFixture } from './support/session-fixture.ts'
import { closeTerminals, keys, Terminal } from './support/terminal.ts'

const folder = mkdtempSync(join(tmpdir(), 'holdpoint-test-suspend-'))
let fixture: SessionFixture
beforeAll(async () => {
  fixture = await SessionFixture.open()
})
afterEach(closeTerminals)
afterAll(async () => {
  await closeGateways()
  rmSync(folder, { recursive: true })
})

let count = 0
/** Creates an editor that stays open until `closeEditor` is called. */
function slowEditor(then: string, first = ':') {
  const go = join(folder, `go${++count}`)
  const file = join(folder, `editor${count}`)
  writeFileSync(file, `${first}\necho editing\nwhile [ ! -e ${go} ]; do sleep 0.05; done\n${then}\n`)
  return { file, env: { EDITOR: `sh ${file}` }, closeEditor: () => writeFileSync(go, '') }
}
// A dangerous command would need a typed word.
const approval = approvalAsk({ command: 'make report' })
const text: Ask = {
  kind: 'questions',
  questions: [
    { id: 'q', header: '', question: 'Why?', options: [], multiSelect: false, allowOther: true, secret: false },
  ],
}
/** Types a key and waits for its echo. The key is then in the terminal's buffer, and no program has read the key yet. */
async function typeAhead(terminal: Terminal, key: string): Promise<void> {
  const before = terminal.raw.length
  terminal.press(key)
  await terminal.waitUntil(() => terminal.raw.length > before, 'an echo')
}
/** Stops the process with SIGSTOP and waits until it has stopped, because a SIGCONT before that would cancel the SIGSTOP. */
async function stopProcess({ pid }: Terminal): Promise<void> {
  process.kill(pid, 'SIGSTOP')
  await expect.poll(() => execFileSync('ps', ['-o', 'stat=', '-p', String(pid)], { encoding: 'utf8' })).toMatch(/^T/)
}
/** Expects the request to be pending. The hint for the unknown key z shows that all earlier keys have been handled. */
async function expectStillPending(terminal: Terminal, request: Request): Promise<void> {
  await terminal.waitFor('[a] Allow')
  terminal.press('z')
  await terminal.waitFor('Press a to allow')
  expect((await fixture.getRequest(request)).status).toBe('pending')
  await terminal.waitFor('[a] Allow')
}

describe('a key typed', () => {
  it('a key typed while the editor is open does not allow the edited request', async () => {
    const editor = slowEditor('echo "make EDITED" > "$1"')
    const { request, terminal } = await fixture.openRunWithRequest(approval, { env: editor.env })
    await terminal.waitFor('[a] Allow')
    terminal.press('e')
    await terminal.waitFor('editing')
    await typeAhead(terminal, 'a')
    editor.closeEditor()
    await terminal.waitFor('Changed by you')
    await expectStillPending(terminal, request)
    terminal.press('a')
    expect((await fixture.waitForResolved(request)).resolution?.answer).toMatchObject({
      input: { command: 'make EDITED' },
    })
  })

  it('a key typed while a failing editor is open does not allow the request', async () => {
    const editor = slowEditor('exit 1')
    const { request, terminal } = await fixture.openRunWithRequest(approval, { env: editor.env })
    await terminal.waitFor('[a] Allow')
    terminal.press('e')
    await terminal.waitFor('editing')
    await typeAhead(terminal, 'a')
    editor.closeEditor()
    await terminal.waitFor('The editor failed')
    await expectStillPending(terminal, request)
  })

  it('a key typed while the editor is open does not send the text from the editor', async () => {
    const editor = slowEditor('echo unseen > "$1"', 'stty raw')
    const { request, terminal } = await fixture.openRunWithRequest(text, { env: editor.env })
    await terminal.waitFor('Answer ›')
    await terminal.type('/edit')
    terminal.press(keys.enter)
    await terminal.waitFor('editing')
    await typeAhead(terminal, keys.enter)
    editor.closeEditor()
    await terminal.waitFor('Answer › unseen▏')
    await terminal.waitFor('Enter submit')
    await terminal.type('!')
    expect((await fixture.getRequest(request)).status).toBe('pending')
  })

  it('a key typed while the program is suspended by Ctrl+Z does not allow the request', async () => {
    const session = await fixture.startSession()
    const request = await fixture.ask(session, approval)
    const terminal = fixture.openRun(session, { asJob: true })
    await terminal.waitFor('[a] Allow')
    terminal.press(keys.ctrlZ)
    await terminal.waitFor('stopped with 148')
    const before = terminal.raw.length
    terminal.press('\n', 'a')
    await terminal.waitUntil(() => terminal.raw.slice(before).includes('[a] Allow'))
    await expectStillPending(terminal, request)
  })

  it('a key typed while the program is stopped by SIGSTOP does not allow the request', async () => {
    const { request, terminal } = await fixture.openRunWithRequest(approval)
    await terminal.waitFor('[a] Allow')
    await stopProcess(terminal)
    terminal.press('a')
    const before = terminal.raw.length
    process.kill(terminal.pid, 'SIGCONT')
    await terminal.waitUntil(() => terminal.raw.slice(before).includes('[a] Allow'))
    await expectStillPending(terminal, request)
  })
})

describe('a signal to a live view', () => {
  const left = (terminal: Terminal) => {
    expect(terminal.isAlternate).toBe(false)
    // The last cursor sequence makes the cursor visible.
    expect(terminal.raw.lastIndexOf('\u001b[?25h')).toBeGreaterThan(terminal.raw.lastIndexOf('\u001b[?25l'))
  }

  it.each(['SIGTERM', 'SIGHUP', 'SIGINT'] as const)(
    '%s makes tui exit and restore the terminal, as q does',
    async signal => {
      await fixture.ask(await fixture.startSession(), approval)
      const terminal = fixture.openTerminal(['tui'])
      // The dashboard prints how to return only if it knows of a pending request.
      await terminal.waitFor(/\d waiting for you/)
      process.kill(terminal.pid, signal)
      expect(await terminal.exit).toBe(0)
      // The last output may arrive after the exit event.
      await terminal.waitUntil(() => terminal.all().includes('Return with: holdpoint tui'))
      left(terminal)
    },
  )

  it('SIGINT from a Ctrl+C in the editor does not end run', async () => {
    const editor = slowEditor('echo "make sure" > "$1"')
    const trap = join(folder, 'trap')
    writeFileSync(trap, `trap 'echo caught' INT\n. ${editor.file}\n`)
    const { request, terminal } = await fixture.openRunWithRequest(approval, { env: { EDITOR: `sh ${trap}` } })
    await terminal.waitFor('[a] Allow')
    terminal.press('e')
    await terminal.waitFor('editing')
    terminal.press(keys.ctrlC)
    await terminal.waitFor('caught')
    editor.closeEditor()
    await terminal.waitFor('Changed by you')
    await terminal.waitFor('[a] Allow')
    terminal.press('a')
    expect((await fixture.waitForResolved(request)).resolution?.answer).toMatchObject({
      input: { command: 'make sure' },
    })
    process.kill(terminal.pid, 'SIGTERM')
    expect(await terminal.exit).toBe(0)
    left(terminal)
  })
})

describe('a live view that is stopped and then ended with kill', () => {
  /** Opens an interactive shell, which reports at once that a job has stopped or ended. */
  async function openShell() {
    const env = { HP: `${process.execPath} ${holdpoint}`, HOLDPOINT_HOME: fixture.gateway.home.path }
    const words = ['--norc', '--noprofile', '-i', '-o', 'notify']
    const terminal = new Terminal(words, { program: '/bin/bash', env: { ...env, PS1: 'ready ' } })
    await terminal.waitFor('ready')
    return { terminal, run: (line: string) => terminal.press(`${line}\r`) }
  }
  const stopped = /Stopped +\$HP/
  const ended = /Terminated +\$HP/

  it.each(['run', 'tui'])(
    'holdpoint %s ends after Ctrl+Z and kill, and does not change the screen of the shell',
    async view => {
      const session = await fixture.startSession()
      const request = await fixture.ask(session, approval)
      const { terminal, run } = await openShell()
      run('echo before the view')
      run(view === 'tui' ? '$HP tui' : `$HP run --session ${session.id}`)
      await terminal.waitFor(view === 'tui' ? 'Waiting for you' : '[a] Allow')
      terminal.press(keys.ctrlZ)
      await terminal.waitFor(stopped)
      run('kill %1')
      await terminal.waitFor(/Return with: holdpoint (run|tui)/)
      await terminal.waitFor(ended)
      expect(terminal.text()).toContain('before the view')
      expect((await fixture.getRequest(request)).status).toBe('pending')
    },
  )

  it('holdpoint run stops again after bg, and continues after fg', async () => {
    const session = await fixture.startSession()
    const request = await fixture.ask(session, approval)
    const { terminal, run } = await openShell()
    run(`$HP run --session ${session.id}`)
    await terminal.waitFor('[a] Allow')
    terminal.press(keys.ctrlZ)
    await terminal.waitFor(stopped)
    run('bg')
    await terminal.waitFor(/Stopped[\s\S]* &\n[\s\S]*Stopped/)
    run('fg')
    await expectStillPending(terminal, request)
    terminal.press(keys.ctrlD)
    await terminal.waitFor('Return with: holdpoint run')
  })

  it('holdpoint run that is started in the background stops until it gets the terminal, and ends after kill', async () => {
    const session = await fixture.startSession()
    const { terminal, run } = await openShell()
    run(`$HP run --session ${session.id} &`)
    await terminal.waitFor(session.id.slice(0, 10))
    await terminal.waitFor(stopped)
    run('kill %1')
    await terminal.waitFor(ended)
  })
})
