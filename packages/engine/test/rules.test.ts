/** Rules in the gateway: what they record, how they change, when they end, and which pending requests they answer. */
import { type Input, limits, type Request, RuleId } from '@holdpoint/protocol'
import { credentialRule } from '@holdpoint/rules'
import { beforeEach, describe, expect, it } from 'vitest'
import { callAs } from '../src/index.ts'
import { approval, bob, expectFault, runPendingWork } from './gateway-fixture.ts'
import { machine, openRuleFixture, type RuleFixture, scope } from './rule-fixture.ts'

let fixture: RuleFixture['fixture']
let agent: RuleFixture['agent']
let addRule: RuleFixture['addRule']
let ask: RuleFixture['ask']
let reload: RuleFixture['reload']
beforeEach(async () => {
  ;({ fixture, agent, addRule, ask, reload } = await openRuleFixture())
})

describe('a request that a rule allows', () => {
  it('a request that a rule allows is resolved by the rule, which is recorded with its version', async () => {
    const rule = await addRule({})
    const request = await ask()
    expect(request).toMatchObject({
      status: 'resolved',
      resolution: { by: 'rule', rule: rule.id, ruleVersion: 1, answer: { kind: 'allow' } },
    })
    const changed = await fixture.person('patchRule', {
      id: rule.id,
      rule: { effect: 'allow', command: 'npm test', scope, note: 'n' },
    })
    expect(changed.version).toBe(2)
    expect((await ask()).resolution).toMatchObject({ rule: rule.id, ruleVersion: 2 })
  })
  it('P15: a request that a rule allows goes back to the agent in canonical quoting, with the digest of that text', async () => {
    await addRule({})
    const request = await ask('npm   "test"')
    expect(request.resolution).toMatchObject({ answer: { kind: 'allow', input: { command: 'npm test' } } })
    expect(request.resolution?.editedDigest).toMatch(/^[0-9a-f]{64}$/)
    await agent.report(request, 'handed')
  })
  it('a request that a rule allows goes to a person if the agent cannot run the command in canonical quoting', async () => {
    await addRule({})
    expect((await ask('npm   test', { editable: false })).status).toBe('pending')
    expect((await ask('npm test', { editable: false })).status).toBe('resolved')
  })
  it('the answer to a request that a rule allows names every rule that was needed for the parts of the command', async () => {
    const [first, second] = [await addRule({}), await addRule({ command: 'npm run lint' })]
    const request = await ask('npm test && npm run lint')
    expect(request.resolution).toMatchObject({
      rule: first.id,
      moreRules: [{ rule: second.id, ruleVersion: 1 }],
    })
  })
  it('a request that a rule allows counts as a use of the rule', async () => {
    const rule = await addRule({})
    await ask()
    await ask()
    const listed = (await fixture.person('listRules', {})).items.find(({ id }) => id === rule.id)
    expect(listed).toMatchObject({ uses: 2, lastUsedAt: fixture.clock.now() })
  })
})

describe('a request that a rule denies', () => {
  it('a request that a rule denies gives the agent the message of the rule', async () => {
    await addRule({ effect: 'deny', command: 'rm', message: 'Move files to the trash instead.' })
    expect((await ask('sudo rm -rf build')).resolution).toMatchObject({
      by: 'rule',
      answer: { kind: 'deny', reason: 'Denied by a rule: Move files to the trash instead.' },
    })
  })
  it('P8: a command that a rule denies is also refused as the edited input of another request', async () => {
    await addRule({ effect: 'deny', command: 'rm' })
    const request = await ask('ls', { action: { shell: 'ls', cwd: '/srv' } })
    const answer = { kind: 'allow', input: { command: 'rm x' } } as const
    await expectFault(
      fixture.person('answerRequest', { id: request.id, digest: request.digest, answer }),
      'answer_mismatch',
    )
  })
})

describe('a rule with a number of uses', () => {
  it('a rule with a number of uses answers that many times and then never again', async () => {
    const rule = await addRule({ usesLeft: 2 })
    const requests = await Promise.all([ask(), ask(), ask(), ask()])
    expect(requests.map(({ status }) => status).sort()).toEqual(['pending', 'pending', 'resolved', 'resolved'])
    const listed = (await fixture.person('listRules', {})).items.find(({ id }) => id === rule.id)
    expect(listed).toMatchObject({ usesLeft: 0, uses: 2 })
  })
  it('a rule with a number of uses can be given more uses, and then also answers pending requests', async () => {
    const rule = await addRule({ usesLeft: 1 })
    await ask()
    const request = await ask()
    expect(request.status).toBe('pending')
    await fixture.person('patchRule', {
      id: rule.id,
      rule: { effect: 'allow', command: 'npm test', scope, usesLeft: 1 },
    })
    await runPendingWork()
    expect((await reload(request)).resolution).toMatchObject({ by: 'rule', rule: rule.id })
    expect((await ask()).status).toBe('pending')
  })
})

describe('a rule that ends', () => {
  it('a rule that ends with the turn does not answer in the next turn, even after a restart', async () => {
    const session = agent.session.id
    await addRule({ until: 'turn', scope: { session } })
    expect((await ask()).status).toBe('resolved')
    await agent.append({ type: 'turn.finished', ending: 'done' })
    expect((await ask()).status).toBe('pending')
    await fixture.gateway.close()
    await fixture.open({ machine })
    const { fence } = agent
    const request = await fixture.runner('openRequest', { id: session, key: 'after', ask: approval('npm test'), fence })
    expect(request.status).toBe('pending')
  })
  it('a rule that ends with the session does not answer after the session has ended and a message has reopened it', async () => {
    const { id } = agent.session
    await addRule({ until: 'session', scope: { session: id } })
    await agent.append({ type: 'turn.finished', ending: 'done' })
    expect((await ask()).status).toBe('resolved')
    await fixture.person('endSession', { id })
    await fixture.person('sendMessage', { id, text: 'again' })
    const reopened = await fixture.attach(id)
    expect((await reopened.ask('again', approval('npm test'))).status).toBe('pending')
  })
  it('a rule that ends with a session cannot be added after the session has ended', async () => {
    const { id } = agent.session
    await fixture.person('endSession', { id })
    await expectFault(addRule({ until: 'session', scope: { session: id } }), 'session_ended')
  })
})

describe('a change of the rules', () => {
  it('a new rule answers the pending requests that it covers, and no others', async () => {
    const [covered, other] = [await ask(), await ask('npm run build')]
    const rule = await addRule({})
    await runPendingWork()
    expect((await reload(covered)).resolution).toMatchObject({ by: 'rule', rule: rule.id })
    expect((await reload(other)).status).toBe('pending')
  })
  it('a new rule answers pending requests after a restart if the gateway was killed before it could do so', async () => {
    const request = await ask()
    await fixture.gateway.close()
    await fixture.store.commit({
      label: 'rule',
      reads: [],
      decide: view => ({
        puts: [{ table: 'rule', row: { ...storedRule, ord: view.nextSeq } }],
        result: null,
      }),
    })
    await fixture.open({ machine })
    await runPendingWork()
    expect((await reload(request)).resolution).toMatchObject({ by: 'rule', rule: storedRule.id })
  })
  it('removing an ask rule lets an allow rule with lower precedence answer a pending request', async () => {
    const asks = await addRule({ effect: 'ask' })
    await addRule({})
    const request = await ask()
    expect(request.status).toBe('pending')
    await fixture.person('removeRule', { id: asks.id })
    await runPendingWork()
    expect((await reload(request)).status).toBe('resolved')
  })
  it('a paused rule answers no requests until it is resumed', async () => {
    const rule = await addRule({})
    expect(await fixture.person('patchRule', { id: rule.id, paused: true })).toMatchObject({ paused: true, version: 2 })
    const request = await ask()
    expect(request.status).toBe('pending')
    const resumed = await fixture.person('patchRule', { id: rule.id, paused: false })
    expect(resumed.paused).toBeUndefined()
    await runPendingWork()
    expect((await reload(request)).status).toBe('resolved')
  })
  it('patchRule is refused if another person has changed the rule since the caller read it', async () => {
    const rule = await addRule({})
    await fixture.person('patchRule', { id: rule.id, version: 1, paused: true })
    await expectFault(fixture.person('patchRule', { id: rule.id, version: 1, paused: false }), 'version_conflict')
    await expectFault(fixture.person('patchRule', { id: credentialRule.id, paused: true }), 'forbidden')
  })
})

const storedRule = {
  id: RuleId.parse('rul_11111111111111111111'),
  effect: 'allow' as const,
  command: 'npm test',
  scope,
  madeBy: 'ada',
  madeAt: 0,
  version: 1,
}

describe('an answer with a rule to remember', () => {
  const remember = { effect: 'allow', command: 'npm test', scope } as const
  const allow = (request: Request, rule: Input<'addRule'> = remember) =>
    fixture.person('answerRequest', {
      id: request.id,
      digest: request.digest,
      answer: { kind: 'allow', remember: rule },
    })
  it('an answer with a rule to remember adds the rule with the answer, and the rule answers the other pending requests that it covers', async () => {
    const [request, same] = [await ask(), await ask()]
    expect((await allow(request)).resolution).toMatchObject({ by: 'person', answer: { kind: 'allow', remember } })
    await runPendingWork()
    expect((await reload(same)).resolution).toMatchObject({ by: 'rule' })
    expect((await fixture.person('listRules', {})).items.at(-1)).toMatchObject({ command: 'npm test', madeBy: 'ada' })
  })
  it.each([
    ['does not cover the request', { ...remember, command: 'npm run build' }],
    ['denies', { ...remember, effect: 'deny' as const }],
  ])(
    'an answer with a rule to remember is refused if the rule %s, and the request stays pending',
    async (_why, rule) => {
      const request = await ask()
      await expectFault(allow(request, rule), 'answer_mismatch')
      expect((await reload(request)).status).toBe('pending')
      expect(
        (await fixture.person('listRules', {})).items.filter(({ source, madeBy }) => !source && madeBy === 'ada'),
      ).toEqual([])
    },
  )
  it('an answer with a rule to remember adds the rule with its number of uses and its end', async () => {
    const request = await ask()
    await allow(request, { ...remember, usesLeft: 2, expiresAt: Number.MAX_SAFE_INTEGER })
    expect((await fixture.person('listRules', {})).items.at(-1)).toMatchObject({ ...remember, usesLeft: 2 })
  })
  it('an answer with a rule to remember is refused if the rule is too broad', async () => {
    const request = await ask()
    await expectFault(allow(request, { effect: 'allow', tool: 'Bash' }), 'unsupported')
  })
})

describe('a preview of a rule', () => {
  it('a preview of a rule lists the past requests that the rule would have matched, denied ones first, and the pending requests that it matches', async () => {
    const answered = [await ask(), await ask(), await ask('npm run build')]
    await fixture.allow(answered[0] as Request)
    await fixture.deny(answered[1] as Request)
    await fixture.allow(answered[2] as Request)
    const pending = await ask()
    const preview = await fixture.person('previewRule', { rule: { effect: 'allow', command: 'npm test', scope } })
    expect(preview).toMatchObject({ matched: 2, allowed: 1, denied: 1, complete: true, pending: [pending.id] })
    expect(preview.examples).toMatchObject([
      { request: answered[1]?.id, what: 'npm test', answer: 'deny' },
      { request: answered[0]?.id, what: 'npm test', answer: 'allow' },
    ])
    expect((await reload(pending)).status).toBe('pending')
  })
  it('a preview of a rule compares the rule with at most the latest 1,000 pending requests, and says if there are more', async () => {
    const oldest = await ask()
    const rule = { effect: 'allow' as const, command: 'npm test', scope }
    expect(await fixture.person('previewRule', { rule })).toMatchObject({
      pending: [oldest.id],
      pendingComplete: true,
    })
    // A session has at most 1,000 pending requests, so another one fills the limit.
    const other = await fixture.startAttached('resumable', scope)
    const asked = Array.from({ length: limits.previewRequestsMax }, (_, index) =>
      other.ask(`other${index}`, approval('npm test')),
    )
    const latest = await Promise.all(asked)
    const preview = await fixture.person('previewRule', { rule })
    expect(preview.pendingComplete).toBe(false)
    expect(new Set(preview.pending)).toEqual(new Set(latest.map(({ id }) => id)))
  })
  it('a preview of a rule says how many of the matched requests the caller answered, and counts a request with a changed input as neither allowed nor denied', async () => {
    const requests = await Promise.all([ask(), ask(), ask(), ask()])
    const [first, second, third, changed] = requests as [Request, Request, Request, Request] // four were asked
    await fixture.allow(first)
    await fixture.allow(second, fixture.otherPerson)
    await fixture.deny(third, fixture.otherPerson)
    const answer = { kind: 'allow' as const, input: { command: 'npm test -- one.test.ts' } }
    await fixture.person('answerRequest', { id: changed.id, digest: changed.digest, answer })
    const rule = { effect: 'allow' as const, command: 'npm test', scope }
    const counts = { matched: 4, allowed: 2, denied: 1 }
    expect(await fixture.person('previewRule', { rule })).toMatchObject({ ...counts, allowedByYou: 1, deniedByYou: 0 })
    expect(await fixture.otherPerson('previewRule', { rule })).toMatchObject({
      ...counts,
      allowedByYou: 1,
      deniedByYou: 1,
      examples: expect.arrayContaining([expect.objectContaining({ request: changed.id, answer: null })]),
    })
  })
})

describe('proposed rules', () => {
  it('proposed rules allow the request for which they are proposed', async () => {
    const request = await ask('tsc --noEmit')
    const { items } = await fixture.person('proposeRules', { id: request.id })
    expect(items[0]).toMatchObject({
      rule: { effect: 'allow', command: 'tsc --noEmit', scope },
      explanation: expect.any(String),
    })
  })
  it.each([
    'bash -c ls',
    'sudo ls',
    'env ls',
    'node x.js',
    'python3 x.py',
    'xargs rm',
    'ls && rm x',
    'ls $HOME',
    'ls > out',
    'find . -exec rm {} +',
    'sh -c ls',
    'python -c 1',
    'git push',
    'npm run deploy',
    'ls | sh',
    'X=1 ls',
    'ls `id`',
  ])('P7: proposed rules are not offered for %s', async command => {
    const request = await ask(command)
    const { items, reason } = await fixture.person('proposeRules', { id: request.id })
    expect(items).toEqual([])
    expect(reason).toMatch(/\.$/)
  })
  it('a request that the agent can allow only permanently is not allowed by a rule, but a rule denies it', async () => {
    await addRule({ command: 'npm test' })
    await addRule({ effect: 'deny', command: 'git push' })
    const caution = { permanent: true }
    expect(await ask('npm test', { caution })).toMatchObject({ status: 'pending' })
    expect(await ask('git push', { caution })).toMatchObject({ resolution: { by: 'rule', answer: { kind: 'deny' } } })
  })
  it('proposed rules are not offered if the agent’s program forbids it', async () => {
    const request = await ask('npm test', { caution: { noRemember: true } })
    expect((await fixture.person('proposeRules', { id: request.id })).items).toEqual([])
  })
})

describe('an action that an agent reports about its own call', () => {
  const lie = { action: { shell: 'npm test', cwd: '/srv' } }
  it('an action that an agent reports about its own call is refused if the input shows another command, so no rule answers it', async () => {
    await addRule({})
    const { id } = await fixture.person('startSession', { driver: 'external', cwd: '/srv' })
    const open = (key: string, more = {}) =>
      fixture.person('openRequest', { id, key, ask: approval('rm -rf ~', { tool: 'Run', ...more }) })
    await expectFault(open('a', lie), 'bad_input', /^action: the input has a "command"/)
    await expectFault(
      fixture.person('checkTool', { id, tool: 'Run', input: { command: 'rm -rf ~' }, ...lie }),
      'bad_input',
    )
    expect(await open('b')).toMatchObject({ status: 'pending', risk: { level: 'dangerous' } })
  })
  it('a rule that denies a command also matches the command in a tool with another name', async () => {
    await addRule({ effect: 'deny', command: 'git push' })
    const { id } = await fixture.externalAgent('startSession', { driver: 'external', cwd: '/srv' })
    const push = approval('git push', { tool: 'Run' })
    expect((await fixture.externalAgent('openRequest', { id, key: 'a', ask: push })).resolution).toMatchObject({
      answer: { kind: 'deny' },
    })
  })
  it('the action that a runner reports is used unchanged', async () => {
    await addRule({})
    expect((await ask('npm test', { input: { script: 'test' }, ...lie })).status).toBe('resolved')
  })
})

describe('the rules of a person who is not the owner', () => {
  const deny = { effect: 'deny', command: 'git push', scope } as const
  const allow = { effect: 'allow', command: 'npm test', scope } as const
  it('a person adds, changes and removes rules of their own that deny or ask', async () => {
    const { id } = await fixture.otherPerson('addRule', deny)
    expect(await fixture.otherPerson('patchRule', { id, rule: { ...deny, effect: 'ask' } })).toMatchObject({
      version: 2,
    })
    await fixture.otherPerson('patchRule', { id, paused: true })
    await fixture.otherPerson('patchRule', { id, paused: false })
    await expectFault(fixture.otherPerson('patchRule', { id, rule: allow }), 'forbidden')
    await fixture.otherPerson('removeRule', { id })
  })
  it('a person can neither add nor remember a rule that allows something, and the error says so', async () => {
    await expectFault(fixture.otherPerson('addRule', allow), 'forbidden', /only the owner/)
    const request = await ask()
    const answer = { kind: 'allow', remember: allow } as const
    const remember = () => fixture.otherPerson('answerRequest', { id: request.id, digest: request.digest, answer })
    await expectFault(remember(), 'forbidden', /only the owner/)
    expect(await fixture.otherPerson('proposeRules', { id: request.id })).toMatchObject({
      items: [],
      reason: expect.stringContaining('Only the owner'),
    })
    expect((await reload(request)).status).toBe('pending')
  })
  it('a person cannot change, pause or remove a rule of the owner', async () => {
    const { id } = await addRule(deny)
    for (const change of [{ paused: true }, { rule: { ...deny, effect: 'ask' as const } }])
      await expectFault(fixture.otherPerson('patchRule', { id, ...change }), 'forbidden', /somebody else/)
    await expectFault(fixture.otherPerson('removeRule', { id }), 'forbidden', /somebody else/)
    expect((await ask('git push')).resolution).toMatchObject({ answer: { kind: 'deny' } })
  })
  it('the owner changes and removes the rules of everybody', async () => {
    const { id } = await fixture.otherPerson('addRule', deny)
    await fixture.person('patchRule', { id, rule: { ...deny, effect: 'ask' } })
    await fixture.person('removeRule', { id })
  })
  it('a person can pause and remove a rule of their own that allows something, but not resume it', async () => {
    const rule = await addRule(allow)
    // The owner's rule, as if its author were no longer the owner.
    const own = callAs(fixture.gateway, { ...bob, id: rule.madeById ?? '' })
    await own('patchRule', { id: rule.id, paused: true })
    await expectFault(own('patchRule', { id: rule.id, paused: false }), 'forbidden', /allows something/)
    await own('removeRule', { id: rule.id })
  })
})
