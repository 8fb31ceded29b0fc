/** Checks the limits per credential: each holds for the credential itself, for all together, and leaves a share for people. */
import { Fault, type QuotaLimits, quotas, type RoleLimits, rates } from '@holdpoint/protocol'
import { describe, expect, it } from 'vitest'
import { Quota } from '../src/index.ts'
import { type QuotaCaller, RateQuota } from '../src/quota.ts'
import { ManualClock } from './manual-clock.ts'

const texts = { unit: 'open things', advice: 'Close some things.' }
const caller = (role: QuotaCaller['role'], n = 0): QuotaCaller => ({ role, token: `${role} ${n}` })
const roles = ['person', 'runner', 'agent'] as const
const isRefused = (take: () => unknown): boolean => {
  try {
    take()
    return false
  } catch (error) {
    if (error instanceof Fault && error.code === 'too_many') return true
    throw error
  }
}

describe.each(Object.entries(quotas))('the quota %s', (_name, limits: QuotaLimits) => {
  it.each(roles)('F12: a quota lets one credential (%s) take its share, and no more', role => {
    const quota = new Quota(limits, texts)
    const release = quota.take(caller(role), limits[role])
    expect(() => quota.take(caller(role))).toThrow(
      `This credential has reached its limit of ${limits[role]} open things. Close some things.`,
    )
    quota.take(caller(role, 2))
    release()
    quota.take(caller(role), limits[role])
  })

  it('F12: a quota reserves a share for people that agents and runners cannot take', () => {
    const quota = new Quota(limits, texts)
    for (let left = limits.total - limits.reservedForPeople, i = 0; left > 0; left -= limits.agent, i++)
      quota.take(caller('agent', i), Math.min(left, limits.agent))
    for (const role of ['agent', 'runner'] as const)
      expect(() => quota.take(caller(role, 1_000_000))).toThrow('All credentials together have reached the limit')
    let people = 0
    for (let i = 0; people < limits.reservedForPeople; i++) {
      const amount = Math.min(limits.person, limits.reservedForPeople - people)
      quota.take(caller('person', i), amount)
      people += amount
    }
    expect(() => quota.take(caller('person', 1_000_000))).toThrow('All credentials together have reached the limit')
  })

  it('F12: a share of a quota that is released becomes free for its credential and in the total', () => {
    const quota = new Quota(limits, texts)
    const releases: (() => void)[] = []
    for (let left = limits.total, i = 0; left > 0; left -= limits.person, i++)
      releases.push(quota.take(caller('person', i), Math.min(left, limits.person)))
    for (const role of roles) expect(isRefused(() => quota.take(caller(role, 1_000_000)))).toBe(true)
    releases[0]?.()
    const amount = Math.min(limits.agent, limits.person)
    const release = quota.take(caller('agent', 1_000_000), amount)
    release()
    quota.take(caller('person', 0), limits.person)
    for (const role of roles) expect(isRefused(() => quota.take(caller(role, 1_000_000)))).toBe(true)
  })
})

describe('a share of a quota', () => {
  it('a share of a quota is given back once, however often it is released', () => {
    const quota = new Quota(quotas.sockets, texts)
    const release = quota.take(caller('agent'))
    release()
    release()
    quota.take(caller('agent'), quotas.sockets.agent)
    expect(isRefused(() => quota.take(caller('agent')))).toBe(true)
  })
  it('a share of a quota is given back once to the total of all credentials', () => {
    const quota = new Quota({ total: 2, reservedForPeople: 0, person: 2, runner: 2, agent: 2 }, texts)
    const release = quota.take(caller('agent'))
    release()
    release()
    quota.take(caller('agent', 1), 2)
    expect(isRefused(() => quota.take(caller('agent', 2)))).toBe(true)
  })
  it('a share of a quota is as large for the owner as for other people', () => {
    const quota = new Quota(quotas.sockets, texts)
    quota.take(caller('owner'), quotas.sockets.person)
    expect(() => quota.take(caller('owner'))).toThrow(`limit of ${quotas.sockets.person} open things`)
  })
})

describe.each(Object.entries(rates))('the rate %s', (_name, limits: RoleLimits) => {
  it.each(roles)(
    'F12: a rate lets one credential (%s) use the amount of a minute at once, and then continue at that rate',
    async role => {
      const clock = new ManualClock()
      const quota = new RateQuota(limits, texts, clock)
      quota.take(caller(role), limits[role] - 1)
      quota.take(caller(role), 1)
      expect(() => quota.take(caller(role), 1)).toThrow(`reached its limit of ${limits[role]} open things`)
      quota.take(caller(role, 2), limits[role])
      await clock.advance(30_000)
      quota.take(caller(role), limits[role] / 2)
      expect(isRefused(() => quota.take(caller(role), 1))).toBe(true)
      await clock.advance(60_000)
      quota.take(caller(role), limits[role])
    },
  )
})

it('a rate quota counts no use twice if the clock is set back', async () => {
  const clock = new ManualClock()
  const quota = new RateQuota({ person: 100, runner: 100, agent: 100 }, texts, clock)
  quota.take(caller('agent'), 50)
  clock.jump(-3_600_000)
  quota.take(caller('agent'), 49)
  quota.take(caller('agent'), 1)
  expect(isRefused(() => quota.take(caller('agent'), 1))).toBe(true)
})

it('a rate quota lets one use exceed the amount that is left, and the next use must wait until the excess is made up', async () => {
  const clock = new ManualClock()
  const quota = new RateQuota({ person: 60, runner: 60, agent: 60 }, texts, clock)
  quota.take(caller('agent'), 59)
  quota.take(caller('agent'), 600)
  await clock.advance(599_000)
  expect(isRefused(() => quota.take(caller('agent'), 1))).toBe(true)
  await clock.advance(1000)
  quota.take(caller('agent'), 1)
})

it('a rate quota remembers a limited number of credentials', () => {
  const quota = new RateQuota({ person: 1, runner: 1, agent: 1 }, texts, new ManualClock())
  for (let i = 0; i < 20_000; i++) quota.take(caller('agent', i), 1)
  expect(isRefused(() => quota.take(caller('agent', 19_999), 1))).toBe(true)
  expect(isRefused(() => quota.take(caller('agent', 10_000), 1))).toBe(true)
  expect(isRefused(() => quota.take(caller('agent', 9_999), 1))).toBe(false)
  expect(isRefused(() => quota.take(caller('agent', 0), 1))).toBe(false)
})
