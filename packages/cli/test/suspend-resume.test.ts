/** The terminal changes hands, in a real pseudo-terminal: to an editor, to the shell, back, and for good. No key that was meant for another program answers. */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Ask, Request } from '@holdpoint/protocol'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { closeGateways } from '../../../test/support/gateway.ts'
import { approvalAsk } from './support/gateway-fixture.ts'
import { Scene } from './support/session-fixture.ts'
import { closeTerminals, keys, type Terminal } from './support/terminal.ts'

const folder = mkdtempSync(join(tmpdir(), 'holdpoint-test-hands-'))
let scene: Scene
beforeAll(async () => {
  scene = await Scene.open()
})
afterEach(closeTerminals)
afterAll(async () => {
  await closeGateways()
  rmSync(folder, { recursive: true })
})

let count = 0
/** An editor that stays until it is told to go on. */
function slowEditor(then: string, first = ':') {
  const go = join(folder, `go${++count}`)
  const file = join(folder, `editor${count}`)
  writeFileSync(file, `${first}\necho editing\nwhile [ ! -e ${go} ]; do sleep 0.05; done\n${then}\n`)
  return { file, env: { EDITOR: `sh ${file}` }, goOn: () => writeFileSync(go, '') }
}
const approval = approvalAsk({ command: 'make deploy' })
const text: Ask = {
  kind: 'questions',
  questions: [
    { id: 'q', header: '', question: 'Why?', options: [], multiSelect: false, allowOther: true, secret: false },
  ],
}
/** As the keyboard echoes it: it is there, and nobody has read it yet. */
async function typedAhead(terminal: Terminal, key: string): Promise<void> {
  const before = terminal.raw.length
  terminal.press(key)
  await terminal.until(() => terminal.raw.length > before, 'an echo')
}
/** A stop takes effect when the process is next at work; one that goes on before that has never stopped. */
async function stopped({ pid }: Terminal): Promise<void> {
  process.kill(pid, 'SIGSTOP')
  await expect.poll(() => execFileSync('ps', ['-o', 'stat=', '-p', String(pid)], { encoding: 'utf8' })).toMatch(/^T/)
}
/** A key that means nothing is told so: whatever came before it has been dealt with. */
async function isStillAsked(terminal: Terminal, request: Request): Promise<void> {
  await terminal.sees('[a] Allow')
  terminal.press('z')
  await terminal.sees('Press a to allow')
  expect((await scene.now(request)).status).toBe('pending')
}

describe('a key that was typed while', () => {
  it('the editor had the terminal does not allow what it wrote', async () => {
    const editor = slowEditor('echo "rm -rf /EDITED" > "$1"')
    const { request, terminal } = await scene.put(approval, { env: editor.env })
    await terminal.sees('[a] Allow')
    terminal.press('e')
    await terminal.sees('editing')
    await typedAhead(terminal, 'a')
    editor.goOn()
    await terminal.sees('Changed by you')
    await isStillAsked(terminal, request)
    terminal.press('a')
    expect((await scene.resolved(request)).resolution?.answer).toMatchObject({ input: { command: 'rm -rf /EDITED' } })
  })

  it('an editor failed does not allow what was asked', async () => {
    const editor = slowEditor('exit 1')
    const { request, terminal } = await scene.put(approval, { env: editor.env })
    await terminal.sees('[a] Allow')
    terminal.press('e')
    await terminal.sees('editing')
    await typedAhead(terminal, 'a')
    editor.goOn()
    await terminal.sees('The editor failed')
    await isStillAsked(terminal, request)
  })

  it('the editor had the terminal does not send the text that it wrote', async () => {
    const editor = slowEditor('echo unseen > "$1"', 'stty raw')
    const { request, terminal } = await scene.put(text, { env: editor.env })
    await terminal.sees('Answer ›')
    await terminal.type('/edit')
    terminal.press(keys.enter)
    await terminal.sees('editing')
    await typedAhead(terminal, keys.enter)
    editor.goOn()
    await terminal.sees('Answer › unseen▏')
    await terminal.sees('Enter takes it')
    await terminal.type('!')
    expect((await scene.now(request)).status).toBe('pending')
  })

  it('the shell had the terminal does not allow what is shown again', async () => {
    const session = await scene.session()
    const request = await scene.ask(session, approval)
    const terminal = scene.run(session, { asJob: true })
    await terminal.sees('[a] Allow')
    terminal.press(keys.ctrlZ)
    await terminal.sees('stopped with 148')
    const before = terminal.raw.length
    terminal.press('\n', 'a')
    await terminal.until(() => terminal.raw.slice(before).includes('[a] Allow'))
    await isStillAsked(terminal, request)
  })

  it('it was stopped without notice does not allow either', async () => {
    const { request, terminal } = await scene.put(approval)
    await terminal.sees('[a] Allow')
    await stopped(terminal)
    terminal.press('a')
    const before = terminal.raw.length
    process.kill(terminal.pid, 'SIGCONT')
    await terminal.until(() => terminal.raw.slice(before).includes('[a] Allow'))
    await isStillAsked(terminal, request)
  })
})

describe('a signal', () => {
  const left = (terminal: Terminal) => {
    expect(terminal.isAlternate).toBe(false)
    // The last word on the cursor is that it is shown.
    expect(terminal.raw.lastIndexOf('\u001b[?25h')).toBeGreaterThan(terminal.raw.lastIndexOf('\u001b[?25l'))
  }

  it.each(['SIGTERM', 'SIGHUP', 'SIGINT'] as const)('%s leaves tui as q does', async signal => {
    await scene.ask(await scene.session(), approval)
    const terminal = scene.terminal(['tui'])
    await terminal.sees('q leave')
    process.kill(terminal.pid, signal)
    expect(await terminal.exit).toBe(0)
    // What was written last may be read after the end.
    await terminal.until(() => terminal.all().includes('holdpoint tui brings you back.'))
    left(terminal)
  })

  it('that the editor takes is the editor’s: Ctrl+C does not end run', async () => {
    const editor = slowEditor('echo "make sure" > "$1"')
    const trap = join(folder, 'trap')
    writeFileSync(trap, `trap 'echo caught' INT\n. ${editor.file}\n`)
    const { request, terminal } = await scene.put(approval, { env: { EDITOR: `sh ${trap}` } })
    await terminal.sees('[a] Allow')
    terminal.press('e')
    await terminal.sees('editing')
    terminal.press(keys.ctrlC)
    await terminal.sees('caught')
    editor.goOn()
    await terminal.sees('Changed by you')
    terminal.press('a')
    expect((await scene.resolved(request)).resolution?.answer).toMatchObject({ input: { command: 'make sure' } })
    process.kill(terminal.pid, 'SIGTERM')
    expect(await terminal.exit).toBe(0)
    left(terminal)
  })
})
