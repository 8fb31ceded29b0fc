/** Tests comments on lines, and questions that people ask back: what is stored, what the agent gets, and which request follows which. */
import type { Answer, Ask, Comment, Request } from '@holdpoint/protocol'
import { beforeEach, describe, expect, it } from 'vitest'
import { approval, expectFault, type GatewayFixture, openFixture } from './gateway-fixture.ts'

const comment: Comment = { line: 1, quote: 'ls', text: 'List the hidden files too.' }
const agentText = 'The person commented on these lines:\n\nLine 1 of the command:\n> ls\nList the hidden files too.'

let fixture: GatewayFixture
let session: Request['session']
beforeEach(async () => {
  fixture = await openFixture()
  session = (await fixture.externalAgent('startSession', { driver: 'external' })).id
})
const open = (key: string, ask: Ask = approval(), agentPath: string[] = []) =>
  fixture.externalAgent('openRequest', { id: session, key, ask, agentPath })
const answer = (request: Request, given: Answer) =>
  fixture.person('answerRequest', { id: request.id, digest: request.digest, answer: given })
const handOver = ({ id }: Request) => fixture.externalAgent('handOverRequest', { id })

describe('comments on lines', () => {
  it('comments on lines reach an HTTP agent as the reason of a denial, and people see them as they were written', async () => {
    const request = await open('k')
    const { resolution } = await answer(request, { kind: 'deny', comments: [comment] })
    expect(resolution).toMatchObject({ answer: { kind: 'deny', comments: [comment] }, agentText })
    expect(resolution?.effective).toBeUndefined()
    expect(await handOver(request)).toMatchObject({ outcome: 'deny', reason: agentText })
    const entry = (await fixture.person('listAudit', { q: 'hidden files' })).items[0]
    expect(entry).toMatchObject({ resolution: { answer: { comments: [comment] }, agentText } })
  })
  it('comments on lines reach an HTTP agent as the note of an allow', async () => {
    const request = await open('k')
    await answer(request, { kind: 'allow', note: 'Fine.', comments: [comment] })
    expect(await handOver(request)).toMatchObject({
      outcome: 'allow',
      effective: { input: { command: 'ls' } },
      note: `Fine.\n\n${agentText}`,
    })
  })
  it('comments on lines do not change the digest, and are stored in the log without the text for the agent', async () => {
    const watcher = await fixture.subscribe()
    const request = await open('k')
    const answered = await answer(request, { kind: 'deny', comments: [comment] })
    expect(answered.digest).toBe(request.digest)
    const event = watcher.events.find(({ type }) => type === 'request.resolved')
    expect(event).toMatchObject({ resolution: { answer: { comments: [comment] } } })
    expect(event).not.toHaveProperty('resolution.agentText')
  })
})

describe('asking back', () => {
  const askBack: Answer = { kind: 'deny', reason: 'Why do you need this?', askBack: true }

  it('asking back tells the agent the question, and links its next request to the earlier request', async () => {
    const first = await open('first')
    await answer(first, askBack)
    expect(await handOver(first)).toMatchObject({
      outcome: 'deny',
      reason: expect.stringContaining('asks you this first:\n\nWhy do you need this?'),
    })
    const second = await open('second')
    expect(second).toMatchObject({ follows: first.id })
    expect(await fixture.person('getRequest', { id: second.id })).toMatchObject({ follows: first.id })
    expect(await open('third')).not.toHaveProperty('follows')
  })
  it('asking back links only a request of the same subagent', async () => {
    const first = await open('first', approval(), ['explore'])
    await answer(first, askBack)
    expect(await open('other')).not.toHaveProperty('follows')
    expect(await open('second', approval(), ['explore'])).toMatchObject({ follows: first.id })
  })
  it('asking back links several requests in the order of the questions', async () => {
    const [first, second] = [await open('first'), await open('second')]
    await answer(second, askBack)
    await answer(first, askBack)
    expect(await open('third')).toMatchObject({ follows: second.id })
    expect(await open('fourth')).toMatchObject({ follows: first.id })
  })
  it('asking back does not link a request to itself if the agent repeats the ask with the same key', async () => {
    const first = await open('first')
    await answer(first, askBack)
    expect(await open('first')).not.toHaveProperty('follows')
    expect(await open('second')).toMatchObject({ follows: first.id })
    expect(await open('second')).toMatchObject({ follows: first.id })
  })
  it('asking back keeps the link for a request that a person has to answer', async () => {
    await fixture.person('addRule', { effect: 'deny', command: 'git push' })
    const first = await open('first')
    await answer(first, askBack)
    expect(await open('by rule', approval('git push'))).toMatchObject({ status: 'resolved' })
    expect(await open('second')).toMatchObject({ follows: first.id })
    expect(await open('third')).not.toHaveProperty('follows')
  })
  it('asking back is refused for a denial without a question', async () => {
    const request = await open('k')
    await expectFault(answer(request, { kind: 'deny', askBack: true }), 'answer_mismatch')
  })
})
