/** What would be sent is in sight, in a real pseudo-terminal: long notes, long lines, long offers, small screens. */
import { encodeDraft } from '@holdpoint/client'
import type { Ask } from '@holdpoint/protocol'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { closeGateways } from '../../../test/support/gateway.ts'
import { approvalAsk } from './support/gateway-fixture.ts'
import { Scene } from './support/session-fixture.ts'
import { closeTerminals, keys } from './support/terminal.ts'

let scene: Scene
beforeAll(async () => {
  scene = await Scene.open()
})
afterEach(closeTerminals)
afterAll(closeGateways)

const small = { columns: 40, rows: 12 }
const approval = approvalAsk({ command: 'make deploy' })
const text: Ask = {
  kind: 'questions',
  questions: [
    { id: 'q', header: '', question: 'Why?', options: [], multiSelect: false, allowOther: true, secret: false },
  ],
}
const paste = (words: string) => `\u001b[200~${words}\u001b[201~`

describe('a note', () => {
  it('that is longer than its line is cut where everybody sees it, and the keys stay', async () => {
    const session = await scene.session()
    const { id } = await scene.ask(session, approval)
    await scene.call('putDraft', { id, draft: encodeDraft({ note: `begin ${'x'.repeat(2400)} end` }) })
    const terminal = scene.run(session)
    await terminal.sees(/With your note: begin x+ ⟨\d+ more⟩ x+ end$/m)
    await terminal.sees('[a] Allow  [r] Reject')
    expect(terminal.text()).toContain('n note')
  })

  it('shows what stands around the caret while it is written, and how much there is beside it', async () => {
    const { request, terminal } = await scene.put(approval, small)
    await terminal.sees('[a] Allow')
    terminal.press('n')
    await terminal.sees('Note ›')
    terminal.press(paste(`first ${'x'.repeat(300)} last`))
    await terminal.sees(/⟨\d+ above⟩[\s\S]*last▏\nEnter adds it/)
    expect(terminal.text()).not.toContain('first')
    terminal.press(keys.home)
    await terminal.sees(/⟨\d+ below⟩\nNote › ▏first/)
    await terminal.sees('Enter adds it')
    terminal.press(keys.enter)
    await terminal.sees(/With your note: f.* ⟨\d+ more⟩ .*last/)
    await terminal.sees('[a] Allow')
    terminal.press('a')
    await scene.resolved(request)
  })
})

describe('a text', () => {
  it('of many lines says how many are out of sight, and the caret is not', async () => {
    const { terminal } = await scene.put(text)
    await terminal.sees('Answer ›')
    terminal.press(paste(Array.from({ length: 12 }, (_, n) => `line ${n + 1}.`).join('\n')))
    await terminal.sees(/⟨7 above⟩[\s\S]*line 12\.▏/)
    terminal.press(keys.home)
    await terminal.sees(/⟨7 below⟩\nAnswer › ▏line 1\./)
    expect(terminal.text()).not.toContain('line 6.')
  })
})

describe('an offer', () => {
  it('is taken by Enter once all of it was shown', async () => {
    const label = `Allow ${'everything '.repeat(40)}at all`
    const offers = { suggestions: [{ id: '0', label, scope: 'session' }] }
    const { request, terminal } = await scene.put(approvalAsk({ command: 'make deploy' }, offers), small)
    await terminal.sees('(after the end)')
    terminal.press(' ')
    await terminal.sees('[a] Allow  [r] Reject')
    terminal.press('s')
    await terminal.sees('↑↓ 1–1 choose')
    terminal.press('1')
    await terminal.sees(/› 1 {2}Allow everything/)
    terminal.press(keys.enter)
    await terminal.sees('Not all of this one')
    expect((await scene.now(request)).status).toBe('pending')
    while (!terminal.text().includes('at all')) {
      const before = terminal.raw.length
      terminal.press(' ')
      await terminal.until(() => terminal.raw.length > before)
    }
    await terminal.sees('Enter allows')
    terminal.press(keys.enter)
    expect((await scene.resolved(request)).resolution?.answer).toEqual({ kind: 'allow', suggestion: '0' })
  })
})
