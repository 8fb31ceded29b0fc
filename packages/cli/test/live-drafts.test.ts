/** Answers that are half written, in a real pseudo-terminal: who else writes one, and what was begun elsewhere. */
import { type AnswerDraft, encodeDraft } from '@holdpoint/client'
import type { Ask, Call, Question, Request } from '@holdpoint/protocol'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { withTimeout } from '../../../test/support/event-recorder.ts'
import { closeGateways, shortPause } from '../../../test/support/gateway.ts'
import { decodeDraft } from '../../client/src/draft.ts'
import { approvalAsk } from './support/gateway-fixture.ts'
import { Scene } from './support/session-fixture.ts'
import { closeTerminals, keys } from './support/terminal.ts'

let scene: Scene
let ana: Call
beforeAll(async () => {
  scene = await Scene.open()
  ana = scene.gateway.callAs((await scene.call('addToken', { role: 'person', name: 'ana' })).secret)
})
afterEach(closeTerminals)
afterAll(closeGateways)

const approval = approvalAsk({ command: 'make deploy' })
function questions(more: Partial<Question>[]): Ask {
  const base = { header: '', question: 'Which?', multiSelect: false, allowOther: true, secret: false }
  const options = ['Red', 'Green'].map(label => ({ label }))
  return { kind: 'questions', questions: more.map((one, n) => ({ ...base, id: `q${n}`, options, ...one })) }
}
const put = (call: Call, { id }: Request, draft: AnswerDraft) => call('putDraft', { id, draft: encodeDraft(draft) })
const kept = async ({ id }: Request) => decodeDraft((await scene.call('getDraft', { id })).draft?.draft)
/** What is kept reaches the gateway a moment later, and nobody tells of it. */
async function keeps(request: Request, draft: AnswerDraft): Promise<void> {
  const matches = async () => JSON.stringify(encodeDraft(await kept(request))) === JSON.stringify(encodeDraft(draft))
  await withTimeout(
    (async () => {
      while (!(await matches())) await shortPause()
    })(),
  )
}

describe('someone else’s answer', () => {
  it('that is being written is told of in run, also when it was begun before, and no longer once it is dropped', async () => {
    const session = await scene.session()
    const request = await scene.ask(session, approval)
    await put(ana, request, { reason: 'hm' })
    const terminal = scene.run(session)
    await terminal.sees('ana is answering')
    expect(terminal.text()).not.toContain('hm')
    await ana('deleteDraft', { id: request.id })
    await terminal.seesNot('is answering')
    await put(ana, request, { reason: 'yet' })
    await terminal.sees('ana is answering')
  })

  it('that is being written is told of in tui', async () => {
    const own = await Scene.open()
    const other = own.gateway.callAs((await own.call('addToken', { role: 'person', name: 'bo' })).secret)
    const request = await own.ask(await own.session(), approval)
    const terminal = own.terminal(['tui'])
    await terminal.sees('Enter opens it')
    terminal.press(keys.enter)
    await terminal.sees('[a] Allow')
    await put(other, request, { note: 'hm' })
    await terminal.sees('bo is answering')
  })
})

describe('one’s own answer', () => {
  it('is told to others as soon as it is begun, kept, and gone with the answer', async () => {
    const { request, terminal } = await scene.put(approval)
    await terminal.sees('[a] Allow')
    expect(await ana('getDraft', { id: request.id })).toMatchObject({ others: [] })
    terminal.press('R')
    await terminal.sees('Reason ›')
    await terminal.type('not on a fri')
    await keeps(request, { reason: 'not on a fri' })
    expect(await ana('getDraft', { id: request.id })).toMatchObject({ draft: null, others: ['owner'] })
    terminal.press(keys.escape)
    await terminal.sees('Reason begun: not on a fri')
    terminal.press('R')
    await terminal.sees('Reason › not on a fri▏')
    await terminal.type('day')
    terminal.press(keys.enter)
    expect((await scene.resolved(request)).resolution?.answer).toEqual({ kind: 'deny', reason: 'not on a friday' })
    expect(await kept(request)).toEqual({})
  })

  it('is no draft any more once its words are taken back', async () => {
    const { request, terminal } = await scene.put(approval)
    await terminal.sees('[a] Allow')
    terminal.press('n')
    await terminal.sees('Note ›')
    await terminal.type('hi')
    await keeps(request, { note: 'hi' })
    terminal.press(keys.backspace, keys.backspace)
    await keeps(request, {})
    expect(await ana('getDraft', { id: request.id })).toMatchObject({ others: [] })
  })

  it('begun on the page goes on in the terminal: a note, a reason, an edit', async () => {
    const session = await scene.session()
    const request = await scene.ask(session, approval)
    await put(scene.call, request, { note: 'mind the gap', reason: 'half a', edit: 'make deploy --dry', mode: 'plan' })
    const terminal = scene.run(session, { env: { EDITOR: 'true' } })
    await terminal.sees('With your note: mind the gap')
    await terminal.sees('Reason begun: half a')
    await terminal.sees('Edit begun: e opens it')
    await terminal.sees('[a] Allow')
    expect(terminal.text(), 'what was begun is not what is allowed').not.toContain('--dry')
    terminal.press('e')
    await terminal.sees('Changed by you')
    expect(terminal.text()).toContain('make deploy --dry')
    terminal.press('n')
    await terminal.sees('Note › mind the gap▏')
    await terminal.type('!')
    await keeps(request, { note: 'mind the gap!', reason: 'half a', edit: 'make deploy --dry', mode: 'plan' })
  })

  it('of questions is kept but for its secrets, and goes on from there', async () => {
    const ask = questions([{}, { options: [] }, { options: [], secret: true }])
    const { request, session, terminal } = await scene.put(ask)
    await terminal.sees('Enter confirms')
    terminal.press('2')
    await terminal.sees('› 2  Green')
    terminal.press(keys.enter)
    await terminal.sees('Answer ›')
    await terminal.type('soon')
    terminal.press(keys.enter)
    await terminal.sees('Secret ›')
    await terminal.type('hunter2')
    const answers = new Map([
      ['q0', { chosen: ['Green'] }],
      ['q1', { chosen: [], other: 'soon', own: true }],
    ])
    await keeps(request, { answers })
    terminal.close()
    const again = scene.run(session)
    await again.sees('› 2  Green')
    await again.sees('Enter confirms')
    again.press(keys.enter)
    await again.sees('Answer › soon▏')
    expect(await kept(request), 'reading changes nothing').toEqual({ answers })
  })

  it('that was confirmed and is changed elsewhere is put again before it is sent', async () => {
    const session = await scene.session()
    const request = await scene.ask(session, questions([{ question: 'Drop it?' }, { question: 'Greet?' }]))
    const both = (first: string) =>
      new Map([
        ['q0', { chosen: [first] }],
        ['q1', { chosen: ['Green'] }],
      ])
    await put(scene.call, request, { answers: both('Red') })
    const terminal = scene.run(session)
    await terminal.sees('› 1  Red')
    await terminal.sees('Enter confirms')
    terminal.press(keys.enter)
    await terminal.sees('Greet?')
    await put(scene.call, request, { answers: both('Green') })
    await terminal.sees('changed elsewhere')
    expect(terminal.text()).toContain('Drop it?')
    expect(terminal.text()).toContain('› 2  Green')
    terminal.press(keys.enter)
    await terminal.sees('Greet?')
    expect((await scene.now(request)).status).toBe('pending')
    terminal.press(keys.enter)
    const answers = [...both('Green')].map(([id, choice]) => ({ id, ...choice }))
    expect((await scene.resolved(request)).resolution?.answer).toEqual({ kind: 'answers', answers })
  })

  it('of a form is kept but for its secrets, and goes on from there', async () => {
    const properties = {
      to: { type: 'string' as const },
      gift: { type: 'boolean' as const },
      extras: { type: 'array' as const, items: { type: 'string' as const, enum: ['bow', 'card'] } },
      pass: { type: 'string' as const, format: 'password' },
    }
    const ask: Ask = { kind: 'form', title: 'Parcel', message: '', schema: { type: 'object', properties } }
    const { request, session, terminal } = await scene.put(ask)
    await terminal.sees('Enter next')
    await terminal.type('Ana')
    terminal.press(keys.enter)
    await terminal.sees('› gift')
    terminal.press('y')
    await terminal.sees('› 1  Yes')
    terminal.press(keys.enter)
    await terminal.sees('› extras')
    terminal.press('2')
    await terminal.sees('[x] card')
    terminal.press(keys.enter)
    await terminal.sees('› pass')
    await terminal.type('hunter2')
    expect(terminal.text()).toContain('•••••••▏')
    const values = new Map<string, string | boolean | readonly string[]>([
      ['to', 'Ana'],
      ['gift', true],
      ['extras', ['card']],
    ])
    await keeps(request, { values })
    terminal.close()
    const again = scene.run(session)
    await again.sees('› Ana▏')
    expect(again.raw + terminal.raw).not.toContain('hunter2')
  })

  it('is kept when the person leaves at once', async () => {
    const { request, terminal } = await scene.put(approval)
    await terminal.sees('[a] Allow')
    terminal.press('R')
    await terminal.sees('Reason ›')
    terminal.press('brb')
    await terminal.sees('brb')
    process.kill(terminal.pid, 'SIGTERM')
    await terminal.exit
    expect(await kept(request)).toEqual({ reason: 'brb' })
  })
})
