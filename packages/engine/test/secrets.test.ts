/** Secret answers: who can read them until when, what is stored, and what happens to their keys. */
import type { Answer, Input } from '@holdpoint/protocol'
import { beforeEach, describe, expect, it } from 'vitest'
import {
  type AttachedAgent,
  ada,
  expectFault,
  type GatewayFixture,
  openFixture,
  secretAsk,
  secretForm,
} from './gateway-fixture.ts'

const canary = 'tulip4711'
const pin = (other: string): Answer => ({ kind: 'answers', answers: [{ id: 'pin', chosen: [], other }] })
const masked = { kind: 'answers', answers: [{ id: 'pin', chosen: [], other: '••••••' }] }

let fixture: GatewayFixture
let agent: AttachedAgent
beforeEach(async () => {
  fixture = await openFixture()
  agent = await fixture.startAttached()
})
const keyIds = () => fixture.store.keys.list(0)
const answer = (request: { id: string; digest: string }, given: Answer, key?: string) =>
  fixture.gateway
    .dispatch(
      ada,
      'answerRequest',
      { id: request.id, digest: request.digest, answer: given } as Input<'answerRequest'>, // the ids come from the gateway
      key === undefined ? {} : { idempotencyKey: key },
    )
    .then(reply => reply.body)
const asAgent = (id: string) => fixture.runner('getRequest', { id } as Input<'getRequest'>) // the id comes from the gateway
/** Everything that the store keeps: all rows of all tables, and all events. */
async function everything(): Promise<string> {
  const tables = ['session', 'request', 'command', 'runner', 'draft', 'idempotency', 'token', 'rule'] as const
  const rows = await Promise.all(tables.map(table => fixture.store.find(table, {})))
  return JSON.stringify([rows, await fixture.store.events({ limit: 10_000 })])
}

describe('L1: a secret answer', () => {
  it('the agent can read a secret answer until it is taken, and no row or event ever contains it', async () => {
    const request = await agent.ask('k', secretAsk)
    const reply = await answer(request, pin(canary), 'once')
    expect(reply.resolution?.answer).toEqual(masked)
    expect(await everything()).not.toContain(canary)
    expect((await asAgent(request.id)).resolution?.answer).toEqual(pin(canary))
    expect((await agent.ask('k', secretAsk)).resolution?.answer).toEqual(pin(canary))
    expect((await agent.report(request, 'handed')).resolution?.answer).toEqual(pin(canary))
    expect(await everything()).not.toContain(canary)
    expect(await keyIds()).toHaveLength(1)
    expect((await agent.report(request, 'taken')).resolution?.answer).toEqual(masked)
    expect(await keyIds()).toEqual([])
    expect((await asAgent(request.id)).resolution?.answer).toEqual(masked)
    expect(await everything()).not.toContain(canary)
    expect((await fixture.store.get('request', request.id))?.sealed).toBeNull()
  })
  it('a submitted form hides only its secret fields, for every type of field', async () => {
    const request = await agent.ask('k', secretForm)
    const values = { name: 'ada', pass: canary, pin: 918_273 }
    await answer(request, { kind: 'submit', values })
    const stored = await everything()
    expect(stored).not.toMatch(/tulip4711|918273/)
    expect(stored).toContain('"name":"ada"')
    expect((await asAgent(request.id)).resolution?.answer).toEqual({ kind: 'submit', values })
    expect((await fixture.person('getRequest', { id: request.id })).resolution?.answer).toEqual({
      kind: 'submit',
      values: { name: 'ada', pass: '••••••', pin: '••••••' },
    })
  })
  it('the stored answer hides which option of a secret question was chosen', async () => {
    const options = [{ label: 'Red' }, { label: 'Blue' }]
    const base = { header: 'C', question: 'Colour?', multiSelect: false, allowOther: false }
    const request = await agent.ask('k', {
      kind: 'questions',
      questions: [
        { ...base, id: 'hidden', options, secret: true },
        { ...base, id: 'open', options, secret: false },
      ],
    })
    const answers = [
      { id: 'hidden', chosen: ['Blue'] },
      { id: 'open', chosen: ['Red'] },
    ]
    await answer(request, { kind: 'answers', answers })
    expect((await fixture.person('getRequest', { id: request.id })).resolution?.answer).toEqual({
      kind: 'answers',
      answers: [
        { id: 'hidden', chosen: [], other: '••••••' },
        { id: 'open', chosen: ['Red'] },
      ],
    })
    expect((await asAgent(request.id)).resolution?.answer).toEqual({ kind: 'answers', answers })
  })
  it('a secret cannot be read in a list, by a person, or after the request was withdrawn', async () => {
    const request = await agent.ask('k', secretAsk)
    await answer(request, pin(canary))
    const { id: session } = agent.session
    expect(JSON.stringify(await fixture.runner('listRequests', { session }))).not.toContain(canary)
    expect(JSON.stringify(await fixture.person('listRequests', { session }))).not.toContain(canary)
    await fixture.runner('withdrawRequest', { id: request.id, fence: agent.fence })
    expect(JSON.stringify(await asAgent(request.id))).not.toContain(canary)
    expect(await keyIds()).toEqual([])
  })
})

describe('the key of a secret answer', () => {
  it('the key of a secret answer is deleted when the session ends before the agent has taken the answer', async () => {
    await answer(await agent.ask('k', secretAsk), pin(canary))
    await fixture.person('endSession', { id: agent.session.id })
    expect(await keyIds()).toEqual([])
  })
  it('the key of an unknown answer is kept, because the answer may be handed again, and deleted once the session has ended', async () => {
    const request = await agent.ask('k', secretAsk)
    await answer(request, pin(canary))
    await agent.report(request, 'handed')
    await fixture.clock.advance(20_000)
    expect((await fixture.person('getRequest', { id: request.id })).delivery.state).toBe('unknown')
    await fixture.announce()
    const again = await fixture.attach(agent.session.id)
    expect((await again.report(request, 'handed')).resolution?.answer).toEqual(pin(canary))
    await fixture.clock.advance(20_000)
    await fixture.person('endSession', { id: agent.session.id })
    fixture.store.keys.list = () => Promise.resolve([keyOf])
    const keyOf = String((await fixture.store.get('request', request.id))?.sealed?.key)
    await fixture.clock.advance(11_000)
    expect(await fixture.store.keys.get(keyOf)).toBeUndefined()
    expect((await fixture.store.get('request', request.id))?.sealed).toBeNull()
  })
  it('the sweep deletes the key of an answer that was never stored', async () => {
    const request = await agent.ask('k', secretAsk)
    const orphan = `${request.id}.abc`
    await fixture.store.keys.put(orphan, 'key')
    const { list } = fixture.store.keys
    fixture.store.keys.list = () => list.call(fixture.store.keys, 0)
    await fixture.clock.advance(11_000)
    expect(await fixture.store.keys.get(orphan)).toBeUndefined()
  })
  it('the key of an answer that came too late is deleted at once', async () => {
    const request = await agent.ask('k', secretAsk)
    const outcomes = await Promise.allSettled([
      answer(request, pin(canary)),
      fixture.otherPerson('answerRequest', { id: request.id, digest: request.digest, answer: pin('other') }),
    ])
    expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
    expect(await keyIds()).toHaveLength(1)
    expect((await asAgent(request.id)).resolution?.answer).toEqual(pin(canary))
  })
  it('a lost key makes the answer undeliverable, and the agent does not get the mask', async () => {
    const request = await agent.ask('k', secretAsk)
    await answer(request, pin(canary))
    await fixture.store.keys.delete(await keyIds())
    await expectFault(agent.report(request, 'handed'), 'gone')
    expect((await fixture.person('getRequest', { id: request.id })).delivery).toMatchObject({
      state: 'undeliverable',
      reason: 'the secret in the answer is no longer available',
    })
  })
})

describe('repeating a secret answer', () => {
  it('an answer repeated with its idempotency key succeeds if the secret is the same, and fails if it differs', async () => {
    const request = await agent.ask('k', secretAsk)
    await answer(request, pin(canary), 'once')
    expect((await answer(request, pin(canary), 'once')).resolution?.answer).toEqual(masked)
    await expectFault(answer(request, pin('another'), 'once'), 'idempotency_mismatch')
    expect(await keyIds()).toHaveLength(1)
  })
  it('two concurrent answers with the same idempotency key store one answer', async () => {
    const request = await agent.ask('k', secretAsk)
    const replies = await Promise.all([1, 2, 3].map(() => answer(request, pin(canary), 'once')))
    for (const reply of replies) expect(reply.resolution?.answer).toEqual(masked)
    expect(await keyIds()).toHaveLength(1)
    expect((await asAgent(request.id)).resolution?.answer).toEqual(pin(canary))
  })
  it('an answer repeated without a key succeeds for the same person and secret, and is a conflict otherwise', async () => {
    const request = await agent.ask('k', secretAsk)
    await answer(request, pin(canary))
    await answer(request, pin(canary))
    await expectFault(answer(request, pin('another')), 'already_resolved')
  })
  it('an answer repeated after the agent took it is compared without its secret, which is no longer stored', async () => {
    const request = await agent.ask('k', secretAsk)
    await answer(request, pin(canary), 'once')
    await agent.report(request, 'handed')
    await agent.report(request, 'taken')
    expect((await answer(request, pin(canary), 'once')).resolution?.answer).toEqual(masked)
  })
})

describe('a draft of a request with secret fields', () => {
  const draft = (id: string, value: unknown) => fixture.person('putDraft', { id, draft: value } as Input<'putDraft'>) // the id comes from the gateway
  it('a draft with a value for a secret field is refused, in every format', async () => {
    const question = await agent.ask('q', secretAsk)
    const form = await agent.ask('f', secretForm)
    await expectFault(
      draft(question.id, { version: 1, answers: [{ id: 'pin', chosen: [], other: canary }] }),
      'bad_input',
    )
    await expectFault(draft(question.id, { pin: canary }), 'bad_input')
    await expectFault(draft(form.id, { version: 1, values: [{ name: 'pass', raw: canary }] }), 'bad_input')
    await expectFault(draft(form.id, { deep: { values: { pin: 4711 } } }), 'bad_input')
    expect(await fixture.store.count('draft', {})).toBe(0)
  })
  it('a draft without secrets is stored', async () => {
    const form = await agent.ask('f', secretForm)
    await draft(form.id, {
      version: 1,
      values: [
        { name: 'name', raw: 'ada' },
        { name: 'pass', raw: '' },
      ],
    })
    await draft((await agent.ask('q', secretAsk)).id, { version: 1, note: 'pin' })
    expect(await fixture.store.count('draft', {})).toBe(2)
  })
})
