/** L6: after a session is deleted, the log still says who deleted it, which part of the log was removed, and who decided what. */

import { verifyChain } from '@holdpoint/store'
import { beforeEach, describe, expect, it } from 'vitest'
import { type AttachedAgent, ada, approval, bob, type GatewayFixture, openFixture } from './gateway-fixture.ts'

let fixture: GatewayFixture
let agent: AttachedAgent
beforeEach(async () => {
  fixture = await openFixture()
  agent = await fixture.startAttached('resumable', { title: 'Spring cleaning' })
})
async function deletions() {
  const { items } = await fixture.person('listAudit', { include: 'notices' })
  return items.flatMap(entry => (entry.kind === 'notice' && entry.event.type === 'session.deleted' ? entry.event : []))
}

describe('L6: deleting a session', () => {
  it('L6: deleting a session is recorded with the person, the client, the removed part of the log, and the decisions without their content', async () => {
    const [first, second] = [await agent.ask('one', approval('secret plan')), await agent.ask('two')]
    await fixture.deny(first, fixture.otherPerson)
    await fixture.person('answerRequest', {
      id: second.id,
      digest: second.digest,
      answer: { kind: 'allow', input: { command: 'ls -l' } },
    })
    const opened = (await fixture.store.get('session', agent.session.id))?.ord
    await fixture.person('endSession', { id: agent.session.id })
    const { seq } = await fixture.store.head()
    await fixture.person('deleteSession', { id: agent.session.id })
    const [deletion] = await deletions()
    expect(deletion).toMatchObject({
      session: agent.session.id,
      by: 'person',
      person: ada.name,
      personId: ada.id,
      via: ada.via,
      first: opened,
      last: seq,
      decisions: [
        { request: first.id, digest: first.digest, by: 'person', person: bob.name, via: bob.via, answer: 'deny' },
        {
          request: second.id,
          digest: second.digest,
          person: ada.name,
          answer: 'allow',
          editedDigest: expect.any(String),
        },
      ],
    })
    const log = JSON.stringify(await fixture.store.events({ limit: 1000 }))
    expect(log).not.toMatch(/secret plan|Spring cleaning|ls -l/)
    expect(await verifyChain(fixture.store)).toMatchObject({ ok: true })
  })
  it('L6: deleting a session after its retention time is recorded as a deletion by retention', async () => {
    const retained = await openFixture({ settings: { retentionMs: 60_000 } })
    const { session } = await retained.startAttached()
    await retained.person('endSession', { id: session.id })
    await retained.clock.advance(62_000)
    expect(await retained.store.get('session', session.id)).toBeUndefined()
    const { items } = await retained.person('listAudit', { include: 'notices' })
    expect(items).toContainEqual(expect.objectContaining({ event: expect.objectContaining({ by: 'retention' }) }))
  })
  it('L6: deleting a session with very many decisions is recorded in several events', async () => {
    await fixture.person('addRule', { effect: 'deny', tool: 'Bash', command: 'ls' })
    for (let n = 0; n < 501; n++) await agent.ask(`k${n}`)
    await fixture.person('endSession', { id: agent.session.id })
    await fixture.person('deleteSession', { id: agent.session.id })
    expect((await deletions()).map(event => event.decisions?.length)).toEqual([500, 1])
    expect(await verifyChain(fixture.store)).toMatchObject({ ok: true })
  })
})
