/** Unfinished answers in a real pseudo-terminal: answers of other people, and the person's own answers from another device. */
import { type AnswerDraft, encodeDraft } from '@holdpoint/client'
import type { Ask, Call, Question, Request } from '@holdpoint/protocol'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { withTimeout } from '../../../test/support/event-recorder.ts'
import { closeGateways, shortPause } from '../../../test/support/gateway.ts'
import { decodeDraft } from '../../client/src/draft.ts'
import { approvalAsk } from './support/gateway-fixture.ts'
import { SessionFixture } from './support/session-fixture.ts'
import { closeTerminals, keys } from './support/terminal.ts'

let fixture: SessionFixture
let ana: Call
beforeAll(async () => {
  fixture = await SessionFixture.open()
  ana = fixture.gateway.callAs((await fixture.call('addToken', { role: 'person', name: 'ana' })).secret)
})
afterEach(closeTerminals)
afterAll(closeGateways)

const approval = approvalAsk({ command: 'make deploy' })
function questions(more: Partial<Question>[]): Ask {
  const base = { header: '', question: 'Which?', multiSelect: false, allowOther: true, secret: false }
  const options = ['Red', 'Green'].map(label => ({ label }))
  return { kind: 'questions', questions: more.map((one, n) => ({ ...base, id: `q${n}`, options, ...one })) }
}
const putDraft = (call: Call, { id }: Request, draft: AnswerDraft) =>
  call('putDraft', { id, draft: encodeDraft(draft) })
const savedDraft = async ({ id }: Request) => decodeDraft((await fixture.call('getDraft', { id })).draft?.draft)
/** Polls for the draft, because the gateway saves a draft a moment later and without an event. */
async function waitForDraft(request: Request, draft: AnswerDraft): Promise<void> {
  const matches = async () =>
    JSON.stringify(encodeDraft(await savedDraft(request))) === JSON.stringify(encodeDraft(draft))
  await withTimeout(
    (async () => {
      while (!(await matches())) await shortPause()
    })(),
  )
}

describe('another person’s unfinished answer', () => {
  it('another person’s unfinished answer is shown in holdpoint run until it is discarded, even if it was started before holdpoint run was opened', async () => {
    const session = await fixture.startSession()
    const request = await fixture.ask(session, approval)
    await putDraft(ana, request, { reason: 'not sure' })
    const terminal = fixture.openRun(session)
    await terminal.waitFor('ana is answering')
    expect(terminal.text()).not.toContain('not sure')
    await ana('deleteDraft', { id: request.id })
    await terminal.waitForGone('is answering')
    await putDraft(ana, request, { reason: 'yet' })
    await terminal.waitFor('ana is answering')
  })

  it('another person’s unfinished answer is shown in holdpoint tui', async () => {
    const own = await SessionFixture.open()
    const other = own.gateway.callAs((await own.call('addToken', { role: 'person', name: 'bo' })).secret)
    const request = await own.ask(await own.startSession(), approval)
    const terminal = own.openTerminal(['tui'])
    await terminal.waitFor('make deploy')
    terminal.press(keys.enter)
    await terminal.waitFor('[a] Allow')
    await putDraft(other, request, { note: 'hm' })
    await terminal.waitFor('bo is answering')
  })
})

describe('the person’s own unfinished answer', () => {
  it('the person’s own unfinished answer is shown to other people, saved at the gateway, and removed when the answer is sent', async () => {
    const { request, terminal } = await fixture.openRunWithRequest(approval)
    await terminal.waitFor('[a] Allow')
    expect(await ana('getDraft', { id: request.id })).toMatchObject({ others: [] })
    terminal.press('R')
    await terminal.waitFor('Reason ›')
    await terminal.type('not on a fri')
    await waitForDraft(request, { reason: 'not on a fri' })
    expect(await ana('getDraft', { id: request.id })).toMatchObject({ draft: null, others: [{ name: 'owner' }] })
    terminal.press(keys.escape)
    await terminal.waitFor('Draft reason: not on a fri')
    await terminal.waitFor('[a] Allow')
    terminal.press('R')
    await terminal.waitFor('Reason › not on a fri▏')
    await terminal.type('day')
    terminal.press(keys.enter)
    expect((await fixture.waitForResolved(request)).resolution?.answer).toEqual({
      kind: 'deny',
      reason: 'not on a friday',
    })
    expect(await savedDraft(request)).toEqual({})
  })

  it('the person’s own unfinished answer is removed from the gateway when the person deletes the text', async () => {
    const { request, terminal } = await fixture.openRunWithRequest(approval)
    await terminal.waitFor('[a] Allow')
    terminal.press('n')
    await terminal.waitFor('Note ›')
    await terminal.type('hi')
    await waitForDraft(request, { note: 'hi' })
    terminal.press(keys.backspace, keys.backspace)
    await waitForDraft(request, {})
    expect(await ana('getDraft', { id: request.id })).toMatchObject({ others: [] })
  })

  it('the person’s own unfinished answer continues in the terminal with the note, the reason and the edit that were started on the page', async () => {
    const session = await fixture.startSession()
    const request = await fixture.ask(session, approval)
    await putDraft(fixture.call, request, {
      note: 'mind the gap',
      reason: 'half a',
      edit: 'make deploy --dry',
      mode: 'plan',
    })
    const terminal = fixture.openRun(session, { env: { EDITOR: 'true' } })
    await terminal.waitFor('With your note: mind the gap')
    await terminal.waitFor('Draft reason: half a')
    await terminal.waitFor('Unfinished edit: press e to continue')
    await terminal.waitFor('[a] Allow')
    expect(terminal.text(), 'the unfinished edit is not what would be allowed').not.toContain('--dry')
    terminal.press('e')
    await terminal.waitFor('Changed by you')
    expect(terminal.text()).toContain('make deploy --dry')
    await terminal.waitFor('[a] Allow')
    terminal.press('n')
    await terminal.waitFor('Note › mind the gap▏')
    await terminal.type('!')
    await waitForDraft(request, { note: 'mind the gap!', reason: 'half a', edit: 'make deploy --dry', mode: 'plan' })
  })

  it('the person’s own unfinished answer to questions is saved without its secrets and continues in another terminal', async () => {
    const ask = questions([{}, { options: [] }, { options: [], secret: true }])
    const { request, session, terminal } = await fixture.openRunWithRequest(ask)
    await terminal.waitFor('Enter confirm')
    terminal.press('2')
    await terminal.waitFor('› 2  Green')
    terminal.press(keys.enter)
    await terminal.waitFor('Answer ›')
    await terminal.type('soon')
    terminal.press(keys.enter)
    await terminal.waitFor('Secret ›')
    await terminal.type('hunter2')
    const answers = new Map([
      ['q0', { chosen: ['Green'] }],
      ['q1', { chosen: [], other: 'soon', own: true }],
    ])
    await waitForDraft(request, { answers })
    terminal.close()
    const again = fixture.openRun(session)
    await again.waitFor('› 2  Green')
    await again.waitFor('Enter confirm')
    again.press(keys.enter)
    await again.waitFor('Answer › soon▏')
    expect(await savedDraft(request), 'showing a draft does not change it').toEqual({ answers })
  })

  it('the person’s own unfinished answer must be confirmed again if it was changed on another device', async () => {
    const session = await fixture.startSession()
    const request = await fixture.ask(session, questions([{ question: 'Drop it?' }, { question: 'Greet?' }]))
    const both = (first: string) =>
      new Map([
        ['q0', { chosen: [first] }],
        ['q1', { chosen: ['Green'] }],
      ])
    await putDraft(fixture.call, request, { answers: both('Red') })
    const terminal = fixture.openRun(session)
    await terminal.waitFor('› 1  Red')
    await terminal.waitFor('Enter confirm')
    terminal.press(keys.enter)
    await terminal.waitFor('Greet?')
    await putDraft(fixture.call, request, { answers: both('Green') })
    await terminal.waitFor('changed on another device')
    expect(terminal.text()).toContain('Drop it?')
    expect(terminal.text()).toContain('› 2  Green')
    terminal.press(keys.enter)
    await terminal.waitFor('Greet?')
    expect((await fixture.getRequest(request)).status).toBe('pending')
    await terminal.pause()
    terminal.press(keys.enter)
    const answers = [...both('Green')].map(([id, choice]) => ({ id, ...choice }))
    expect((await fixture.waitForResolved(request)).resolution?.answer).toEqual({ kind: 'answers', answers })
  })

  it('the person’s own unfinished answer to a form is saved without its secrets and continues in another terminal', async () => {
    const properties = {
      to: { type: 'string' as const },
      gift: { type: 'boolean' as const },
      extras: { type: 'array' as const, items: { type: 'string' as const, enum: ['bow', 'card'] } },
      pass: { type: 'string' as const, format: 'password' },
    }
    const ask: Ask = { kind: 'form', title: 'Parcel', message: '', schema: { type: 'object', properties } }
    const { request, session, terminal } = await fixture.openRunWithRequest(ask)
    await terminal.waitFor('Enter next')
    await terminal.type('Ana')
    terminal.press(keys.enter)
    await terminal.waitFor('› gift')
    terminal.press('y')
    await terminal.waitFor('› 1  Yes')
    terminal.press(keys.enter)
    await terminal.waitFor('› extras')
    terminal.press('2')
    await terminal.waitFor('[x] card')
    terminal.press(keys.enter)
    await terminal.waitFor('› pass')
    await terminal.type('hunter2')
    expect(terminal.text()).toContain('•••••••▏')
    const values = new Map<string, string | boolean | readonly string[]>([
      ['to', 'Ana'],
      ['gift', true],
      ['extras', ['card']],
    ])
    await waitForDraft(request, { values })
    terminal.close()
    const again = fixture.openRun(session)
    await again.waitFor('› Ana▏')
    expect(again.raw + terminal.raw).not.toContain('hunter2')
  })

  it('the person’s own unfinished answer is saved even if the person leaves right after typing', async () => {
    const { request, terminal } = await fixture.openRunWithRequest(approval)
    await terminal.waitFor('[a] Allow')
    terminal.press('R')
    await terminal.waitFor('Reason ›')
    terminal.press('brb')
    await terminal.waitFor('brb')
    process.kill(terminal.pid, 'SIGTERM')
    await terminal.exit
    expect(await savedDraft(request)).toEqual({ reason: 'brb' })
  })
})
