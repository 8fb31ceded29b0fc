/** Tests modes: every operation that takes a mode accepts only those that the driver lists. */
import type { Answer, Request, SessionId } from '@holdpoint/protocol'
import { beforeEach, describe, expect, it } from 'vitest'
import {
  type AttachedAgent,
  expectFault,
  type GatewayFixture,
  openFixture,
  resumable,
  runnerId,
} from './gateway-fixture.ts'

let fixture: GatewayFixture
let agent: AttachedAgent
let id: SessionId
beforeEach(async () => {
  fixture = await openFixture()
  await fixture.announce(0, [
    { ...resumable, modes: ['default', 'plan'] },
    { ...resumable, name: 'plain' },
  ])
  agent = await fixture.startAttached('resumable', { mode: 'plan' })
  id = agent.session.id
})
const answer = (request: Request, mode: string) => {
  const allow: Answer = { kind: 'allow', mode }
  return fixture.person('answerRequest', { id: request.id, digest: request.digest, answer: allow })
}

describe('a mode that the driver does not list', () => {
  it('a mode that the driver does not list is refused by startSession with an error that lists the available modes', async () => {
    await expect(fixture.person('startSession', { driver: 'resumable', mode: 'yolo' })).rejects.toMatchObject({
      code: 'unsupported',
      message: 'mode: "yolo" is not a mode of resumable. Available: default, plan',
    })
  })
  it('a mode that the driver does not list is refused by patchSession, and the session does not change', async () => {
    await expectFault(fixture.person('patchSession', { id, mode: 'yolo', title: 'New' }), 'unsupported')
    expect(await fixture.person('getSession', { id })).toMatchObject({ mode: 'plan', title: 'resumable' })
    expect((await fixture.runner('listCommands', { id })).items).toEqual([])
    expect(await fixture.person('patchSession', { id, mode: 'default' })).toMatchObject({ mode: 'default' })
  })
  it('a mode that the driver does not list is refused in an allow answer, and the request stays pending', async () => {
    const request = await agent.ask('k')
    await expectFault(answer(request, 'yolo'), 'answer_mismatch')
    expect(await fixture.person('getRequest', { id: request.id })).toMatchObject({ status: 'pending' })
    const { items } = await fixture.person('answerRequests', {
      items: [{ id: request.id, digest: request.digest, answer: { kind: 'allow', mode: 'yolo' } }],
    })
    expect(items).toMatchObject([{ status: 422, error: { code: 'answer_mismatch' } }])
    expect(await answer(request, 'default')).toMatchObject({ status: 'resolved' })
  })
  it('a mode that the driver does not list is still refused after the runner of the session has retired', async () => {
    await fixture.person('retireRunner', { id: runnerId() })
    await expectFault(fixture.person('patchSession', { id, mode: 'yolo' }), 'unsupported')
  })
})

describe('a driver that lists no modes', () => {
  it('a driver that lists no modes accepts any mode', async () => {
    const plain = await fixture.startAttached('plain', { mode: 'anything' })
    expect(await fixture.person('patchSession', { id: plain.session.id, mode: 'else' })).toMatchObject({ mode: 'else' })
    expect(await answer(await plain.ask('k'), 'else')).toMatchObject({ status: 'resolved' })
  })
  it('a driver that lists no modes accepts any mode if no runner is live yet', async () => {
    await fixture.person('retireRunner', { id: runnerId() })
    expect(await fixture.person('startSession', { driver: 'resumable', mode: 'yolo' })).toMatchObject({ mode: 'yolo' })
  })
})
