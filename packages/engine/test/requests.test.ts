/** Requests: opened once per key, resolved once, with deadlines, delivery, secrets and drafts. */
import { createHash } from 'node:crypto'
import { type Answer, type Ask, digestText, formatId, limits } from '@holdpoint/protocol'
import { beforeEach, describe, expect, it } from 'vitest'
import {
  type AttachedAgent,
  ada,
  approval,
  bob,
  expectFault,
  type GatewayFixture,
  openFixture,
  runnerCaller,
  secretAsk,
  secretForm,
} from './gateway-fixture.ts'

let fixture: GatewayFixture
let agent: AttachedAgent
beforeEach(async () => {
  fixture = await openFixture()
  agent = await fixture.startAttached()
})

describe('openRequest', () => {
  it('openRequest returns the existing request if it is called again with the same key (G4)', async () => {
    const first = await fixture.gateway.dispatch(runnerCaller, 'openRequest', {
      id: agent.session.id,
      key: 'k',
      ask: approval(),
      fence: agent.fence,
    })
    expect(first).toMatchObject({ status: 201, body: { status: 'pending', resolution: null } })
    const again = await fixture.gateway.dispatch(runnerCaller, 'openRequest', {
      id: agent.session.id,
      key: 'k',
      ask: approval('ls', { title: 'Titled otherwise' }),
      fence: agent.fence,
    })
    expect(again).toMatchObject({ status: 200, body: { id: first.body.id, digest: first.body.digest } })
    expect((await fixture.eventTypes()).filter(type => type === 'request.opened')).toHaveLength(1)
  })
  it('openRequest refuses a key that was used with other content, whether or not the first request is resolved (G4)', async () => {
    const first = await agent.ask('k')
    await expectFault(agent.ask('k', approval('rm -rf /')), 'key_conflict')
    await fixture.allow(first)
    await expectFault(agent.ask('k', approval('rm -rf /')), 'key_conflict')
  })
  it('openRequest stores the events that come with the request before the request', async () => {
    const { session, fence } = agent
    const events = [{ type: 'message.added' as const, block: 'b', text: 'before' }]
    await fixture.runner('openRequest', { id: session.id, key: 'k', ask: approval('ls'), fence, events })
    const types = await fixture.eventTypes()
    expect(types.slice(-2)).toEqual(['message.added', 'request.opened'])
    expect(await fixture.person('getSession', { id: session.id })).toMatchObject({ lastMessage: 'before', pending: 1 })
  })
  it('openRequest does not store a streamed message again as partial if the end of the message comes with the request', async () => {
    const { session, fence } = agent
    await agent.append({ type: 'message.delta', block: 'b', offset: 0, text: 'bef' })
    await agent.append({ type: 'message.delta', block: 'cut', offset: 0, text: 'cut off' })
    const events = [{ type: 'message.added' as const, block: 'b', text: 'before' }]
    await fixture.runner('openRequest', { id: session.id, key: 'k', ask: approval('ls'), fence, events })
    const { items } = await fixture.person('listEvents', { id: session.id })
    const messages = items.flatMap(event => (event.type === 'message.added' ? [event] : []))
    expect(messages).toMatchObject([
      { block: 'b', text: 'before' },
      { block: 'cut', text: 'cut off', partial: true },
    ])
    expect(messages[0]?.partial).toBeUndefined()
  })
  it('openRequest stores the events that come with a request that is already open, but no events if the key was used for another request', async () => {
    const { session, fence } = agent
    const first = await agent.ask('k')
    const events = [{ type: 'message.added' as const, block: 'b', text: 'again' }]
    const again = { id: session.id, key: 'k', ask: approval(), fence, events }
    expect(await fixture.runner('openRequest', again)).toMatchObject({ id: first.id })
    expect((await fixture.eventTypes()).at(-1)).toBe('message.added')
    await expectFault(fixture.runner('openRequest', { ...again, ask: approval('rm -rf /') }), 'key_conflict')
    expect((await fixture.eventTypes()).filter(type => type === 'message.added')).toHaveLength(1)
  })
  it('openRequest opens another request for the same key in another session', async () => {
    const elsewhere = await fixture.startAttached()
    expect((await elsewhere.ask('k')).id).not.toBe((await agent.ask('k')).id)
  })
  it('openRequest resolves the request immediately if a rule matches exactly', async () => {
    const exactly = { effect: 'allow', tool: 'Bash', command: 'ls', scope: { cwd: '/srv' } } as const
    const { id } = await fixture.person('addRule', exactly)
    agent = await fixture.startAttached('resumable', { cwd: '/srv' })
    expect(await agent.ask('a')).toMatchObject({
      status: 'resolved',
      resolution: { by: 'rule', rule: id, answer: { kind: 'allow' } },
      delivery: { state: 'waiting' },
    })
    expect(await agent.ask('b', approval('ls -l'))).toMatchObject({ status: 'pending' })
    await fixture.person('addRule', { effect: 'deny', tool: 'Bash' })
    expect(await agent.ask('c')).toMatchObject({ resolution: { by: 'rule', answer: { kind: 'deny' } } })
    await fixture.person('removeRule', { id })
    expect((await fixture.person('listRules', {})).items.map(rule => rule.id)).not.toContain(id)
  })
  it('F18: an allow rule for a folder matches only in sessions that run in that folder', async () => {
    await fixture.person('addRule', { effect: 'allow', tool: 'Bash', command: 'ls', scope: { cwd: '/srv' } })
    const elsewhere = await fixture.startAttached('resumable', { cwd: '/home/evil' })
    expect(await elsewhere.ask('k')).toMatchObject({ status: 'pending' })
    // An agent that opens its own session chooses the folder itself.
    const claimed = await fixture.externalAgent('startSession', { driver: 'external', cwd: '/srv' })
    const open = { id: claimed.id, key: 'k', ask: approval() }
    expect(await fixture.externalAgent('openRequest', open)).toMatchObject({ status: 'pending' })
    expect(
      await fixture.externalAgent('checkTool', { id: claimed.id, tool: 'Bash', input: { command: 'ls' } }),
    ).toMatchObject({ verdict: 'ask' })
    const given = await fixture.person('startSession', { driver: 'external', cwd: '/srv' })
    expect(await fixture.person('openRequest', { ...open, id: given.id })).toMatchObject({ resolution: { by: 'rule' } })
  })
  it('openRequest limits the number of pending requests of a session', async () => {
    await Promise.all(Array.from({ length: limits.pendingPerSessionMax }, (_, i) => agent.ask(`k${i}`)))
    await expectFault(agent.ask('one more'), 'too_many')
    expect(await agent.ask('k0')).toMatchObject({ status: 'pending' })
    await fixture.deny(await agent.ask('k0'))
    expect(await agent.ask('one more')).toMatchObject({ status: 'pending' })
  })
  it('openRequest limits the number of pending requests across concurrent calls', async () => {
    const asked = await Promise.allSettled(
      Array.from({ length: limits.pendingPerSessionMax + 50 }, (_, i) => agent.ask(`k${i}`)),
    )
    expect(asked.filter(result => result.status === 'fulfilled')).toHaveLength(limits.pendingPerSessionMax)
  })
  it('openRequest limits the total bytes of pending requests of a session, even across concurrent calls', async () => {
    const large = (n: number) => approval('x', { input: { command: `${n} ${'x'.repeat(1024 * 1024)}` } })
    const most = Math.floor(limits.pendingBytesPerSessionMax / (1024 * 1024)) - 1
    const asked = await Promise.allSettled(Array.from({ length: most + 5 }, (_, i) => agent.ask(`k${i}`, large(i))))
    expect(asked.filter(result => result.status === 'fulfilled')).toHaveLength(most)
    await expectFault(agent.ask('more', large(99)), 'too_many')
    expect(await agent.ask('small')).toMatchObject({ status: 'pending' })
    const first = await agent.ask('k0', large(0))
    await fixture.deny(first)
    expect(await agent.ask('more', large(99))).toMatchObject({ status: 'pending' })
    await expectFault(agent.ask('too much', large(100)), 'too_many')
    await fixture.gateway.close()
    await fixture.open()
    await expectFault(agent.ask('too much', large(100)), 'too_many')
    expect(await (await fixture.startAttached()).ask('elsewhere', large(1))).toMatchObject({ status: 'pending' })
  })
  it('openRequest is refused after the session has ended', async () => {
    await fixture.person('endSession', { id: agent.session.id })
    await expectFault(agent.ask('k'), 'session_ended')
  })
})

describe('answerRequest', () => {
  it('answerRequest resolves a request once, and tells a later caller who answered and how (G1)', async () => {
    const request = await agent.ask('k')
    expect(await fixture.allow(request)).toMatchObject({
      resolution: { by: 'person', person: 'ada', via: 'page', answer: { kind: 'allow' } },
    })
    await expect(fixture.deny(request, fixture.otherPerson)).rejects.toMatchObject({
      code: 'already_resolved',
      message: expect.stringContaining('ada'),
      detail: { request: { resolution: { person: 'ada', answer: { kind: 'allow' } } } },
    })
  })
  it('answerRequest accepts the same answer again from the same person, and refuses it from another person (X2)', async () => {
    const request = await agent.ask('k')
    await fixture.allow(request)
    expect(await fixture.allow(request)).toMatchObject({ resolution: { person: 'ada' } })
    await expectFault(fixture.allow(request, fixture.otherPerson), 'already_resolved')
    await expectFault(fixture.allow({ ...request, digest: 'another' }), 'digest_mismatch')
    expect((await fixture.eventTypes()).filter(type => type === 'request.resolved')).toHaveLength(1)
  })
  it('answerRequest refuses a wrong digest or an answer that does not fit the request, which stays pending', async () => {
    const request = await agent.ask('k')
    const other = await agent.ask('other', approval('pwd'))
    const answer: Answer = { kind: 'allow' }
    await expectFault(
      fixture.person('answerRequest', { id: request.id, digest: other.digest, answer }),
      'digest_mismatch',
    )
    await expectFault(fixture.person('answerRequest', { id: request.id, digest: '', answer }), 'digest_mismatch')
    const wrongKind: Answer = { kind: 'submit', values: {} }
    await expectFault(
      fixture.person('answerRequest', { id: request.id, digest: request.digest, answer: wrongKind }),
      'answer_mismatch',
    )
    expect(await fixture.person('getRequest', { id: request.id })).toMatchObject({ status: 'pending' })
  })
  it('answerRequest reports `not_found` for a missing request even if the request is opened in the meantime', async () => {
    const ask = approval()
    const sha256 = (text: string) => createHash('sha256').update(text).digest()
    const id = formatId('req', sha256(`${agent.session.id}\0late`))
    const input = {
      id,
      digest: sha256(digestText(agent.session.id, ask)).toString('hex'),
      answer: { kind: 'deny' },
    } as const
    await expectFault(fixture.person('answerRequest', input), 'not_found')
    // Both calls wait for the same commit, so the request exists when the answer is decided but did not exist when the answer arrived.
    await agent.ask('earlier', approval('loads the rules'))
    const opening = agent.ask('late', ask)
    for (let i = 0; i < 200; i++) await null
    await expectFault(fixture.person('answerRequest', input), 'not_found')
    expect(await opening).toMatchObject({ id, digest: input.digest, status: 'pending' })
  })
  it('answerRequest stores the digest of an edited input unless a rule denies it (G7)', async () => {
    await fixture.person('addRule', { effect: 'deny', tool: 'Bash', command: 'rm' })
    const request = await agent.ask('k')
    const edit = (command: string): Answer => ({ kind: 'allow', input: { command } })
    await expectFault(
      fixture.person('answerRequest', { id: request.id, digest: request.digest, answer: edit('rm') }),
      'answer_mismatch',
    )
    const resolved = await fixture.person('answerRequest', {
      id: request.id,
      digest: request.digest,
      answer: edit('ls -l'),
    })
    expect(resolved.resolution?.editedDigest).toMatch(/^[0-9a-f]{64}$/)
    expect(resolved.resolution?.editedDigest).not.toBe(request.digest)
    expect(resolved.digest).toBe(request.digest)
  })
  it('an edited input has its own risk, which people can see before they answer, and which is recorded', async () => {
    const request = await agent.ask('k')
    const { id, digest } = request
    const check = (command: string, call = fixture.person) => call('checkInput', { id, input: { command } })
    const dangerous = { level: 'dangerous', touches: ['deletes'] }
    expect(await check('rm -rf .')).toEqual({ risk: expect.objectContaining(dangerous) })
    expect((await check('ls', fixture.otherPerson)).risk).toEqual(request.risk)
    await expectFault(check('ls', fixture.externalAgent), 'forbidden')
    const answer: Answer = { kind: 'allow', input: { command: 'rm -rf .' } }
    const { resolution, risk } = await fixture.person('answerRequest', { id, digest, answer })
    expect(resolution?.editedRisk).toMatchObject(dangerous)
    expect(risk).toEqual(request.risk)
    const question = await agent.ask('q', secretAsk)
    await expectFault(fixture.person('checkInput', { id: question.id, input: {} }), 'answer_mismatch')
    await expectFault(fixture.person('checkInput', { id: formatId('req', new Uint8Array(20)), input: {} }), 'not_found')
  })
  it('an edited input that does not show what the call does counts as dangerous', async () => {
    const ask = approval('ls', { input: { pattern: '/srv/*' }, tool: 'Glob', action: { read: ['/srv'] } })
    const { id } = await agent.ask('k', ask)
    const { risk } = await fixture.person('checkInput', { id, input: { pattern: '/etc/*' } })
    expect(risk).toEqual({ level: 'dangerous', touches: ['unreadable'] })
  })
  it('answerRequests answers several requests, and an item that fails does not affect the others', async () => {
    const [a, b, c] = [await agent.ask('a'), await agent.ask('b', approval('b')), await agent.ask('c')]
    await fixture.deny(c, fixture.otherPerson)
    const { items } = await fixture.person('answerRequests', {
      items: [
        { id: a.id, digest: a.digest, answer: { kind: 'allow' } },
        { id: b.id, digest: a.digest, answer: { kind: 'allow' } },
        { id: c.id, digest: c.digest, answer: { kind: 'allow' } },
        { id: a.id, digest: a.digest, answer: { kind: 'allow' } },
        { id: a.id, digest: a.digest, answer: { kind: 'deny' } },
      ],
    })
    expect(items.map(item => [item.status, item.error?.code ?? item.request?.status])).toEqual([
      [200, 'resolved'],
      [409, 'digest_mismatch'],
      [409, 'already_resolved'],
      [200, 'resolved'],
      [409, 'already_resolved'],
    ])
  })
  it('the reply to a batch of answers leaves out requests that would make it too large', async () => {
    const ask = approval('ls', { input: { command: 'x'.repeat(600_000) } })
    const requests = await Promise.all(Array.from({ length: 10 }, (_, i) => agent.ask(`k${i}`, ask)))
    const answers = requests.map(({ id, digest }) => ({ id, digest, answer: { kind: 'allow' } as const }))
    const reply = await fixture.person('answerRequests', { items: answers }, { idempotencyKey: 'batch' })
    expect(reply.items.map(({ status }) => status)).toEqual(answers.map(() => 200))
    expect(JSON.stringify(reply).length).toBeLessThan(limits.pageMaxBytes + 10_000)
    expect(reply.items[0]?.request).toBeDefined()
    expect(reply.items.at(-1)?.request).toBeUndefined()
    const again = await fixture.person('answerRequests', { items: answers }, { idempotencyKey: 'batch' })
    expect(again.items.map(({ status }) => status)).toEqual(answers.map(() => 200))
    const fewer = fixture.person('answerRequests', { items: answers.slice(1) }, { idempotencyKey: 'batch' })
    await expectFault(fewer, 'idempotency_mismatch')
  })
  it('answerRequest is forbidden for agents and runners (G8)', async () => {
    const request = await agent.ask('k')
    for (const call of [fixture.externalAgent, fixture.runner]) {
      await expectFault(fixture.allow(request, call), 'forbidden')
      await expectFault(
        call('answerRequests', { items: [{ id: request.id, digest: request.digest, answer: { kind: 'allow' } }] }),
        'forbidden',
      )
    }
  })
})

describe('the delivery of an answer', () => {
  it('the delivery of an answer goes from waiting to handed to taken, with one event each', async () => {
    const request = await agent.ask('k')
    await expectFault(agent.report(request, 'handed'), 'not_resolved')
    await fixture.allow(request)
    await expectFault(agent.report(request, 'taken'), 'already_resolved')
    expect(await agent.report(request, 'handed')).toMatchObject({ delivery: { state: 'handed' } })
    expect(await agent.report(request, 'handed')).toMatchObject({ delivery: { state: 'handed' } })
    expect(await agent.report(request, 'taken')).toMatchObject({ delivery: { state: 'taken' } })
    await expectFault(agent.report(request, 'handed'), 'already_resolved')
    await expectFault(agent.report(request, 'undeliverable'), 'already_resolved')
    expect((await fixture.eventTypes()).filter(type => type.startsWith('request.'))).toEqual([
      'request.opened',
      'request.resolved',
      'request.handed',
      'request.taken',
    ])
  })
  it('a pending request that the agent withdraws gets the delivery `taken` at once, and can no longer be answered', async () => {
    const request = await agent.ask('k')
    const withdrawn = await fixture.runner('withdrawRequest', { id: request.id, fence: agent.fence })
    expect(withdrawn).toMatchObject({ resolution: { by: 'agent', reason: 'withdrawn' }, delivery: { state: 'taken' } })
    await expectFault(fixture.allow(request), 'already_resolved')
  })
  it('the delivery of an answer is undeliverable if the request is withdrawn before the answer is handed', async () => {
    const request = await agent.ask('k')
    await fixture.allow(request)
    expect(await fixture.runner('withdrawRequest', { id: request.id, fence: agent.fence })).toMatchObject({
      resolution: { by: 'person' },
      delivery: { state: 'undeliverable' },
    })
    await expectFault(agent.report(request, 'handed'), 'already_resolved')
  })
})

const secrets: [string, Ask, Answer][] = [
  ['an answer', secretAsk, { kind: 'answers', answers: [{ id: 'pin', chosen: [], other: 'hunter2' }] }],
  ['a field of a form', secretForm, { kind: 'submit', values: { name: 'ada', pass: 'hunter2' } }],
]
describe.each(secrets)('a secret in %s', (_, ask, answer) => {
  const everything = async () =>
    JSON.stringify([
      await fixture.store.events({ after: 0, limit: 1000 }),
      ...(await Promise.all(
        (['request', 'idempotency', 'draft'] as const).map(table => fixture.store.find(table, {})),
      )),
    ])
  it('a secret is shown only to the agent and masked after the agent takes it, even in replies stored under idempotency keys', async () => {
    const request = await agent.ask('k', ask)
    const subscriber = await fixture.subscribe()
    const once = (key: string) => ({ idempotencyKey: key })
    const answered = await fixture.person(
      'answerRequest',
      { id: request.id, digest: request.digest, answer },
      once('a'),
    )
    expect(JSON.stringify(answered)).not.toContain('hunter2')
    expect(JSON.stringify(await fixture.person('getRequest', { id: request.id }))).not.toContain('hunter2')
    expect(JSON.stringify(await fixture.person('listRequests', {}))).not.toContain('hunter2')
    expect(JSON.stringify(await fixture.runner('getRequest', { id: request.id }))).toContain('hunter2')
    const input = { id: request.id, state: 'handed', fence: agent.fence } as const
    const handed = await fixture.runner('reportDelivery', input, once('h'))
    expect(JSON.stringify(handed)).toContain('hunter2')
    expect(await fixture.runner('reportDelivery', input, once('h'))).toEqual(handed)
    await expectFault(fixture.runner('reportDelivery', { ...input, state: 'taken' }, once('h')), 'idempotency_mismatch')
    const open = { id: agent.session.id, key: 'k', ask, fence: agent.fence }
    expect(JSON.stringify(await fixture.runner('openRequest', open, once('o')))).toContain('hunter2')
    await fixture.runner('reportDelivery', { ...input, state: 'taken' }, once('t'))
    expect(JSON.stringify(subscriber.frames)).not.toContain('hunter2')
    expect(await everything()).not.toContain('hunter2')
  })
  it('a secret is masked if the answer is undeliverable', async () => {
    const request = await agent.ask('k', ask)
    await fixture.person('answerRequest', { id: request.id, digest: request.digest, answer })
    await fixture.person('interruptSession', { id: agent.session.id })
    expect(await fixture.person('getRequest', { id: request.id })).toMatchObject({
      delivery: { state: 'undeliverable' },
    })
    expect(await everything()).not.toContain('hunter2')
  })
  it('a secret in a draft is deleted however the request is resolved', async () => {
    const request = await agent.ask('k', ask)
    await fixture.person('putDraft', { id: request.id, draft: 'hunter2' })
    await fixture.runner('withdrawRequest', { id: request.id, fence: agent.fence })
    expect(await fixture.person('getDraft', { id: request.id })).toEqual({ draft: null, others: [] })
    const late = await agent.ask('late', ask, { deadlineMs: 1000 })
    await fixture.person('putDraft', { id: late.id, draft: 'hunter2' })
    await fixture.clock.advance(1000)
    const last = await agent.ask('last', ask)
    await fixture.person('putDraft', { id: last.id, draft: 'hunter2' }, { idempotencyKey: 'draft' })
    await fixture.person('endSession', { id: agent.session.id })
    expect(await everything()).not.toContain('hunter2')
  })
})

describe('a deadline', () => {
  const ask = (onDeadline: 'deny' | 'wait') => agent.ask('k', approval(), { deadlineMs: 60_000, onDeadline })
  it.each([
    [-1, 'person'],
    [0, 'deadline'],
    [1, 'deadline'],
  ] as const)(
    'if a person answers %i ms after the deadline, the %s resolves the request, before and after the sweep (T4)',
    async (offset, by) => {
      // `jump` moves the clock without running the sweep, and `advance` runs the sweep.
      for (const move of [(ms: number) => fixture.clock.jump(ms), (ms: number) => fixture.clock.advance(ms)]) {
        const request = await agent.ask(`k${move}`, approval(), { deadlineMs: 60_000, onDeadline: 'deny' })
        await move(60_000 + offset)
        const answered = fixture.allow(request)
        if (by === 'person') expect(await answered).toMatchObject({ resolution: { by } })
        else await expectFault(answered, 'already_resolved')
        expect(await fixture.person('getRequest', { id: request.id })).toMatchObject({ resolution: { by } })
      }
    },
  )
  it('a deadline whose action is deny resolves the request with the reason that nobody answered (G6, T8)', async () => {
    const request = await ask('deny')
    await fixture.clock.advance(60_000)
    const resolved = await fixture.person('getRequest', { id: request.id })
    expect(resolved.resolution).toEqual({ at: expect.any(Number), by: 'deadline', reason: 'nobody answered' })
  })
  it('a deadline whose action is wait marks the request overdue once, and the request can still be answered', async () => {
    const request = await ask('wait')
    await fixture.clock.advance(61_000)
    expect(await fixture.person('getRequest', { id: request.id })).toMatchObject({ status: 'pending', overdue: true })
    await fixture.clock.advance(10_000)
    expect((await fixture.eventTypes()).filter(type => type === 'request.overdue')).toHaveLength(1)
    expect(await fixture.allow(request)).toMatchObject({ resolution: { by: 'person' } })
  })
  it('a deadline takes precedence over a later interrupt, withdrawal or end, even before the sweep (G1)', async () => {
    const { id } = agent.session
    const ways: readonly [string, () => Promise<unknown>][] = [
      ['interrupt', () => fixture.person('interruptSession', { id })],
      ['withdraw', () => fixture.runner('withdrawRequest', { id: requestId, fence: agent.fence })],
      ['end', () => fixture.person('endSession', { id })],
    ]
    let requestId = (await ask('deny')).id
    for (const [name, way] of ways) {
      requestId = (await agent.ask(name, approval(), { deadlineMs: 1000, onDeadline: 'deny' })).id
      fixture.clock.jump(1000)
      await way()
      expect(await fixture.person('getRequest', { id: requestId }), name).toMatchObject({
        resolution: { by: 'deadline' },
      })
    }
  })
  it('a deadline can be longer than the longest Node timer', async () => {
    const request = await agent.ask('k', approval(), { deadlineMs: 2 ** 31 + 1000 })
    expect(request.deadlineAt).toBe(fixture.clock.now() + 2 ** 31 + 1000)
    fixture.clock.jump(2 ** 31)
    await fixture.clock.advance(500)
    expect(await fixture.person('getRequest', { id: request.id })).toMatchObject({ status: 'pending' })
    await fixture.clock.advance(1000)
    expect(await fixture.person('getRequest', { id: request.id })).toMatchObject({ resolution: { by: 'deadline' } })
  })
  it('a deadline that has passed stays in force if the clock goes backwards (T1)', async () => {
    const request = await ask('deny')
    fixture.clock.jump(60_000)
    await agent.append({ type: 'message.added', block: 'b', text: 'anything that commits' })
    fixture.clock.jump(-3_600_000)
    await expectFault(fixture.allow(request), 'already_resolved')
  })
  it('a deadline comes from the request, or else from the session, or else from the settings', async () => {
    const own = await openFixture({ settings: { deadlineMs: 5000, onDeadline: 'wait' } })
    const plain = await own.startAttached()
    const started = await own.startAttached('resumable', { deadlineMs: 7000, onDeadline: 'deny' })
    const now = own.clock.now()
    expect(await plain.ask('k')).toMatchObject({ deadlineAt: now + 5000, onDeadline: 'wait' })
    expect(await started.ask('k')).toMatchObject({ deadlineAt: now + 7000, onDeadline: 'deny' })
    expect(await started.ask('own', approval(), { deadlineMs: 9000 })).toMatchObject({ deadlineAt: now + 9000 })
    expect(await agent.ask('none')).toMatchObject({ deadlineAt: null })
  })
})

describe('getRequest with a wait time', () => {
  it('getRequest with a wait time returns immediately if the request is already resolved', async () => {
    const request = await agent.ask('k')
    await fixture.allow(request)
    expect(await fixture.runner('getRequest', { id: request.id, wait: 60_000 })).toMatchObject({ status: 'resolved' })
  })
  it('getRequest with a wait time returns when the request is answered', async () => {
    const request = await agent.ask('k')
    const waiting = fixture.runner('getRequest', { id: request.id, wait: 60_000 })
    await fixture.clock.advance(10_000)
    await fixture.allow(request)
    expect(await waiting).toMatchObject({ resolution: { by: 'person' } })
  })
  it('getRequest with a wait time returns the pending request when the wait time is over, and not before', async () => {
    const request = await agent.ask('k')
    let done = false
    const waiting = fixture.runner('getRequest', { id: request.id, wait: 10_000 }).finally(() => {
      done = true
    })
    await fixture.clock.advance(9_999)
    expect(done).toBe(false)
    await fixture.clock.advance(1)
    expect(await waiting).toMatchObject({ status: 'pending' })
  })
  it('getRequest with a wait time returns in time even if the clock is set back', async () => {
    const request = await agent.ask('k')
    const waiting = fixture.runner('getRequest', { id: request.id, wait: 10_000 })
    await fixture.clock.advance(0)
    fixture.clock.jump(-3_600_000)
    await fixture.clock.advance(10_000)
    expect(await waiting).toMatchObject({ status: 'pending' })
  })
  it('getRequest with a wait time rejects when the caller aborts, before or during the wait', async () => {
    const request = await agent.ask('k')
    const leaving = new AbortController()
    const waiting = fixture.runner('getRequest', { id: request.id, wait: 60_000 }, { signal: leaving.signal })
    await fixture.clock.advance(0)
    leaving.abort()
    await expectFault(waiting, 'draining')
    await expectFault(
      fixture.runner('getRequest', { id: request.id, wait: 60_000 }, { signal: AbortSignal.abort() }),
      'draining',
    )
  })
  it('getRequest with a wait time rejects when the gateway closes, and the request stays pending', async () => {
    const request = await agent.ask('k')
    const waiting = fixture.runner('getRequest', { id: request.id, wait: 60_000 })
    await fixture.clock.advance(0)
    await Promise.all([expectFault(waiting, 'draining'), fixture.gateway.close()])
    await fixture.open()
    expect(await fixture.person('getRequest', { id: request.id })).toMatchObject({ status: 'pending' })
  })
  it('getRequest with a wait time reports `not_found` immediately for a request of another agent', async () => {
    const request = await agent.ask('k')
    await expectFault(fixture.externalAgent('getRequest', { id: request.id, wait: 60_000 }), 'not_found')
  })
})

describe('listRequests', () => {
  it('listRequests returns every request exactly once, page by page, oldest first', async () => {
    const asked = []
    for (let i = 0; i < 7; i++) asked.push((await agent.ask(`k${i}`)).id)
    const seen = []
    let after: (typeof asked)[number] | undefined
    do {
      const page = await fixture.person('listRequests', { status: 'pending', limit: 3, ...(after ? { after } : {}) })
      seen.push(...page.items.map(item => item.id))
      after = (page.next ?? undefined) as typeof after // `next` is the id of the last request of the page
    } while (after)
    expect(seen).toEqual(asked)
    expect((await fixture.person('listRequests', { limit: 7 })).next).toBeNull()
  })
  it('listRequests filters by status and session', async () => {
    const elsewhere = await fixture.startAttached()
    const [a, b] = [await agent.ask('a'), await elsewhere.ask('b')]
    await fixture.allow(a)
    expect((await fixture.person('listRequests', { status: 'resolved' })).items.map(r => r.id)).toEqual([a.id])
    expect((await fixture.person('listRequests', { session: elsewhere.session.id })).items.map(r => r.id)).toEqual([
      b.id,
    ])
  })
})

describe('drafts', () => {
  it('drafts are stored per person, and other people see that someone is answering', async () => {
    const request = await agent.ask('k')
    const subscriber = await fixture.subscribe()
    await fixture.person('putDraft', { id: request.id, draft: { text: 'perh' } })
    await fixture.person('putDraft', { id: request.id, draft: { text: 'perhaps' } })
    expect(await fixture.person('getDraft', { id: request.id })).toMatchObject({
      draft: { person: 'ada', draft: { text: 'perhaps' } },
      others: [],
    })
    expect(await fixture.otherPerson('getDraft', { id: request.id })).toEqual({
      draft: null,
      others: [{ id: ada.id, name: 'ada' }],
    })
    await fixture.person('deleteDraft', { id: request.id })
    expect(subscriber.frames.map(frame => frame.frame === 'answering' && [frame.person, frame.active])).toEqual([
      ['ada', true],
      ['ada', true],
      ['ada', false],
    ])
  })
  it('drafts are deleted when the request is resolved', async () => {
    const request = await agent.ask('k')
    await fixture.otherPerson('putDraft', { id: request.id, draft: 1 })
    await fixture.allow(request)
    expect(await fixture.otherPerson('getDraft', { id: request.id })).toEqual({ draft: null, others: [] })
    await expectFault(fixture.person('putDraft', { id: request.id, draft: 1 }), 'already_resolved')
  })
  it('drafts are limited in size', async () => {
    const request = await agent.ask('k')
    await fixture.person('putDraft', { id: request.id, draft: 'x'.repeat(limits.draftMaxBytes - 2) })
    await expectFault(
      fixture.person('putDraft', { id: request.id, draft: 'x'.repeat(limits.draftMaxBytes - 1) }),
      'body_too_large',
    )
  })
  it('drafts are forbidden for agents', async () => {
    const request = await agent.ask('k')
    await expectFault(fixture.externalAgent('getDraft', { id: request.id }), 'forbidden')
  })
})

describe('listAudit', () => {
  it('listAudit returns an entry for every resolution with person, origin, time, digest and answer (G10)', async () => {
    const [a, b] = [await agent.ask('a'), await agent.ask('b')]
    await fixture.allow(a)
    await fixture.deny(b, fixture.otherPerson)
    const { items } = await fixture.person('listAudit', {})
    expect(items).toMatchObject([
      { request: a.id, digest: a.digest, resolution: { person: ada.name, via: ada.via, answer: { kind: 'allow' } } },
      { request: b.id, digest: b.digest, resolution: { person: bob.name, via: bob.via, answer: { kind: 'deny' } } },
    ])
  })
})

describe('an ask without optional fields', () => {
  it('an ask without optional fields gets the folder of its session and the other defaults in the row, in the reply and in the digest', async () => {
    const fixture = await openFixture()
    const { id } = await fixture.externalAgent('startSession', { driver: 'external', cwd: '/srv/app' })
    const short = { kind: 'approval', tool: 'Bash', input: { command: 'ls' } } as const
    const request = await fixture.externalAgent('openRequest', { id, key: 'k', ask: short })
    const filled = { ...short, title: 'Bash', cwd: '/srv/app', editable: false }
    expect(request.ask).toEqual(filled)
    expect((await fixture.store.get('request', request.id))?.ask).toEqual(filled)
    const full = await fixture.externalAgent('openRequest', { id, key: 'k', ask: filled })
    expect(full, 'the same ask in full is the same request').toEqual(request)
    await expectFault(
      fixture.externalAgent('openRequest', { id, key: 'k', ask: { ...short, cwd: '/srv' } }),
      'key_conflict',
    )
  })
})
