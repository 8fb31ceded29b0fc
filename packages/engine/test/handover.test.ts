/** Handing an answer to an external agent: `handOverRequest` returns the answer and records the hand-over in one step, and an allow is handed once. */
import type { Answer, Request } from '@holdpoint/protocol'
import { beforeEach, describe, expect, it } from 'vitest'
import {
  approval,
  expectFault,
  type GatewayFixture,
  openFixture,
  runPendingWork,
  secretAsk,
} from './gateway-fixture.ts'

let fixture: GatewayFixture
let id: Request['session']
let pending: Request
beforeEach(async () => {
  fixture = await openFixture()
  id = (await fixture.externalAgent('startSession', { driver: 'external' })).id
})
const ask = (key: string, what = approval()) => fixture.externalAgent('openRequest', { id, key, ask: what })
const handOver = (request: Request, options?: { idempotencyKey: string }) =>
  fixture.externalAgent('handOverRequest', { id: request.id }, options)
const report = (request: Request, options?: { idempotencyKey: string }) =>
  fixture.externalAgent('reportDelivery', { id: request.id, state: 'handed' }, options)
/** Runs all calls at once and returns the codes of the faults, and `ok` for successes. */
async function outcomes(calls: readonly Promise<unknown>[]): Promise<string[]> {
  const settled = await Promise.allSettled(calls)
  return settled.map(result => (result.status === 'fulfilled' ? 'ok' : (result.reason as { code: string }).code)).sort()
}

describe('handOverRequest', () => {
  it('handOverRequest returns the answer and records that it was handed', async () => {
    const request = await ask('k')
    expect(await handOver(request)).toMatchObject({ outcome: 'pending', request: { status: 'pending' } })
    await fixture.allow(request)
    expect(await handOver(request)).toMatchObject({
      outcome: 'allow',
      effective: { input: { command: 'ls' } },
      request: { id: request.id, delivery: { state: 'handed' } },
    })
    expect((await fixture.eventTypes()).filter(type => type === 'request.handed')).toHaveLength(1)
    expect(await fixture.externalAgent('reportDelivery', { id: request.id, state: 'taken' })).toMatchObject({
      delivery: { state: 'taken' },
    })
  })
  it('handOverRequest returns edited inputs, secrets and denials, and the outcome “nobody” if nobody answered', async () => {
    const edited = await ask('edited')
    const answer = { kind: 'allow', input: { command: 'ls -l' } } as const
    await fixture.person('answerRequest', { id: edited.id, digest: edited.digest, answer })
    expect(await handOver(edited)).toMatchObject({ outcome: 'allow', effective: { input: answer.input } })
    const secret = await ask('secret', secretAsk)
    const answers: Answer = { kind: 'answers', answers: [{ id: 'pin', chosen: [], other: '1234' }] }
    await fixture.person('answerRequest', {
      id: secret.id,
      digest: secret.digest,
      answer: answers,
    })
    expect(await handOver(secret)).toMatchObject({
      outcome: 'answers',
      effective: { answers: answers.answers },
    })
    const denied = await ask('denied')
    await fixture.deny(denied)
    expect(await handOver(denied)).toMatchObject({ outcome: 'deny' })
    expect(await handOver(denied), 'a denial may be handed again').toMatchObject({ outcome: 'deny' })
    const late = await fixture.externalAgent('openRequest', { id, key: 'late', ask: approval(), deadlineMs: 1000 })
    await fixture.clock.advance(2000)
    const nobody = await handOver(late)
    expect(nobody.outcome).toBe('nobody')
    expect(nobody).not.toHaveProperty('effective')
  })
  it('handOverRequest returns the reason of a denial, and the note of an allow, only if there is one', async () => {
    const answered = async (key: string, answer: Answer) => {
      const request = await ask(key)
      await fixture.person('answerRequest', { id: request.id, digest: request.digest, answer })
      return handOver(request)
    }
    const noted = await answered('noted', { kind: 'allow', note: 'only this once' })
    expect(noted).toMatchObject({ outcome: 'allow', note: 'only this once' })
    expect(noted).not.toHaveProperty('reason')
    const denied = await answered('denied', { kind: 'deny', reason: 'use the other folder' })
    expect(denied).toMatchObject({ outcome: 'deny', reason: 'use the other folder' })
    expect(denied).not.toHaveProperty('note')
    const plain = await answered('plain', { kind: 'allow' })
    expect(plain).not.toHaveProperty('reason')
    expect(plain).not.toHaveProperty('note')
    const late = await fixture.externalAgent('openRequest', { id, key: 'late', ask: approval(), deadlineMs: 1000 })
    await fixture.clock.advance(2000)
    expect(await handOver(late)).toMatchObject({ outcome: 'nobody', reason: 'nobody answered' })
  })
  it('handOverRequest waits until a person answers', async () => {
    const request = await ask('k')
    const waiting = fixture.externalAgent('handOverRequest', { id: request.id, wait: 60_000 })
    await runPendingWork()
    await fixture.allow(request)
    expect(await waiting).toMatchObject({ outcome: 'allow', request: { delivery: { state: 'handed' } } })
  })
  it('handOverRequest returns “pending” and records nothing if nobody answers in time, and can be repeated with the same key', async () => {
    const request = await ask('k')
    const input = { id: request.id, wait: 10_000 }
    const waiting = fixture.externalAgent('handOverRequest', input, { idempotencyKey: 'h' })
    await runPendingWork()
    await fixture.clock.advance(10_000)
    expect(await waiting).toMatchObject({ outcome: 'pending', request: { status: 'pending' } })
    await fixture.allow(request)
    expect(await fixture.externalAgent('handOverRequest', input, { idempotencyKey: 'h' })).toMatchObject({
      outcome: 'allow',
    })
  })
  it('handOverRequest gives an allow to only one of many callers that wait for the answer', async () => {
    const request = await ask('k')
    const calls = Array.from({ length: 4 }, () =>
      fixture.externalAgent('handOverRequest', { id: request.id, wait: 60_000 }),
    )
    const settled = outcomes(calls)
    await runPendingWork()
    await fixture.allow(request)
    expect(await settled).toEqual(['already_resolved', 'already_resolved', 'already_resolved', 'ok'])
  })
  it.each([
    ['withdrawn', () => fixture.externalAgent('withdrawRequest', { id: pending.id })],
    ['interrupted', () => fixture.person('interruptSession', { id })],
    ['session_ended', () => fixture.person('endSession', { id })],
  ] as const)('handOverRequest returns “%s” if the request no longer needs an answer', async (outcome, stop) => {
    pending = await ask('k')
    const waiting = fixture.externalAgent('handOverRequest', { id: pending.id, wait: 60_000 })
    await runPendingWork()
    await stop()
    const handover = await waiting
    expect(handover.outcome).toBe(outcome)
    expect(handover).not.toHaveProperty('effective')
  })
  it('handOverRequest does not wait for a caller that is not the agent', async () => {
    const request = await ask('k')
    const input = { id: request.id, wait: 60_000 }
    await expectFault(fixture.otherAgent('handOverRequest', input), 'not_found')
    await expectFault(fixture.person('handOverRequest', input), 'forbidden')
    await expectFault(fixture.externalAgent('handOverRequest', { ...input, fence: 7 }), 'fenced')
  })
  it('handOverRequest leaves handed answers as taken if the agent ends its session as done', async () => {
    const requests = [await ask('allowed'), await ask('not handed'), await ask('pending')]
    const [allowed, notHanded] = requests as [Request, Request, Request]
    await fixture.allow(allowed)
    await fixture.allow(notHanded)
    await handOver(allowed)
    await fixture.externalAgent('detachSession', { id, ending: { reason: 'done' } })
    const states = requests.map(
      async request => (await fixture.person('getRequest', { id: request.id })).delivery.state,
    )
    expect(await Promise.all(states)).toEqual(['taken', 'undeliverable', 'taken'])
  })
  it.each(['failed', 'lost'] as const)(
    'handOverRequest leaves handed answers as unknown if the agent ends its session as %s',
    async reason => {
      const request = await ask('k')
      await fixture.allow(request)
      await handOver(request)
      await fixture.externalAgent('detachSession', { id, ending: { reason } })
      expect((await fixture.person('getRequest', { id: request.id })).delivery.state).toBe('unknown')
    },
  )
  it('F11c: handOverRequest succeeds for one of many concurrent calls for an allow, and the others get 409', async () => {
    const request = await ask('k')
    await fixture.allow(request)
    const calls = [
      ...Array.from({ length: 4 }, () => handOver(request)),
      ...Array.from({ length: 4 }, () => report(request)),
    ]
    expect(await outcomes(calls)).toEqual([...Array.from({ length: 7 }, () => 'already_resolved'), 'ok'])
  })
  it('F11c: a repeated call with the same idempotency key gets the same answer as long as the answer has not been taken', async () => {
    const request = await ask('k')
    await fixture.allow(request)
    const once = { idempotencyKey: 'h' }
    const first = await handOver(request, once)
    expect(await handOver(request, once)).toEqual(first)
    await expectFault(handOver(request, { idempotencyKey: 'other' }), 'already_resolved')
    await fixture.externalAgent('attachSession', { id })
    await expect(handOver(request, once)).rejects.toMatchObject({
      code: 'already_resolved',
      message: expect.stringContaining('unknown'),
    })
  })
  it('F11c: a report without a fence is accepted once for an allow, and again only with its idempotency key', async () => {
    const request = await ask('k')
    await fixture.allow(request)
    const once = { idempotencyKey: 'h' }
    await report(request, once)
    expect(await report(request, once)).toMatchObject({ delivery: { state: 'handed' } })
    await expectFault(report(request), 'already_resolved')
  })
  it('handOverRequest accepts a report of the same hand-over again under the fence', async () => {
    const { fence } = await fixture.externalAgent('attachSession', { id })
    const request = await ask('k')
    await fixture.allow(request)
    const input = { id: request.id, state: 'handed', fence } as const
    await fixture.externalAgent('reportDelivery', input)
    expect(await fixture.externalAgent('reportDelivery', input)).toMatchObject({ delivery: { state: 'handed' } })
    await expectFault(fixture.externalAgent('handOverRequest', { id: request.id, fence }), 'already_resolved')
  })
  it('handOverRequest gives the same reply for another agent’s request as for an unknown id', async () => {
    const request = await ask('k')
    await fixture.allow(request)
    await expect(fixture.otherAgent('handOverRequest', { id: request.id })).rejects.toMatchObject({
      code: 'not_found',
      message: `There is no request ${request.id}`,
      detail: { id: request.id },
    })
  })
})
