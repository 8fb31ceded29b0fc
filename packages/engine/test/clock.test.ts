/** Tests deadlines, leases and credentials on a clock that is set forward and back, and the events that record such jumps. */
import { beforeEach, describe, expect, it } from 'vitest'
import { approval, expectFault, type GatewayFixture, openFixture } from './gateway-fixture.ts'

const hour = 3600_000
let fixture: GatewayFixture
beforeEach(async () => {
  fixture = await openFixture()
})
async function jumps(): Promise<number[]> {
  const { items } = await fixture.person('listAudit', { include: 'notices' })
  return items.flatMap(entry => (entry.kind === 'notice' && entry.event.type === 'clock.jumped' ? entry.event.ms : []))
}

describe('F17: a clock that was set forward and back', () => {
  it('a deadline of 2 s passes after 2 s although the clock was set forward and back, and the audit log has both jumps', async () => {
    fixture.clock.jump(2 * hour)
    await fixture.clock.advance(500)
    fixture.clock.jump(-2 * hour)
    await fixture.clock.advance(500)
    const agent = await fixture.startAttached()
    const { id } = await agent.ask('k', approval(), { deadlineMs: 2000, onDeadline: 'deny' })
    await fixture.clock.advance(1900)
    expect((await fixture.person('getRequest', { id })).status).toBe('pending')
    await fixture.clock.advance(700)
    expect((await fixture.person('getRequest', { id })).resolution).toMatchObject({ by: 'deadline' })
    expect(await jumps()).toEqual([2 * hour, -2 * hour])
  })
  it('a sign-in link expires after its ten minutes, even if the clock was set forward and back by twelve years', async () => {
    fixture.clock.jump(12 * 365 * 24 * hour)
    await fixture.clock.advance(500)
    fixture.clock.jump(-12 * 365 * 24 * hour)
    await fixture.clock.advance(500)
    const { code } = await fixture.person('makeLink', {})
    await fixture.clock.advance(11 * 60_000)
    await expectFault(fixture.gateway.redeemLink(code), 'unauthenticated')
  })
})

describe('T1: setting the clock', () => {
  it('setting the clock forward makes a deadline pass as “nobody answered”, and setting it back does not make the request pending again', async () => {
    const agent = await fixture.startAttached()
    const request = await agent.ask('k', approval(), { deadlineMs: 30 * 60_000, onDeadline: 'deny' })
    fixture.clock.jump(hour)
    await fixture.clock.advance(500)
    fixture.clock.jump(-hour)
    await fixture.clock.advance(500)
    expect((await fixture.person('getRequest', { id: request.id })).resolution).toMatchObject({
      by: 'deadline',
      reason: 'nobody answered',
    })
    await expectFault(fixture.allow(request), 'already_resolved')
  })
  it('setting the clock back does not give a request more time', async () => {
    const agent = await fixture.startAttached()
    const request = await agent.ask('k', approval(), { deadlineMs: 60_000, onDeadline: 'deny' })
    fixture.clock.jump(-24 * hour)
    await fixture.clock.advance(63_000)
    expect((await fixture.person('getRequest', { id: request.id })).resolution).toMatchObject({ by: 'deadline' })
    expect(await jumps()).toEqual([-24 * hour])
  })
  it('a clock jump is recorded once if a second gateway on the same store notices the jump too', async () => {
    fixture.clock.jump(hour)
    await fixture.clock.advance(500)
    const [jump] = [{ ms: hour + 40, aheadMs: 0, atStart: false }]
    fixture.store.takeClockJumps = () => (jump ? [jump] : [])
    await fixture.clock.advance(500)
    expect(await jumps()).toEqual([hour])
  })
  it('a clock jump is recorded later if the commit fails first', async () => {
    const { commit } = fixture.store
    fixture.store.commit = () => Promise.reject(new Error('disk full'))
    fixture.clock.jump(hour)
    await fixture.clock.advance(500)
    expect(fixture.errors.length).toBeGreaterThan(0)
    fixture.store.commit = commit
    await fixture.clock.advance(500)
    expect(await jumps()).toEqual([hour])
  })
})
