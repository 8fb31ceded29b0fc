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

function openTerminal(words: readonly string[], { env, ...options }: TerminalOptions = {}): Terminal {
  return new Terminal(words, { cwd: gateway.folder, env: { HOLDPOINT_HOME: gateway.home.path, ...env }, ...options })
}
const reload = ({ id }: Request) => gateway.call('getRequest', { id })
const question = 'Allow this once? [y/N]'

describe('holdpoint allow at a terminal', () => {
  it('holdpoint allow at a terminal shows the whole request and allows it when the person types y', async () => {
    const { request } = await rehearse(gateway, 'edit')
    const terminal = openTerminal(['allow', request.id.slice(0, 12)])
    const screen = await terminal.waitFor(question)
    for (const text of ['Change a file', '- a quiet day', '+ a day for rehearsals', request.digest])
      expect(screen).toContain(text)
    await typeLine(terminal, 'y')
    expect(await terminal.exit).toBe(0)
    expect(terminal.text()).toMatch(/allowed by you via cli/)
    expect((await reload(request)).resolution?.answer).toEqual({ kind: 'allow' })
  })

  it.each([
    ['n', 'n'],
    ['nothing', ''],
    ['something else', 'yo'],
  ])('holdpoint allow at a terminal leaves the request pending when the person types %s', async (_what, word) => {
    const { request } = await rehearse(gateway, 'approval')
    const terminal = openTerminal(['allow', request.id])
    await terminal.waitFor(question)
    await typeLine(terminal, word)
    expect(await terminal.exit).toBe(1)
    expect(terminal.text()).toContain('was not allowed. It is still pending.')
    expect((await reload(request)).status).toBe('pending')
  })

  it('holdpoint allow at a terminal leaves the request pending on Ctrl+C and at the end of input', async () => {
    const { request } = await rehearse(gateway, 'approval')
    for (const key of [keys.ctrlC, keys.ctrlD]) {
      const terminal = openTerminal(['allow', request.id])
      await terminal.waitFor(question)
      terminal.press(key)
      await terminal.exit
      expect((await reload(request)).status).toBe('pending')
    }
  })

  it('holdpoint allow at a terminal ignores keys typed before the question appeared', async () => {
    const { request } = await rehearse(gateway, 'approval')
    const terminal = openTerminal(['allow', request.id])
    terminal.press('y', keys.enter, 'y', keys.enter, 'y')
    await terminal.waitFor(question)
    await typeLine(terminal, 'no')
    expect(await terminal.exit).toBe(1)
    expect((await reload(request)).status).toBe('pending')
  })

  it('holdpoint allow at a terminal requires the word "allow" for a request that is flagged as dangerous', async () => {
    const suggestions = [{ id: 's1', label: 'Never ask for this', scope: 'project' }]
    const caution = { defaultToNo: true, reason: 'it deletes' }
    const ask = approvalAsk({ command: 'rm -rf build' }, { caution, suggestions })
    const request = await askAsExternalAgent(gateway, ask)
    const firstTry = openTerminal(['allow', request.id])
    expect(await firstTry.waitFor('Type "allow"')).toContain('it deletes')
    await typeLine(firstTry, 'y')
    expect([await firstTry.exit, (await reload(request)).status]).toEqual([1, 'pending'])
    const secondTry = openTerminal(['allow', request.id, '--always', '1'])
    expect(await secondTry.waitFor('Type "allow"')).toContain('Remembers   Never ask for this (project)')
    await typeLine(secondTry, 'allow')
    expect([await secondTry.exit, (await reload(request)).status]).toEqual([0, 'resolved'])
  })

  it('holdpoint allow at a terminal requires the word "allow" if the input from --input is dangerous, and names its risk', async () => {
    const request = await askAsExternalAgent(gateway, approvalAsk({ command: 'ls' }))
    const file = join(gateway.folder, 'dangerous.json')
    writeFileSync(file, JSON.stringify({ command: 'rm -rf build' }))
    const terminal = openTerminal(['allow', request.id, '--input', file])
    expect(await terminal.waitFor('Type "allow"')).toMatch(/Risk +▲ Dangerous: .*deletes files/)
    await typeLine(terminal, 'y')
    expect([await terminal.exit, (await reload(request)).status]).toEqual([1, 'pending'])
  })

  it('holdpoint allow at a terminal requires the word "allow" for a request that Holdpoint calls dangerous, and names its risk', async () => {
    const request = await askAsExternalAgent(gateway, approvalAsk({ command: 'git push --force' }))
    const terminal = openTerminal(['allow', request.id])
    expect(await terminal.waitFor('This is dangerous. Type "allow"')).toMatch(/Risk +▲ Dangerous: .*rewrites history/)
    await typeLine(terminal, 'yes')
    expect([await terminal.exit, (await reload(request)).status]).toEqual([1, 'pending'])
  })

  it('holdpoint allow at a terminal splits a request longer than the screen into pages and asks for confirmation only after the last page', async () => {
    const content = Array.from({ length: 60 }, (_, n) => `line ${n + 1}`).join('\n')
    const request = await askAsExternalAgent(gateway, approvalAsk({ file_path: '/x', content }, { tool: 'Write' }))
    const terminal = openTerminal(['allow', request.id], { rows: 25 })
    expect(await terminal.waitFor(/── \d+ more lines/)).not.toContain(question)
    terminal.press(' ')
    expect(await terminal.waitFor('line 40')).not.toContain(question)
    await terminal.waitFor(/── \d+ more lines/)
    // At this prompt, y does nothing, and one key shows the next page.
    terminal.press('y')
    await terminal.pause()
    terminal.press(keys.enter)
    await terminal.waitFor(question)
    expect((await reload(request)).status).toBe('pending')
    for (let n = 1; n <= 60; n++) expect(terminal.all()).toMatch(new RegExp(`\\+ line ${n}$`, 'm'))
    await typeLine(terminal, 'y')
    expect(await terminal.exit).toBe(0)
    expect((await reload(request)).resolution?.answer).toEqual({ kind: 'allow' })
  })

  it('holdpoint allow at a terminal does not allow a request that was not read to the end', async () => {
    const command = Array.from({ length: 100 }, (_, n) => `echo ${n}`).join('\n')
    const request = await askAsExternalAgent(gateway, approvalAsk({ command }))
    const terminal = openTerminal(['allow', request.id])
    await terminal.waitFor(/more lines/)
    // The key alone cancels, and what follows it is not read as an answer.
    terminal.press('qholdpoint inbox\r')
    expect(await terminal.exit).toBe(1)
    expect(terminal.text()).toContain(`You did not read ${request.id} to the end`)
    expect((await reload(request)).status).toBe('pending')
  })

  it('holdpoint allow at a terminal shows the input from --input instead of the agent’s input before it asks for confirmation', async () => {
    const { request } = await rehearse(gateway, 'approval')
    const file = join(gateway.folder, 'input.json')
    writeFileSync(file, JSON.stringify({ command: 'echo mine', description: 'mine' }))
    const terminal = openTerminal(['allow', request.id, '--input', file, '--note', 'as we said'])
    const screen = await terminal.waitFor(question)
    expect(screen).toContain('echo mine')
    expect(screen).toContain('Your input will run, not the agent’s')
    expect(screen).toContain('as we said')
    expect(screen).not.toContain('Hello from the rehearsal')
    await typeLine(terminal, 'yes')
    expect(await terminal.exit).toBe(0)
    expect((await reload(request)).resolution).toMatchObject({
      answer: { input: { command: 'echo mine' }, note: 'as we said' },
    })
  })

  it('holdpoint allow at a terminal exits with 4 and says who answered if someone else answered first', async () => {
    const { request } = await rehearse(gateway, 'approval')
    const terminal = openTerminal(['allow', request.id])
    await terminal.waitFor(question)
    await gateway.call('answerRequest', {
      id: request.id,
      digest: request.digest,
      answer: { kind: 'deny', reason: 'mine' },
    })
    await typeLine(terminal, 'y')
    expect(await terminal.exit).toBe(4)
    expect(terminal.text()).toMatch(/denied by owner via api\s*: mine/)
  })

  it('holdpoint allow at a terminal starts every continuation line of a long command with a bar on a narrow screen', async () => {
    const command = `echo ${'漢字 and more words '.repeat(20)}; rm -rf ~`
    const request = await askAsExternalAgent(gateway, approvalAsk({ command }))
    const terminal = openTerminal(['allow', request.id], { columns: 40, rows: 60 })
    await terminal.waitFor('Type "allow"')
    const block = terminal.all().split('\n')
    const from = block.findIndex(line => line.startsWith('  │ echo'))
    const to = block.findIndex(line => line.endsWith('rm -rf ~'))
    expect(to).toBeGreaterThan(from)
    for (const line of block.slice(from + 1, to + 1)) expect(line).toMatch(/^ {2}┊ /)
    await typeLine(terminal, 'n')
    await terminal.exit
  })
})

describe('holdpoint allow with several requests', () => {
  const ask = (command: string) => askAsExternalAgent(gateway, approvalAsk({ command }))

  it('holdpoint allow with several requests shows all requests, asks once for all of them, and asks separately about each dangerous request', async () => {
    const requests = [await ask('ls one'), await ask('git push --force'), await ask('ls two')]
    const terminal = openTerminal(['allow', ...requests.map(({ id }) => id)], { rows: 60 })
    const screen = await terminal.waitFor('Allow these 2 requests once? [y/N]')
    for (const text of ['Request 1 of 2', '│ ls one', 'Request 2 of 2', '│ ls two']) expect(screen).toContain(text)
    expect(screen).not.toContain('git push')
    await typeLine(terminal, 'y')
    expect(await terminal.waitFor('This is dangerous. Type "allow"')).toContain('git push --force')
    await typeLine(terminal, 'y')
    expect(await terminal.exit, 'the exit code of the first request that was not answered').toBe(1)
    const [one, dangerous, two] = requests.map(({ id }) => id)
    const text = terminal.text()
    for (const id of [one, two]) expect(text).toContain(`${id} allowed by you via cli`)
    expect(text).toContain(`${dangerous} was not allowed. It is still pending.`)
    const statuses = (await Promise.all(requests.map(reload))).map(({ status }) => status)
    expect(statuses).toEqual(['resolved', 'pending', 'resolved'])
  })
  it('holdpoint allow with several requests leaves all of them pending if the person does not read them to the end', async () => {
    const requests = [await ask('true\n'.repeat(40)), await ask('ls')]
    const terminal = openTerminal(['allow', ...requests.map(({ id }) => id)])
    await terminal.waitFor(/more lines/)
    terminal.press('q')
    expect(await terminal.exit).toBe(1)
    for (const { id } of requests) expect(terminal.text()).toContain(`${id} was not allowed. It is still pending.`)
    expect((await Promise.all(requests.map(reload))).map(({ status }) => status)).toEqual(['pending', 'pending'])
  })
})

describe('color output', () => {
  it('color output is used on a terminal and turned off by NO_COLOR', async () => {
    const colored = openTerminal(['inbox'])
    await colored.exit
    expect(colored.raw).toContain('\u001b[')
    const plain = openTerminal(['inbox'], { env: { NO_COLOR: '1' } })
    await plain.exit
    expect(plain.raw).not.toContain('\u001b')
  })
})

/** Types a line and presses Enter. Call this only once the question is on the screen, because earlier input is discarded. */
async function typeLine(terminal: Terminal, line: string): Promise<void> {
  terminal.press(...line, keys.enter)
}
