import { ruleExpiry } from '@holdpoint/client'
import { RuleDraft, SessionId } from '@holdpoint/protocol'
import { expect, it } from 'vitest'
import { defaultLimits, effectiveScope, ruleToAdd } from '../../src/request/approval/always-limits.ts'
import { parseUses, scopeChoices } from '../../src/request/rule/rule-limits.ts'

const session = SessionId.parse('ses_00000000000000000001')
const command = RuleDraft.parse({ effect: 'allow', command: 'npm test', scope: { cwd: '/src' } })
const host = RuleDraft.parse({ effect: 'allow', host: 'example.com', scope: { cwd: '/src' } })

it('“Always” can allow a command in its folder or session, and a host in every folder too', () => {
  expect(scopeChoices(command)).toEqual(['folder', 'session'])
  expect(scopeChoices(host)).toEqual(['folder', 'session', 'everywhere'])
  expect(ruleToAdd(host, { ...defaultLimits, scope: 'everywhere' }, session)).toEqual({
    effect: 'allow',
    host: 'example.com',
  })
  // The scope was chosen for another proposal.
  expect(effectiveScope(command, { ...defaultLimits, scope: 'everywhere' })).toBe('folder')
})
it('a rule that ends with a turn is for its session only, and keeps its folder', () => {
  expect(ruleToAdd(command, { ...defaultLimits, duration: 'turn' }, session)).toEqual({
    ...command,
    scope: { cwd: '/src', session },
    until: 'turn',
  })
})
it('the time at which a rule ends is fixed when the person chooses its duration', () => {
  expect(ruleExpiry('day', 1000)).toBe(86_401_000)
  const limits = { ...defaultLimits, duration: 'day', expiresAt: 86_401_000, uses: ' 2 ' } as const
  expect(ruleToAdd(command, limits, session)).toEqual({ ...command, expiresAt: 86_401_000, usesLeft: 2 })
})
it('the number of uses of a rule is a whole number above 0, or empty for no limit', () => {
  expect(['', ' 7 ', '0', '-1', '1.5', 'x', '1e3'].map(parseUses)).toEqual([undefined, 7, null, null, null, null, null])
  expect(ruleToAdd(command, { ...defaultLimits, uses: '0' }, session)).toBeNull()
})
