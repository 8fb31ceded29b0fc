/** Modes: only those that the driver names are taken, wherever a person can choose one. */
import type { Answer, Request, SessionId } from '@holdpoint/protocol'
import { beforeEach, describe, expect, it } from 'vitest'
import { type Driven, type GatewayFixture, refused, resumable, rig, runnerId } from './gateway-fixture.ts'

let at: GatewayFixture
let driven: Driven
let id: SessionId
beforeEach(async () => {
  at = await rig()
  await at.announce(0, [
    { ...resumable, modes: ['default', 'plan'] },
    { ...resumable, name: 'plain' },
  ])
  driven = await at.drive('steady', { mode: 'plan' })
  id = driven.session.id
})
const answer = (request: Request, mode: string) => {
  const allow: Answer = { kind: 'allow', mode }
  return at.person('answerRequest', { id: request.id, digest: request.digest, answer: allow })
}

describe('a mode that the driver does not have', () => {
  it('starts no session, and the modes that there are are named', async () => {
    await expect(at.person('startSession', { driver: 'steady', mode: 'yolo' })).rejects.toMatchObject({
      code: 'unsupported',
      message: 'mode: "yolo" is not a mode of steady; there is default, plan',
    })
  })
  it('changes none: neither the session nor what its agent is told', async () => {
    await refused(at.person('patchSession', { id, mode: 'yolo', title: 'New' }), 'unsupported')
    expect(await at.person('getSession', { id })).toMatchObject({ mode: 'plan', title: 'steady' })
    expect((await at.runner('listCommands', { id })).items).toEqual([])
    expect(await at.person('patchSession', { id, mode: 'default' })).toMatchObject({ mode: 'default' })
  })
  it('is none to allow something into, and the request stays pending', async () => {
    const request = await driven.ask('k')
    await refused(answer(request, 'yolo'), 'answer_mismatch')
    expect(await at.person('getRequest', { id: request.id })).toMatchObject({ status: 'pending' })
    const { items } = await at.person('answerRequests', {
      items: [{ id: request.id, digest: request.digest, answer: { kind: 'allow', mode: 'yolo' } }],
    })
    expect(items).toMatchObject([{ status: 422, error: { code: 'answer_mismatch' } }])
    expect(await answer(request, 'default')).toMatchObject({ status: 'resolved' })
  })
  it('is still known when its runner is away', async () => {
    await at.person('retireRunner', { id: runnerId() })
    await refused(at.person('patchSession', { id, mode: 'yolo' }), 'unsupported')
  })
})

describe('where a driver names no modes', () => {
  it('what it makes of one is its own affair', async () => {
    const plain = await at.drive('plain', { mode: 'anything' })
    expect(await at.person('patchSession', { id: plain.session.id, mode: 'else' })).toMatchObject({ mode: 'else' })
    expect(await answer(await plain.ask('k'), 'else')).toMatchObject({ status: 'resolved' })
  })
  it('nor is it known before a runner was there', async () => {
    await at.person('retireRunner', { id: runnerId() })
    expect(await at.person('startSession', { driver: 'steady', mode: 'yolo' })).toMatchObject({ mode: 'yolo' })
  })
})
