/** Long notes, answers and suggestions in a real pseudo-terminal: the person can see them before they are sent, even on a small screen. */
import { encodeDraft } from '@holdpoint/client'
import type { Ask } from '@holdpoint/protocol'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { closeGateways } from '../../../test/support/gateway.ts'
import { approvalAsk } from './support/gateway-fixture.ts'
import { SessionFixture } from './support/session-fixture.ts'
import { closeTerminals, keys, type Terminal } from './support/terminal.ts'

let fixture: SessionFixture
beforeAll(async () => {
  fixture = await SessionFixture.open()
})
afterEach(closeTerminals)
afterAll(closeGateways)

const small = { columns: 40, rows: 12 }
const approval = approvalAsk({ command: 'make thing' })
const text: Ask = {
  kind: 'questions',
  questions: [
    { id: 'q', header: '', question: 'Why?', options: [], multiSelect: false, allowOther: true, secret: false },
  ],
}
/** Pages through a request that is longer than the screen. */
async function readToEnd(terminal: Terminal): Promise<void> {
  await terminal.waitFor('[a] Allow')
  while (terminal.text().includes('(read it all first)')) {
    const before = terminal.raw.length
    terminal.press(' ')
    await terminal.waitUntil(() => terminal.raw.length > before)
  }
  await terminal.pause()
}
const paste = (text: string) => `\u001b[200~${text}\u001b[201~`

describe('a long note in the terminal', () => {
  it('a long note in the terminal is cut to one line with a mark at the cut, and the key hints stay on the screen', async () => {
    const session = await fixture.startSession()
    const { id } = await fixture.ask(session, approval)
    await fixture.call('putDraft', { id, draft: encodeDraft({ note: `begin ${'x'.repeat(2400)} end` }) })
    const terminal = fixture.openRun(session)
    await terminal.waitFor(/With your note: begin x+ ⟨\d+ more⟩ x+ end$/m)
    await terminal.waitFor('[a] Allow  [r] Deny')
    expect(terminal.text()).toContain('n note')
  })

  it('a long note in the terminal shows the lines around the caret while it is typed, and the number of hidden lines', async () => {
    const { request, terminal } = await fixture.openRunWithRequest(approval, small)
    await readToEnd(terminal)
    terminal.press('n')
    await terminal.waitFor('Note ›')
    terminal.press(paste(`first ${'x'.repeat(300)} last`))
    await terminal.waitFor(/⟨\d+ above⟩[\s\S]*last▏\nEnter add/)
    expect(terminal.text()).not.toContain('first')
    terminal.press(keys.home)
    await terminal.waitFor(/⟨\d+ below⟩\nNote › ▏first/)
    await terminal.waitFor('Enter add')
    terminal.press(keys.enter)
    await terminal.waitFor(/With your note: f.*….*last/)
    await terminal.waitFor('[a] Allow')
    terminal.press('a')
    await fixture.waitForResolved(request)
  })
})

describe('right-to-left letters', () => {
  const escaped = 'cat \\u{5d0}\\u{5d1} > \\u{5d2}'
  it('F7: right-to-left letters are escaped in a command and in a suggestion, and kept in text that a person types', async () => {
    const offers = { suggestions: [{ id: '0', label: 'cat אב > ג', scope: 'session' }] }
    const { terminal } = await fixture.openRunWithRequest(approvalAsk({ command: 'cat אב > ג' }, offers))
    await terminal.waitFor(`│ ${escaped}`)
    await terminal.waitFor('[a] Allow')
    terminal.press('s')
    await terminal.waitFor(`1  ${escaped}`)
    expect(terminal.text()).not.toMatch(/[\u0590-\u08ff]/)
    await terminal.pause()
    terminal.press(keys.escape)
    await terminal.waitFor('[a] Allow')
    await terminal.pause()
    terminal.press('n')
    await terminal.waitFor('Note ›')
    terminal.press(paste('שלום עולם'))
    await terminal.waitFor('Note › שלום עולם▏')
  })
  it('F7: right-to-left letters are escaped in the preset of a form field that mixes directions', async () => {
    const form: Ask = {
      kind: 'form',
      title: 'שלום',
      message: '',
      schema: { type: 'object', properties: { f: { type: 'string', default: 'https://a.example/אב/ג' } } },
    }
    const { terminal } = await fixture.openRunWithRequest(form)
    await terminal.waitFor('› https://a.example/\\u{5d0}\\u{5d1}/\\u{5d2}▏')
    expect(terminal.text()).toContain('שלום')
  })
})

describe('a text answer of many lines', () => {
  it('a text answer of many lines shows the number of hidden lines and keeps the caret visible', async () => {
    const { terminal } = await fixture.openRunWithRequest(text)
    await terminal.waitFor('Answer ›')
    terminal.press(paste(Array.from({ length: 12 }, (_, n) => `line ${n + 1}.`).join('\n')))
    await terminal.waitFor(/⟨7 above⟩[\s\S]*line 12\.▏/)
    terminal.press(keys.home)
    await terminal.waitFor(/⟨7 below⟩\nAnswer › ▏line 1\./)
    expect(terminal.text()).not.toContain('line 6.')
  })
})

describe('a long suggestion', () => {
  it('a long suggestion is accepted by Enter only after all of it was shown', async () => {
    const label = `Allow ${'everything '.repeat(40)}at all`
    const offers = { suggestions: [{ id: '0', label, scope: 'session' }] }
    const { request, terminal } = await fixture.openRunWithRequest(
      approvalAsk({ command: 'make thing' }, offers),
      small,
    )
    await readToEnd(terminal)
    terminal.press('s')
    await terminal.waitFor('↑↓ 1–1 choose')
    await terminal.pause()
    terminal.press('1')
    await terminal.waitFor(/› 1 {2}Allow everything/)
    terminal.press(keys.enter)
    await terminal.waitFor('You haven’t seen this whole entry')
    expect((await fixture.getRequest(request)).status).toBe('pending')
    while (!terminal.text().includes('at all')) {
      const before = terminal.raw.length
      terminal.press(' ')
      await terminal.waitUntil(() => terminal.raw.length > before)
    }
    await terminal.waitFor('Enter allow')
    await terminal.pause()
    terminal.press(keys.enter)
    expect((await fixture.waitForResolved(request)).resolution?.answer).toEqual({ kind: 'allow', suggestion: '0' })
  })
})
