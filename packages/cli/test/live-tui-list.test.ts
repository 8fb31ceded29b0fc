/** The list of `holdpoint tui` in a real pseudo-terminal: rows, filter, zoom, Tab, the bell and the window title. */
import type { Session } from '@holdpoint/protocol'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { closeGateways } from '../../../test/support/gateway.ts'
import { approvalOf as approval } from './support/run-fixture.ts'
import { SessionFixture } from './support/session-fixture.ts'
import { closeTerminals, keys, type Terminal } from './support/terminal.ts'

let fixture: SessionFixture
let kitchen: Session
let terminal: Terminal
/** Counts the bells outside the sequences that set the title. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: the sequences consist of control characters
const bells = () => terminal.raw.replaceAll(/\u001b\]2;[^\u0007]*\u0007/g, '').split('\u0007').length - 1

beforeAll(async () => {
  fixture = await SessionFixture.open()
  kitchen = await fixture.startSession('kitchen')
  await fixture.ask(kitchen, approval({ input: { command: 'rm -rf /srv/app/build' } }))
  terminal = fixture.openTerminal(['tui'], { columns: 120 })
  await terminal.waitFor('1 waiting for you')
})
afterAll(async () => {
  closeTerminals()
  await closeGateways()
})

describe('the list of holdpoint tui', () => {
  it('the list of holdpoint tui rings the bell for a new request only, and shows the number of pending requests in the window title', async () => {
    await terminal.waitUntil(() => terminal.raw.includes('\u001b]2;(1) Holdpoint\u0007'))
    expect(terminal.raw).toContain('\u001b[22;2t')
    expect(bells()).toBe(0)
    const garden = await fixture.startSession('garden')
    await fixture.ask(garden, approval({ input: { command: 'npm test' } }))
    await terminal.waitFor('2 waiting for you')
    await terminal.waitUntil(() => terminal.raw.includes('\u001b]2;(2) Holdpoint\u0007'))
    expect(bells()).toBe(1)
  })

  it('the list of holdpoint tui shows the command, the risk and the session in each row', async () => {
    expect(terminal.text()).toMatch(/rm -rf \S+ +now │/)
    expect(terminal.text()).toMatch(/Dangerous · kitchen/)
    expect(terminal.text()).toMatch(/npm test +now │/)
  })

  it('the key / in holdpoint tui filters the rows while the person types, Enter keeps the filter, and Esc shows all rows again', async () => {
    terminal.press('/')
    await terminal.waitFor('Filter › ▏')
    await terminal.type('garden')
    await terminal.waitForGone('Dangerous · kitchen')
    expect(terminal.text()).toContain('npm test')
    terminal.press(keys.enter)
    await terminal.waitFor('Filter: garden')
    await terminal.waitFor('Esc show all')
    terminal.press(keys.escape)
    await terminal.waitFor('Dangerous · kitchen')
  })

  it('in holdpoint tui, Tab opens the next request, z gives it the whole width, q goes back to the list, and no key answers the request', async () => {
    terminal.press(keys.tab)
    await terminal.waitFor('[r] Deny')
    await terminal.pause()
    expect(terminal.text()).toContain('Waiting for you')
    terminal.press('z')
    await terminal.waitForGone('Waiting for you')
    await terminal.pause()
    terminal.press('z')
    await terminal.waitFor('Waiting for you')
    await terminal.pause()
    terminal.press('q')
    await terminal.waitFor('n new session')
    const { items } = await fixture.call('listRequests', { status: 'pending' })
    expect(items).toHaveLength(2)
  })

  it('the preview of a long request in holdpoint tui says how to read all of it', async () => {
    const command = Array.from({ length: 80 }, (_, index) => `echo ${index}`).join('\n')
    await fixture.ask(kitchen, approval({ input: { command }, title: 'Long' }))
    await terminal.waitFor('3 waiting for you')
    terminal.press(keys.home, keys.down, keys.down)
    await terminal.waitFor('Enter: read all')
    expect(terminal.text()).not.toContain('space:')
  })

  it('holdpoint tui restores the window title when the person leaves', async () => {
    terminal.press(keys.ctrlC)
    expect(await terminal.exit).toBe(0)
    expect(terminal.raw).toContain('\u001b[23;2t')
  })
})

describe('holdpoint tui on a screen with 80 columns', () => {
  let own: SessionFixture
  let view: Terminal
  const command = 'npm run build -- --mode production --out dist'
  beforeAll(async () => {
    own = await SessionFixture.open()
    const session = await own.startSession('web-shop')
    await own.ask(session, approval({ input: { command } }))
    const { id } = session
    const deadline = { deadlineMs: 3_600_000, onDeadline: 'deny' } as const
    await own.call('openRequest', { id, key: 'due', ask: approval({ input: { command: 'make due' } }), ...deadline })
    await own.ask(session, {
      kind: 'questions',
      questions: [
        { id: 'q', header: '', question: 'Why so?', options: [], multiSelect: false, allowOther: true, secret: false },
      ],
    })
    view = own.openTerminal(['tui'])
    await view.waitFor('3 waiting for you')
  })

  it('holdpoint tui on a screen with 80 columns shows each request in one line, with its risk, its command, its session and its deadline', async () => {
    expect(view.lines()).toContainEqual(
      expect.stringMatching(/△ Notable · npm run build -- --mode production --out dist/),
    )
    expect(view.text()).toMatch(/make due · web-shop +due (59 min|1 h)$/m)
    expect(view.text()).not.toContain(' │ ')
  })
  it('holdpoint tui on a screen with 80 columns shows the selected row in reverse video', async () => {
    view.press(keys.home)
    await view.waitFor(/^› △ runs project code · make due/m)
    expect(view.raw).toContain('\u001b[7m△ runs project code')
  })
  it('holdpoint tui on a screen with 80 columns gives an open request the whole width, right below the transcript, and ? shows the help', async () => {
    view.press(keys.enter)
    await view.waitFor('[a] Allow')
    expect(view.text()).not.toContain('Waiting for you')
    const lines = view.lines()
    expect(lines.findIndex(line => line.includes('● Run a command'))).toBeLessThan(8)
    await view.pause()
    view.press('?')
    await view.waitFor('Keys')
    view.press(keys.escape)
    await view.waitFor('[a] Allow')
    await view.pause()
    view.press('q')
    await view.waitFor('n new session')
    expect((await own.call('listRequests', { status: 'pending' })).items).toHaveLength(3)
  })
  it('holdpoint tui on a screen with 80 columns offers no letter as a key while a text field is open', async () => {
    view.press(keys.home, keys.down, keys.down)
    await view.waitFor(/^› .*Why so/m)
    view.press(keys.enter)
    await view.waitFor('Answer ›')
    await view.waitFor('Enter submit')
    const footer = view.lines().at(-1)
    expect(footer).toContain('Esc back')
    expect(footer).not.toMatch(/zoom|help/)
    expect(view.text().match(/Esc /g), 'only one hint says what Esc does').toHaveLength(1)
  })
  it('holdpoint tui on a screen with 40 columns wraps a hint that is longer than a line instead of cutting it', async () => {
    view.press(keys.escape)
    await view.waitFor('n new session')
    view.resize(40, 15)
    await view.waitForGone('localhost')
    view.press('y', 'z')
    await view.waitFor(/^Typing is ignored here\. Pause for a ?\n.*second, then press a key\.$/m)
    expect(view.text()).toContain('3 waiting for you')
  })
})

describe('holdpoint tui whose gateway restarts at another address', () => {
  it('holdpoint tui whose gateway restarts at another address shows the new address', async () => {
    const own = await SessionFixture.open()
    const view = own.openTerminal(['tui'])
    const before = new URL(own.gateway.url).host
    await view.waitFor(before)
    await own.gateway.kill()
    own.gateway.changePort()
    await own.gateway.start()
    await view.waitUntil(() => view.text().includes(new URL(own.gateway.url).host), 'the new address')
    expect(new URL(own.gateway.url).host).not.toBe(before)
    view.press('q')
    expect(await view.exit).toBe(0)
  })
})
