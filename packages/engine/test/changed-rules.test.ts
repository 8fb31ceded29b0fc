/** Tests rules that change between their answer and its delivery, and rules that end: the newest version decides what reaches the agent. */
import fc from 'fast-check'
import { beforeEach, describe, expect, it } from 'vitest'
import type { RuleFileReader } from '../src/rule-files.ts'
import { approval, expectFault, openFixture } from './gateway-fixture.ts'
import { machine, openRuleFixture, type RuleFixture, scope } from './rule-fixture.ts'

let fixture: RuleFixture['fixture']
let agent: RuleFixture['agent']
let addRule: RuleFixture['addRule']
let ask: RuleFixture['ask']
let reload: RuleFixture['reload']
beforeEach(async () => {
  ;({ fixture, agent, addRule, ask, reload } = await openRuleFixture())
})
const listed = async () => (await fixture.person('listRules', {})).items.filter(({ madeBy }) => madeBy === 'ada')

describe('P5: an allow by a rule that has not reached the agent', () => {
  const changes: readonly (readonly [string, (id: Awaited<ReturnType<typeof addRule>>['id']) => Promise<unknown>])[] = [
    ['is removed', id => fixture.person('removeRule', { id })],
    ['is paused', id => fixture.person('patchRule', { id, paused: true })],
    [
      'is narrowed',
      id => fixture.person('patchRule', { id, rule: { effect: 'allow', command: 'npm test --bail', scope } }),
    ],
    ['is overridden by a rule that denies', () => addRule({ effect: 'deny' })],
    ['is overridden by a rule that asks', () => addRule({ effect: 'ask' })],
  ]
  it.each(changes)('P5: an allow is not handed after its rule %s', async (_what, change) => {
    const rule = await addRule()
    const request = await ask()
    expect(request.status).toBe('resolved')
    await change(rule.id)
    await expectFault(agent.report(request, 'handed'), 'gone')
    expect((await reload(request)).delivery).toMatchObject({
      state: 'undeliverable',
      reason: 'the rules no longer allow it',
    })
    await expectFault(agent.report(request, 'handed'), 'already_resolved')
  })
  it('P5: an allow is not handed after its rule has expired', async () => {
    await addRule({ expiresAt: fixture.clock.now() + 1000 })
    const request = await ask()
    await fixture.clock.advance(1000)
    await expectFault(agent.report(request, 'handed'), 'gone')
  })
  it('P5: an allow is not handed after the end of the turn with which its rule ends', async () => {
    await addRule({ until: 'turn', scope: { ...scope, session: agent.session.id } })
    const request = await ask()
    await agent.append({ type: 'turn.finished', ending: 'done' })
    await expectFault(agent.report(request, 'handed'), 'gone')
  })
  it('P5: an allow is handed although it has used up its rule, and although the rule was changed to allow more', async () => {
    const rule = await addRule({ usesLeft: 1 })
    const request = await ask()
    expect((await ask()).status).toBe('pending')
    await fixture.person('patchRule', { id: rule.id, rule: { effect: 'allow', command: 'npm test', scope, note: 'n' } })
    expect((await agent.report(request, 'handed')).delivery.state).toBe('handed')
  })
  it('P5: an allow that was handed stays handed when its rule is removed', async () => {
    const rule = await addRule()
    const request = await ask()
    await agent.report(request, 'handed')
    await fixture.person('removeRule', { id: rule.id })
    expect((await agent.report(request, 'handed')).delivery.state).toBe('handed')
    expect((await agent.report(request, 'taken')).delivery.state).toBe('taken')
  })
  it('P5: handOverRequest does not hand over an allow whose rule was removed', async () => {
    const rule = await addRule()
    const request = await ask()
    await fixture.person('removeRule', { id: rule.id })
    await expectFault(fixture.runner('handOverRequest', { id: request.id, fence: agent.fence }), 'gone')
  })
  it('P5: a person’s allow is handed even if the rules have changed since the answer', async () => {
    const request = await ask()
    await fixture.allow(request)
    await addRule({ effect: 'deny' })
    expect((await agent.report(request, 'handed')).delivery.state).toBe('handed')
  })
})

describe('a rule that ends with a turn or a session', () => {
  it('a rule that ends with a turn or a session is removed from the list after the end, and not before', async () => {
    const own = { ...scope, session: agent.session.id }
    await addRule({ until: 'turn', scope: own })
    await addRule({ until: 'session', scope: own })
    await fixture.clock.advance(600)
    expect(await listed()).toHaveLength(2)
    await agent.append({ type: 'turn.finished', ending: 'done' })
    await fixture.clock.advance(600)
    expect((await listed()).map(({ until }) => until)).toEqual(['session'])
    await fixture.person('endSession', { id: agent.session.id })
    await fixture.clock.advance(600)
    expect(await listed()).toEqual([])
  })
  it('a rule never answers after its turn, although the gateway was killed before it could remove the rule (property)', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.constantFrom('ask', 'finish', 'restart', 'add'), { maxLength: 8 }), async steps => {
        ;({ fixture, agent, addRule, ask } = await openRuleFixture())
        let isActive = false
        for (const step of steps) {
          if (step === 'add') await addRule({ until: 'turn', scope: { ...scope, session: agent.session.id } })
          if (step === 'finish') await agent.append({ type: 'turn.finished', ending: 'done' })
          // The old gateway is not closed, as after kill -9: only the store remains.
          if (step === 'restart') await fixture.open({ machine })
          if (step === 'ask') expect((await ask()).status).toBe(isActive ? 'resolved' : 'pending')
          isActive = step === 'add' || (isActive && step !== 'finish')
          // A pending request would be answered by a rule that is added later.
          for (const { id } of (await fixture.person('listRequests', { status: 'pending' })).items)
            await fixture.runner('withdrawRequest', { id, fence: agent.fence })
        }
      }),
      { numRuns: 20 },
    )
  })
})

it('looking up the rules for a relative folder takes only a few file lookups, however long the path is', async () => {
  const looked: string[] = []
  const ruleFiles: RuleFileReader = {
    ownFile: '/home/ada/.holdpoint/holdpoint.rules.json',
    filesFor: () => [],
    read: file => ({ file, folder: null, trust: 'new', content: { kind: 'missing' } }),
  }
  const files = {
    realPath: (path: string) => {
      looked.push(path)
      return path === '/' ? path : null
    },
  }
  const long = await openFixture({ machine: { ...machine, files, ruleFiles } })
  looked.length = 0
  await long.person('checkRules', { ask: approval('ls', { cwd: 'x'.repeat(4096) }) })
  expect(looked.length).toBeLessThan(20)
})
