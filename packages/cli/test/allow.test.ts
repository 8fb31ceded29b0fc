import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Request } from '@holdpoint/protocol'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { closeGateways, type GatewayProcess, startGateway } from '../../../test/support/gateway.ts'
import { approvalAsk, askAsExternalAgent, rehearse } from './support/gateway-fixture.ts'
import { closeTerminals, keys, Terminal, type TerminalOptions } from './support/terminal.ts'

let gateway: GatewayProcess
beforeAll(async () => {
  gateway = await startGateway({ runner: 'inline' })
})
afterEach(closeTerminals)
afterAll(closeGateways)

function sit(words: readonly string[], { env, ...options }: TerminalOptions = {}): Terminal {
  return new Terminal(words, { cwd: gateway.folder, env: { HOLDPOINT_HOME: gateway.home.path, ...env }, ...options })
}
const now = ({ id }: Request) => gateway.call('getRequest', { id })
const question = 'Allow this once? [y/N]'

describe('holdpoint allow, at a terminal', () => {
  it('shows the whole of it and allows by y', async () => {
    const { request } = await rehearse(gateway, 'edit')
    const terminal = sit(['allow', request.id.slice(0, 12)])
    const screen = await terminal.sees(question)
    for (const text of ['Change a file', '- a quiet day', '+ a day for rehearsals', request.digest])
      expect(screen).toContain(text)
    await typed(terminal, 'y')
    expect(await terminal.exit).toBe(0)
    expect(terminal.text()).toMatch(/allowed by you via cli/)
    expect((await now(request)).resolution?.answer).toEqual({ kind: 'allow' })
  })

  it.each([
    ['n', 'n'],
    ['nothing', ''],
    ['something else', 'yo'],
  ])('leaves it pending at %s', async (_what, word) => {
    const { request } = await rehearse(gateway, 'approval')
    const terminal = sit(['allow', request.id])
    await terminal.sees(question)
    await typed(terminal, word)
    expect(await terminal.exit).toBe(1)
    expect(terminal.text()).toContain('was not allowed. It still waits.')
    expect((await now(request)).status).toBe('pending')
  })

  it('leaves it pending at Ctrl+C and at the end of input', async () => {
    const { request } = await rehearse(gateway, 'approval')
    for (const key of [keys.ctrlC, keys.ctrlD]) {
      const terminal = sit(['allow', request.id])
      await terminal.sees(question)
      terminal.press(key)
      await terminal.exit
      expect((await now(request)).status).toBe('pending')
    }
  })

  it('does not take what was typed before it asked', async () => {
    const { request } = await rehearse(gateway, 'approval')
    const terminal = sit(['allow', request.id])
    terminal.press('y', keys.enter, 'y', keys.enter, 'y')
    await terminal.sees(question)
    await typed(terminal, 'no')
    expect(await terminal.exit).toBe(1)
    expect((await now(request)).status).toBe('pending')
  })

  it('lets a single key not allow what is marked as dangerous', async () => {
    const suggestions = [{ id: 's1', label: 'Never ask for this', scope: 'project' }]
    const caution = { defaultToNo: true, reason: 'it deletes' }
    const ask = approvalAsk({ command: 'rm -rf build' }, { caution, suggestions })
    const request = await askAsExternalAgent(gateway, ask)
    const careful = sit(['allow', request.id])
    expect(await careful.sees('Type "allow"')).toContain('it deletes')
    await typed(careful, 'y')
    expect([await careful.exit, (await now(request)).status]).toEqual([1, 'pending'])
    const sure = sit(['allow', request.id, '--always', '1'])
    expect(await sure.sees('Type "allow"')).toContain('Remembers   Never ask for this (project)')
    await typed(sure, 'allow')
    expect([await sure.exit, (await now(request)).status]).toEqual([0, 'resolved'])
  })

  it('pages what is longer than the screen, and asks only at its end', async () => {
    const content = Array.from({ length: 60 }, (_, n) => `line ${n + 1}`).join('\n')
    const request = await askAsExternalAgent(gateway, approvalAsk({ file_path: '/x', content }, { tool: 'Write' }))
    const terminal = sit(['allow', request.id], { rows: 24 })
    expect(await terminal.sees(/── \d+ more lines/)).not.toContain(question)
    await typed(terminal, '')
    expect(await terminal.sees('line 40')).not.toContain(question)
    await terminal.sees(/── \d+ more lines/)
    // What stands for yes elsewhere only turns the page here.
    await typed(terminal, 'y')
    await terminal.sees(question)
    expect((await now(request)).status).toBe('pending')
    for (let n = 1; n <= 60; n++) expect(terminal.all()).toMatch(new RegExp(`\\+ line ${n}$`, 'm'))
    await typed(terminal, 'y')
    expect(await terminal.exit).toBe(0)
    expect((await now(request)).resolution?.answer).toEqual({ kind: 'allow' })
  })

  it('allows nothing whose end was not shown', async () => {
    const command = Array.from({ length: 100 }, (_, n) => `echo ${n}`).join('\n')
    const request = await askAsExternalAgent(gateway, approvalAsk({ command }))
    const terminal = sit(['allow', request.id])
    await terminal.sees(/more lines/)
    await typed(terminal, 'q')
    expect(await terminal.exit).toBe(1)
    expect(terminal.text()).toContain('its end was not shown')
    expect((await now(request)).status).toBe('pending')
  })

  it('shows what will run where a person wrote it instead', async () => {
    const { request } = await rehearse(gateway, 'approval')
    const file = join(gateway.folder, 'input.json')
    writeFileSync(file, JSON.stringify({ command: 'echo mine', description: 'mine' }))
    const terminal = sit(['allow', request.id, '--input', file, '--note', 'as we said'])
    const screen = await terminal.sees(question)
    expect(screen).toContain('echo mine')
    expect(screen).toContain('your input, not the agent’s')
    expect(screen).toContain('as we said')
    expect(screen).not.toContain('Hello from the rehearsal')
    await typed(terminal, 'yes')
    expect(await terminal.exit).toBe(0)
    expect((await now(request)).resolution).toMatchObject({
      answer: { input: { command: 'echo mine' }, note: 'as we said' },
    })
  })

  it('is told when somebody else was faster', async () => {
    const { request } = await rehearse(gateway, 'approval')
    const terminal = sit(['allow', request.id])
    await terminal.sees(question)
    await gateway.call('answerRequest', {
      id: request.id,
      digest: request.digest,
      answer: { kind: 'deny', reason: 'mine' },
    })
    await typed(terminal, 'y')
    expect(await terminal.exit).toBe(4)
    expect(terminal.text()).toMatch(/denied by owner via api\s*: mine/)
  })

  it('keeps long lines behind the bar, whatever the width', async () => {
    const command = `echo ${'漢字 and more words '.repeat(20)}; rm -rf ~`
    const request = await askAsExternalAgent(gateway, approvalAsk({ command }))
    const terminal = sit(['allow', request.id], { columns: 40, rows: 60 })
    await terminal.sees(question)
    const block = terminal.all().split('\n')
    const from = block.findIndex(line => line.startsWith('  │ echo'))
    const to = block.findIndex(line => line.endsWith('rm -rf ~'))
    expect(to).toBeGreaterThan(from)
    for (const line of block.slice(from + 1, to + 1)) expect(line).toMatch(/^ {2}┊ /)
    await typed(terminal, 'n')
    await terminal.exit
  })
})

describe('colours', () => {
  it('are there at a terminal, and left out with NO_COLOR', async () => {
    const coloured = sit(['inbox'])
    await coloured.exit
    expect(coloured.raw).toContain('\u001b[')
    const plain = sit(['inbox'], { env: { NO_COLOR: '1' } })
    await plain.exit
    expect(plain.raw).not.toContain('\u001b')
  })
})

/** A line, as a person types it once the question stands there: what comes too early is dropped. */
async function typed(terminal: Terminal, line: string): Promise<void> {
  terminal.press(...line, keys.enter)
}
