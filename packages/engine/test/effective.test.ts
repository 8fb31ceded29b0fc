/** Tests the field `effective` of resolutions: what the agent may act on, the same in every reply and event. */
import type { Answer, Ask, Effective, Request } from '@holdpoint/protocol'
import { withEffective } from '@holdpoint/protocol'
import { beforeEach, describe, expect, it } from 'vitest'
import type { RequestRow } from '../src/index.ts'
import { approval, type GatewayFixture, openFixture, secretAsk } from './gateway-fixture.ts'

const choice: Ask = {
  kind: 'questions',
  questions: [
    {
      id: 'q',
      header: '',
      question: 'Which?',
      options: [{ label: 'a' }],
      multiSelect: false,
      allowOther: false,
      secret: false,
    },
  ],
}
const form: Ask = {
  kind: 'form',
  title: 'Count',
  message: '',
  schema: { type: 'object', properties: { n: { type: 'integer' } } },
}
const answers = [{ id: 'q', chosen: ['a'] }]
const cases: readonly (readonly [string, Ask, Answer, Effective | undefined])[] = [
  ['the agent’s own input if it is allowed', approval('ls'), { kind: 'allow' }, { input: { command: 'ls' } }],
  [
    'the edited input if a person edited it',
    approval('ls'),
    { kind: 'allow', input: { command: 'ls -l' } },
    { input: { command: 'ls -l' } },
  ],
  ['the answers to questions', choice, { kind: 'answers', answers }, { answers }],
  ['the values of a form', form, { kind: 'submit', values: { n: 1 } }, { values: { n: 1 } }],
  ['nothing if it is denied', approval('ls'), { kind: 'deny' }, undefined],
  ['nothing if it is declined', choice, { kind: 'decline' }, undefined],
]

let fixture: GatewayFixture
let session: Request['session']
beforeEach(async () => {
  fixture = await openFixture()
  session = (await fixture.externalAgent('startSession', { driver: 'external' })).id
})
const open = (ask: Ask, key = 'k') => fixture.externalAgent('openRequest', { id: session, key, ask })
const answer = (request: Request, given: Answer) =>
  fixture.person('answerRequest', { id: request.id, digest: request.digest, answer: given })

describe('the effective part of a resolution', () => {
  it.each(cases)(
    'the effective part of a resolution is %s in every reply that contains the resolution',
    async (_, ask, given, expected) => {
      const watcher = await fixture.subscribe()
      const request = await open(ask)
      const { id } = request
      const replies = [
        await answer(request, given),
        await fixture.person('getRequest', { id }),
        (await fixture.person('listRequests', { session })).items[0],
        await fixture.externalAgent('getRequest', { id }),
        await open(ask),
      ]
      for (const reply of replies) expect(reply?.resolution?.effective).toEqual(expected)
      const resolved = watcher.events.find(event => event.type === 'request.resolved')
      expect(resolved).toMatchObject({ type: 'request.resolved', resolution: replies[0]?.resolution })
      const logged = (await fixture.person('listEvents', { id: session })).items.find(
        event => event.type === 'request.resolved',
      )
      expect(logged).toEqual(resolved)
      const [entry] = (await fixture.person('listAudit', {})).items
      expect(entry).toMatchObject({ resolution: replies[0]?.resolution, value: { resolution: replies[0]?.resolution } })
      const handover = await fixture.externalAgent('handOverRequest', { id })
      expect(handover.effective).toEqual(expected)
      expect(handover.request.resolution?.effective).toEqual(expected)
    },
  )

  it('the effective part of a resolution contains secrets only for the agent', async () => {
    const watcher = await fixture.subscribe()
    const request = await open(secretAsk)
    const reply = await answer(request, { kind: 'answers', answers: [{ id: 'pin', chosen: [], other: '1234' }] })
    const forPeople = [reply, await fixture.person('getRequest', { id: request.id }), ...watcher.events]
    expect(JSON.stringify(forPeople)).not.toContain('1234')
    expect((await fixture.externalAgent('getRequest', { id: request.id })).resolution?.effective).toEqual({
      answers: [{ id: 'pin', chosen: [], other: '1234' }],
    })
  })

  it('the effective part of a resolution is missing if a request was withdrawn or its deadline passed', async () => {
    const withdrawn = await open(approval(), 'withdrawn')
    expect((await fixture.externalAgent('withdrawRequest', { id: withdrawn.id })).resolution).not.toHaveProperty(
      'effective',
    )
    const late = await fixture.externalAgent('openRequest', {
      id: session,
      key: 'late',
      ask: approval(),
      deadlineMs: 1000,
    })
    await fixture.clock.advance(2000)
    expect((await fixture.person('getRequest', { id: late.id })).resolution).not.toHaveProperty('effective')
  })

  it('the effective part of a resolution does not change when it is computed again', () => {
    const once = withEffective(approval('ls'), { at: 1, by: 'person', answer: { kind: 'allow' } })
    expect(withEffective(approval('ls'), once)).toEqual(once)
  })

  it('the effective part of a resolution is not stored in the row, so an answer from Holdpoint 0.1, whose event lacks it, can be handed', async () => {
    const request = await open(approval())
    await fixture.allow(request)
    const row = (await fixture.store.get('request', request.id)) as RequestRow // the request was just opened
    expect(row.resolution).not.toHaveProperty('effective')
    // Write the event again as Holdpoint 0.1 did, and let the row refer to it.
    await fixture.store.commit({
      label: 'older version',
      reads: [{ table: 'request', id: request.id }],
      decide: view => ({
        puts: [{ table: 'request', row: { ...row, resolvedSeq: view.nextSeq } }],
        events: [
          {
            session,
            body: {
              type: 'request.resolved',
              request: request.id,
              digest: request.digest,
              resolution: row.resolution as NonNullable<RequestRow['resolution']>, // `allow` resolved it
              delivery: row.delivery,
            },
          },
        ],
        result: null,
      }),
    })
    expect(await fixture.externalAgent('handOverRequest', { id: request.id })).toMatchObject({
      outcome: 'allow',
      effective: { input: { command: 'ls' } },
    })
  })
})
