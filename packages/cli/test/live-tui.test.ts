/** `holdpoint tui` in a real pseudo-terminal: the list, one session, answering, writing, starting. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Ask } from '@holdpoint/protocol'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { closeGateways } from '../../../test/support/gateway.ts'
import { Scene } from './support/session-fixture.ts'
import { closeTerminals, keys, Terminal } from './support/terminal.ts'

let scene: Scene
beforeAll(async () => {
  scene = await Scene.open({ retentionDays: 30 })
})
afterAll(closeGateways)

let count = 0
const approval = (command = `make thing${++count}`): Ask => ({
  kind: 'approval',
  tool: 'Bash',
  input: { command },
  title: 'Make',
  cwd: '/srv',
  editable: true,
})
const choice: Ask = {
  kind: 'questions',
  questions: [
    {
      id: 'q',
      header: '',
      question: 'Tea or coffee?',
      options: [{ label: 'Tea' }, { label: 'Coffee' }],
      multiSelect: false,
      allowOther: false,
      secret: false,
    },
  ],
}

describe('holdpoint tui', () => {
  let terminal: Terminal
  beforeAll(() => {
    terminal = scene.terminal(['tui'])
  })
  afterAll(closeTerminals)
  beforeEach(async () => {
    // Whatever an earlier test has left waiting is none of the next one's business.
    for (const { id } of (await scene.call('listSessions', {})).items)
      if ((await scene.call('getSession', { id })).state !== 'ended') await scene.call('endSession', { id })
    await terminal.sees('Nothing waits for you')
    terminal.press(keys.escape)
    await terminal.sees('q leave')
  })

  it('shows what waits the moment it does, opens it, answers it, and goes on to what waits next', async () => {
    expect(terminal.isAlternate).toBe(true)
    const [kitchen, garden] = [await scene.session('kitchen'), await scene.session('garden')]
    const first = await scene.ask(kitchen, approval())
    await terminal.sees('1 waits for you')
    const second = await scene.ask(garden, choice)
    await terminal.sees('2 wait for you')
    await terminal.sees('Enter opens it')
    // What was selected before anything waited stays selected.
    terminal.press(keys.home)
    await terminal.sees(/› Run a command {7}now │.*\n {2}kitchen +│/)
    terminal.press('a')
    terminal.press(keys.enter)
    await terminal.sees('[a] Allow  [r] Reject')
    expect((await scene.now(first)).status).toBe('pending')
    terminal.press('a')
    expect((await scene.resolved(first)).resolution?.answer).toEqual({ kind: 'allow' })
    await terminal.sees('allowed by you')
    terminal.press(keys.tab)
    await terminal.sees('Enter confirms')
    terminal.press(keys.down)
    await terminal.sees('› 1  Tea')
    terminal.press('2')
    await terminal.sees('› 2  Coffee')
    terminal.press(keys.enter)
    expect((await scene.resolved(second)).resolution?.answer).toEqual({
      kind: 'answers',
      answers: [{ id: 'q', chosen: ['Coffee'] }],
    })
    await terminal.sees('Nothing waits for you')
  })

  it('keeps a half-written answer while the person looks elsewhere', async () => {
    const session = await scene.session('study')
    const request = await scene.ask(session, approval())
    await terminal.sees('1 waits for you')
    terminal.press(keys.home, keys.enter)
    await terminal.sees('[a] Allow')
    terminal.press('R')
    await terminal.sees('Reason ›')
    await terminal.type('too la')
    terminal.press(keys.escape)
    await terminal.sees('[a] Allow')
    terminal.press('n')
    await terminal.sees('Note ›')
    await terminal.type('be quick')
    terminal.press(keys.enter)
    await terminal.sees('With your note')
    terminal.press(keys.escape)
    await terminal.sees('q leave')
    terminal.press(keys.enter)
    await terminal.sees('With your note: be quick')
    await terminal.sees('[a] Allow')
    terminal.press('a')
    expect((await scene.resolved(request)).resolution?.answer).toEqual({ kind: 'allow', note: 'be quick' })
  })

  it('closes a prompt that is answered elsewhere, and says by whom', async () => {
    const session = await scene.session('hall')
    const request = await scene.ask(session, approval())
    await terminal.sees('1 waits for you')
    terminal.press(keys.home, keys.enter)
    await terminal.sees('[a] Allow')
    const { secret } = await scene.call('addToken', { role: 'person', name: 'bea' })
    await scene.gateway.callAs(secret)('answerRequest', {
      id: request.id,
      digest: request.digest,
      answer: { kind: 'allow' },
    })
    await terminal.sees('allowed by bea')
    await terminal.seesNot('[a] Allow')
  })

  it('pages what is longer than its pane, and does not allow it before its end was shown', async () => {
    const session = await scene.session('long')
    const request = await scene.ask(
      session,
      approval(Array.from({ length: 60 }, (_, index) => `echo ${index}`).join('\n')),
    )
    await terminal.sees('1 waits for you')
    terminal.press(keys.home, keys.enter)
    await terminal.sees('[a] Allow')
    terminal.press('a')
    await terminal.sees('Not all of it has been shown')
    while (!terminal.text().includes('Agent says')) {
      const before = terminal.raw.length
      terminal.press(' ')
      await terminal.until(() => terminal.raw.length > before)
      await terminal.sees(/lines \d+/)
    }
    terminal.press('a')
    expect((await scene.resolved(request)).status).toBe('resolved')
  })

  it('allows nothing in a pane that is too small to show it, and shows what there is room for', async () => {
    const session = await scene.session('closet')
    const request = await scene.ask(session, approval(Array.from({ length: 30 }, (_, at) => `echo ${at}`).join('\n')))
    await terminal.sees('1 waits for you')
    terminal.press(keys.home, keys.enter)
    await terminal.sees('[a] Allow')
    terminal.resize(80, 6)
    await terminal.sees('Too small a screen')
    for (const key of [' ', ' ', ' ', 'a']) {
      terminal.press(key)
      // Nothing comes of it that could be awaited; so that each is pressed alone, some time passes.
      await new Promise(resolve => setTimeout(resolve, 100))
    }
    terminal.resize(80, 7)
    await terminal.sees(/lines 1–1 of[\s\S]*\[a\] Allow/)
    terminal.press('a')
    await terminal.sees('Not all of it')
    expect((await scene.now(request)).status).toBe('pending')
    terminal.resize(40, 12)
    await terminal.sees('[a] Allow (after the end)')
    expect(terminal.text()).toContain('│ echo 0')
    terminal.resize(80, 24)
    await terminal.sees('lines 1–')
    terminal.press(keys.left)
    await terminal.sees('q leave')
  })

  it('reads a session’s stream, writes to it, interrupts and ends it', async () => {
    const session = await scene.session('porch')
    await scene.says(session, 'Sweeping the porch.')
    await terminal.sees('porch')
    terminal.press(keys.home, keys.enter)
    await terminal.sees('Sweeping the porch.')
    await scene.call('appendEvents', {
      id: session.id,
      items: [{ type: 'message.delta', block: 'b', offset: 0, text: 'Still sweep' }],
    })
    await terminal.sees('Still sweep')
    await terminal.sees(/[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏] working/)
    terminal.press(keys.enter)
    await terminal.sees('Say ›')
    await terminal.type('hurry up')
    terminal.press(keys.enter)
    await terminal.sees(/› hurry up\s/)
    terminal.press('I')
    await terminal.sees('I again interrupts')
    terminal.press('I')
    await terminal.sees('You interrupted the turn')
    terminal.press('E')
    await terminal.sees('E again ends')
    terminal.press('E')
    await terminal.sees('Session ended')
  })

  it('lets nobody answer with what they were writing when the agent asked', async () => {
    const session = await scene.session('loft')
    await scene.says(session, 'Dusty here.')
    await terminal.sees('loft')
    terminal.press(keys.home, keys.enter)
    await terminal.sees('Dusty here.')
    terminal.press('i')
    await terminal.sees('Say ›')
    await terminal.type('b')
    const request = await scene.ask(session, approval())
    await terminal.sees('The agent asks something')
    await terminal.type('anana')
    expect((await scene.now(request)).status).toBe('pending')
    terminal.press(keys.escape)
    await terminal.sees('[a] Allow')
    terminal.press('a')
    await scene.resolved(request)
  })

  it('keeps a line that is left, for its own session', async () => {
    const [cellar, attic] = [await scene.session('cellar'), await scene.session('attic')]
    for (const session of [cellar, attic]) await scene.says(session, `Here is the ${session.title}.`)
    await terminal.sees('cellar')
    await terminal.sees('attic')
    terminal.press(keys.home, keys.enter)
    await terminal.sees('Here is the')
    const first = terminal.text().includes('Here is the cellar') ? cellar : attic
    terminal.press('i')
    await terminal.sees('Say ›')
    await terminal.type('half a')
    terminal.press(keys.escape)
    await terminal.sees('Enter goes on with: half a')
    terminal.press(keys.escape)
    await terminal.sees('q leave')
    // Who spoke last is above.
    await terminal.sees(/attic[\s\S]*cellar/)
    terminal.press(first === cellar ? keys.up : keys.down, keys.enter)
    await terminal.sees(`Here is the ${first === cellar ? 'attic' : 'cellar'}.`)
    terminal.press('i')
    await terminal.sees('Say › ▏')
    terminal.press(keys.escape)
    await terminal.seesNot('Say ›')
    terminal.press(keys.escape)
    await terminal.sees('q leave')
    terminal.press(first === cellar ? keys.down : keys.up, keys.enter)
    await terminal.sees('Enter goes on with: half a')
    terminal.press(keys.enter)
    await terminal.sees('Say › half a▏')
    await terminal.type(' word')
    terminal.press(keys.enter)
    await terminal.sees('half a word')
    await terminal.seesNot('Say ›')
    expect(JSON.stringify(await scene.log(first))).toContain('half a word')
  })

  it('says no to what is asked anew before it leaves by Ctrl+C', async () => {
    const session = await scene.session('yard')
    const first = await scene.ask(session, approval())
    await terminal.sees('1 waits for you')
    terminal.press(keys.home, keys.enter)
    await terminal.sees('[a] Allow')
    terminal.press(keys.ctrlC)
    await scene.resolved(first)
    await terminal.seesNot('[a] Allow')
    const second = await scene.ask(session, approval())
    await terminal.sees('[a] Allow')
    terminal.press(keys.ctrlC)
    expect((await scene.resolved(second)).resolution?.answer).toEqual({ kind: 'deny' })
  })

  it('starts a session, plays it, and Ctrl+C rejects what it asks', async () => {
    terminal.press('n')
    await terminal.sees(/1 {2}rehearsal/)
    terminal.press(keys.enter)
    await terminal.sees('What shall it do? ›')
    terminal.press(keys.enter)
    await terminal.sees('Say what it shall do')
    await terminal.type('short')
    terminal.press(keys.enter)
    await terminal.sees('[a] Allow')
    terminal.press(keys.ctrlC)
    await terminal.sees('denied by you')
  })

  it('is one column where there is no room for two, and follows the size of the terminal', async () => {
    const session = await scene.session('cellar')
    const request = await scene.ask(session, approval())
    await terminal.sees(' │ ')
    terminal.resize(60, 20)
    await terminal.until(() => !terminal.text().includes(' │ ') && terminal.text().includes('cellar'))
    terminal.press(keys.home, keys.enter)
    await terminal.sees('[a] Allow')
    await terminal.seesNot('Waiting for you')
    terminal.resize(15, 20)
    await terminal.sees('Too small')
    // Whenever it is read, before the next size or right behind it, it was not pressed at what can be read.
    terminal.press('a')
    terminal.resize(60, 20)
    await terminal.sees('[a] Allow')
    expect((await scene.now(request)).status).toBe('pending')
    terminal.resize(120, 40)
    await terminal.sees(/Waiting for you[\s\S]*\[a\] Allow/)
    for (const line of terminal.lines()) expect([...line].length).toBeLessThanOrEqual(120)
    terminal.resize(80, 24)
    await terminal.until(() => terminal.lines().length === 24 && terminal.text().includes('[a] Allow'))
  })

  it('redraws only what changes', async () => {
    const session = await scene.session('shed')
    await terminal.sees('shed')
    terminal.press(keys.home, keys.enter)
    await terminal.sees('back to the list')
    const before = terminal.raw.length
    await scene.says(session, 'One more line.')
    await terminal.sees('One more line.')
    expect(terminal.raw.length - before).toBeLessThan(1500)
  })

  it('helps on ?, and leaves on q with a word about what waits', async () => {
    const session = await scene.session('attic')
    await scene.ask(session, approval())
    await terminal.sees('1 waits for you')
    terminal.press('?')
    await terminal.sees('move in the list')
    expect(terminal.text(), 'all of it').toContain('interrupt its turn; end it')
    terminal.press('?')
    await terminal.sees('q leave')
    terminal.press('q')
    expect(await terminal.exit).toBe(0)
    expect(terminal.isAlternate).toBe(false)
    expect(terminal.all()).toContain('1 request waits for you.')
  })
})

describe('without a gateway', () => {
  it('tui runs one of its own, until it is left', async () => {
    const home = mkdtempSync(join(tmpdir(), 'holdpoint-test-own-'))
    const terminal = new Terminal(['tui', '--home', home])
    await terminal.sees('Nothing waits for you')
    terminal.press('q')
    expect(await terminal.exit).toBe(0)
    expect(terminal.all()).toContain('No gateway runs, so one runs here')
    expect(terminal.all()).toContain('The temporary gateway stops now')
    rmSync(home, { recursive: true, force: true, maxRetries: 5 })
  })
})
