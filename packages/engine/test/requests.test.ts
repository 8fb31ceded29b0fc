/** Requests through the gateway: asked once, resolved once, delivered or accounted for. */
import { createHash } from 'node:crypto'
import { type Answer, type Ask, digestText, formatId, limits } from '@holdpoint/protocol'
import { beforeEach, describe, expect, it } from 'vitest'
import {
  ada,
  approval,
  bob,
  type Driven,
  type GatewayFixture,
  refused,
  rig,
  runnerCaller,
  secretAsk,
  secretForm,
} from './gateway-fixture.ts'

let at: GatewayFixture
let driven: Driven
beforeEach(async () => {
  at = await rig()
  driven = await at.drive()
})

describe('asking', () => {
  it('opens a request with its digest, and asking again finds it (G4)', async () => {
    const first = await at.gateway.dispatch(runnerCaller, 'openRequest', {
      id: driven.session.id,
      key: 'k',
      ask: approval(),
      fence: driven.fence,
    })
    expect(first).toMatchObject({ status: 201, body: { status: 'pending', resolution: null } })
    const again = await at.gateway.dispatch(runnerCaller, 'openRequest', {
      id: driven.session.id,
      key: 'k',
      ask: approval('ls', { title: 'Titled otherwise' }),
      fence: driven.fence,
    })
    expect(again).toMatchObject({ status: 200, body: { id: first.body.id, digest: first.body.digest } })
    expect((await at.log()).filter(type => type === 'request.opened')).toHaveLength(1)
  })
  it('under the same key with other content is a conflict, whatever became of the first (G4)', async () => {
    const first = await driven.ask('k')
    await refused(driven.ask('k', approval('rm -rf /')), 'key_conflict')
    await at.allow(first)
    await refused(driven.ask('k', approval('rm -rf /')), 'key_conflict')
  })
  it('under the same key in another session is another request', async () => {
    const elsewhere = await at.drive()
    expect((await elsewhere.ask('k')).id).not.toBe((await driven.ask('k')).id)
  })
  it('is answered by a rule at once, by exact match only', async () => {
    const exactly = { effect: 'allow', tool: 'Bash', command: 'ls', scope: { cwd: '/srv' } } as const
    const { id } = await at.person('addRule', exactly)
    expect(await driven.ask('a')).toMatchObject({
      status: 'resolved',
      resolution: { by: 'rule', rule: id, answer: { kind: 'allow' } },
      delivery: { state: 'waiting' },
    })
    expect(await driven.ask('b', approval('ls -l'))).toMatchObject({ status: 'pending' })
    await at.person('addRule', { effect: 'deny', tool: 'Bash' })
    expect(await driven.ask('c')).toMatchObject({ resolution: { by: 'rule', answer: { kind: 'deny' } } })
    await at.person('removeRule', { id })
    expect((await at.person('listRules', {})).items).toHaveLength(1)
  })
  it('stops at so many pending requests of one session', async () => {
    await Promise.all(Array.from({ length: limits.pendingPerSessionMax }, (_, i) => driven.ask(`k${i}`)))
    await refused(driven.ask('one more'), 'too_many')
    expect(await driven.ask('k0')).toMatchObject({ status: 'pending' })
    await at.deny(await driven.ask('k0'))
    expect(await driven.ask('one more')).toMatchObject({ status: 'pending' })
  })
  it('stops there too when all ask at the same moment', async () => {
    const asked = await Promise.allSettled(
      Array.from({ length: limits.pendingPerSessionMax + 50 }, (_, i) => driven.ask(`k${i}`)),
    )
    expect(asked.filter(result => result.status === 'fulfilled')).toHaveLength(limits.pendingPerSessionMax)
  })
  it('stops at so many bytes that wait in one session, also when all ask at the same moment', async () => {
    const large = (n: number) => approval('x', { input: { command: `${n} ${'x'.repeat(1024 * 1024)}` } })
    const most = Math.floor(limits.pendingBytesPerSessionMax / (1024 * 1024)) - 1
    const asked = await Promise.allSettled(Array.from({ length: most + 5 }, (_, i) => driven.ask(`k${i}`, large(i))))
    expect(asked.filter(result => result.status === 'fulfilled')).toHaveLength(most)
    await refused(driven.ask('more', large(99)), 'too_many')
    expect(await driven.ask('small')).toMatchObject({ status: 'pending' })
    const first = await driven.ask('k0', large(0))
    await at.deny(first)
    expect(await driven.ask('more', large(99))).toMatchObject({ status: 'pending' })
    await refused(driven.ask('too much', large(100)), 'too_many')
    await at.gateway.close()
    await at.open()
    await refused(driven.ask('too much', large(100)), 'too_many')
    expect(await (await at.drive()).ask('elsewhere', large(1))).toMatchObject({ status: 'pending' })
  })
  it('of a session that is not there, or has ended, is refused', async () => {
    await at.person('endSession', { id: driven.session.id })
    await refused(driven.ask('k'), 'session_ended')
  })
})

describe('answering', () => {
  it('resolves once; the loser is told who won and what was said (G1)', async () => {
    const request = await driven.ask('k')
    expect(await at.allow(request)).toMatchObject({
      resolution: { by: 'person', person: 'ada', via: 'page', answer: { kind: 'allow' } },
    })
    await expect(at.deny(request, at.other)).rejects.toMatchObject({
      code: 'already_resolved',
      message: expect.stringContaining('ada'),
      detail: { request: { resolution: { person: 'ada', answer: { kind: 'allow' } } } },
    })
  })
  it('with an equal answer by the same person is no error; by another it is (X2)', async () => {
    const request = await driven.ask('k')
    await at.allow(request)
    expect(await at.allow(request)).toMatchObject({ resolution: { person: 'ada' } })
    await refused(at.allow(request, at.other), 'already_resolved')
    await refused(at.allow({ ...request, digest: 'another' }), 'digest_mismatch')
    expect((await at.log()).filter(type => type === 'request.resolved')).toHaveLength(1)
  })
  it('with another digest, or an answer that does not fit, leaves it pending', async () => {
    const request = await driven.ask('k')
    const other = await driven.ask('other', approval('pwd'))
    const answer: Answer = { kind: 'allow' }
    await refused(at.person('answerRequest', { id: request.id, digest: other.digest, answer }), 'digest_mismatch')
    await refused(at.person('answerRequest', { id: request.id, digest: '', answer }), 'digest_mismatch')
    const misfit: Answer = { kind: 'submit', values: {} }
    await refused(
      at.person('answerRequest', { id: request.id, digest: request.digest, answer: misfit }),
      'answer_mismatch',
    )
    expect(await at.person('getRequest', { id: request.id })).toMatchObject({ status: 'pending' })
  })
  it('an unknown request is not found, also where it is opened meanwhile', async () => {
    const ask = approval()
    const sha256 = (text: string) => createHash('sha256').update(text).digest()
    const id = formatId('req', sha256(`${driven.session.id}\0late`))
    const input = {
      id,
      digest: sha256(digestText(driven.session.id, ask)).toString('hex'),
      answer: { kind: 'deny' },
    } as const
    await refused(at.person('answerRequest', input), 'not_found')
    // Both wait for the same commit: the request is there when the answer is decided, and was not when it came.
    await driven.ask('earlier', approval('so that the rules are at hand'))
    const opening = driven.ask('late', ask)
    for (let i = 0; i < 200; i++) await null
    await refused(at.person('answerRequest', input), 'not_found')
    expect(await opening).toMatchObject({ id, digest: input.digest, status: 'pending' })
  })
  it('with edited input records its digest, unless a rule forbids it (G7)', async () => {
    await at.person('addRule', { effect: 'deny', tool: 'Bash', command: 'rm' })
    const request = await driven.ask('k')
    const edit = (command: string): Answer => ({ kind: 'allow', input: { command } })
    await refused(
      at.person('answerRequest', { id: request.id, digest: request.digest, answer: edit('rm') }),
      'answer_mismatch',
    )
    const resolved = await at.person('answerRequest', { id: request.id, digest: request.digest, answer: edit('ls -l') })
    expect(resolved.resolution?.editedDigest).toMatch(/^[0-9a-f]{64}$/)
    expect(resolved.resolution?.editedDigest).not.toBe(request.digest)
    expect(resolved.digest).toBe(request.digest)
  })
  it('several at once gives a result each; one failing fails no other', async () => {
    const [a, b, c] = [await driven.ask('a'), await driven.ask('b', approval('b')), await driven.ask('c')]
    await at.deny(c, at.other)
    const { items } = await at.person('answerRequests', {
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
  it('is not for agents (G8)', async () => {
    const request = await driven.ask('k')
    for (const call of [at.agent, at.runner]) {
      await refused(at.allow(request, call), 'forbidden')
      await refused(
        call('answerRequests', { items: [{ id: request.id, digest: request.digest, answer: { kind: 'allow' } }] }),
        'forbidden',
      )
    }
  })
})

describe('delivery', () => {
  it('goes waiting, handed, taken, with an event each', async () => {
    const request = await driven.ask('k')
    await refused(driven.report(request, 'handed'), 'not_resolved')
    await at.allow(request)
    await refused(driven.report(request, 'taken'), 'already_resolved')
    expect(await driven.report(request, 'handed')).toMatchObject({ delivery: { state: 'handed' } })
    expect(await driven.report(request, 'handed')).toMatchObject({ delivery: { state: 'handed' } })
    expect(await driven.report(request, 'taken')).toMatchObject({ delivery: { state: 'taken' } })
    await refused(driven.report(request, 'handed'), 'already_resolved')
    await refused(driven.report(request, 'undeliverable'), 'already_resolved')
    expect((await at.log()).filter(type => type.startsWith('request.'))).toEqual([
      'request.opened',
      'request.resolved',
      'request.handed',
      'request.taken',
    ])
  })
  it('of a withdrawn request is settled at once, and no answer comes after', async () => {
    const request = await driven.ask('k')
    const withdrawn = await at.runner('withdrawRequest', { id: request.id, fence: driven.fence })
    expect(withdrawn).toMatchObject({ resolution: { by: 'agent', reason: 'withdrawn' }, delivery: { state: 'taken' } })
    await refused(at.allow(request), 'already_resolved')
  })
  it('of an answer that was withdrawn before it was handed is undeliverable', async () => {
    const request = await driven.ask('k')
    await at.allow(request)
    expect(await at.runner('withdrawRequest', { id: request.id, fence: driven.fence })).toMatchObject({
      resolution: { by: 'person' },
      delivery: { state: 'undeliverable' },
    })
    await refused(driven.report(request, 'handed'), 'already_resolved')
  })
})

const secrets: [string, Ask, Answer][] = [
  ['an answer', secretAsk, { kind: 'answers', answers: [{ id: 'pin', chosen: [], other: 'hunter2' }] }],
  ['a field of a form', secretForm, { kind: 'submit', values: { name: 'ada', pass: 'hunter2' } }],
]
describe.each(secrets)('a secret as %s', (_, ask, answer) => {
  const everything = async () =>
    JSON.stringify([
      await at.store.events({ after: 0, limit: 1000 }),
      ...(await Promise.all((['request', 'idem', 'draft'] as const).map(table => at.store.find(table, {})))),
    ])
  it('is for the agent only, and gone once taken, also under idempotency keys', async () => {
    const request = await driven.ask('k', ask)
    const watching = await at.watch()
    const once = (key: string) => ({ idempotencyKey: key })
    const said = await at.person('answerRequest', { id: request.id, digest: request.digest, answer }, once('a'))
    expect(JSON.stringify(said)).not.toContain('hunter2')
    expect(JSON.stringify(await at.person('getRequest', { id: request.id }))).not.toContain('hunter2')
    expect(JSON.stringify(await at.person('listRequests', {}))).not.toContain('hunter2')
    expect(JSON.stringify(await at.runner('getRequest', { id: request.id }))).toContain('hunter2')
    const input = { id: request.id, state: 'handed', fence: driven.fence } as const
    const handed = await at.runner('reportDelivery', input, once('h'))
    expect(JSON.stringify(handed)).toContain('hunter2')
    expect(await at.runner('reportDelivery', input, once('h'))).toEqual(handed)
    await refused(at.runner('reportDelivery', { ...input, state: 'taken' }, once('h')), 'idempotency_mismatch')
    const open = { id: driven.session.id, key: 'k', ask, fence: driven.fence }
    expect(JSON.stringify(await at.runner('openRequest', open, once('o')))).toContain('hunter2')
    await at.runner('reportDelivery', { ...input, state: 'taken' }, once('t'))
    expect(JSON.stringify(watching.frames)).not.toContain('hunter2')
    expect(await everything()).not.toContain('hunter2')
  })
  it('is gone too where it could not be delivered', async () => {
    const request = await driven.ask('k', ask)
    await at.person('answerRequest', { id: request.id, digest: request.digest, answer })
    await at.person('interruptSession', { id: driven.session.id })
    expect(await at.person('getRequest', { id: request.id })).toMatchObject({ delivery: { state: 'undeliverable' } })
    expect(await everything()).not.toContain('hunter2')
  })
  it('is gone with its draft, however the request is resolved', async () => {
    const request = await driven.ask('k', ask)
    await at.person('putDraft', { id: request.id, draft: 'hunter2' })
    await at.runner('withdrawRequest', { id: request.id, fence: driven.fence })
    expect(await at.person('getDraft', { id: request.id })).toEqual({ draft: null, others: [] })
    const late = await driven.ask('late', ask, { deadlineMs: 1000 })
    await at.person('putDraft', { id: late.id, draft: 'hunter2' })
    await at.clock.pass(1000)
    const last = await driven.ask('last', ask)
    await at.person('putDraft', { id: last.id, draft: 'hunter2' }, { idempotencyKey: 'kept' })
    await at.person('endSession', { id: driven.session.id })
    expect(await everything()).not.toContain('hunter2')
  })
})

describe('a deadline', () => {
  const ask = (onDeadline: 'deny' | 'wait') => driven.ask('k', approval(), { deadlineMs: 60_000, onDeadline })
  it.each([
    [-1, 'person'],
    [0, 'deadline'],
    [1, 'deadline'],
  ] as const)('an answer %i ms from it: won by the %s, swept or not (T4)', async (offset, by) => {
    // jump() moves the clock without waking the sweep; pass() lets it run.
    for (const move of [(ms: number) => at.clock.jump(ms), (ms: number) => at.clock.pass(ms)]) {
      const request = await driven.ask(`k${move}`, approval(), { deadlineMs: 60_000, onDeadline: 'deny' })
      await move(60_000 + offset)
      const answered = at.allow(request)
      if (by === 'person') expect(await answered).toMatchObject({ resolution: { by } })
      else await refused(answered, 'already_resolved')
      expect(await at.person('getRequest', { id: request.id })).toMatchObject({ resolution: { by } })
    }
  })
  it('that denies says that nobody answered, and nothing is allowed (G6, T8)', async () => {
    const request = await ask('deny')
    await at.clock.pass(60_000)
    const resolved = await at.runner('getRequest', { id: request.id })
    expect(resolved.resolution).toEqual({ at: expect.any(Number), by: 'deadline', reason: 'nobody answered' })
  })
  it('that waits marks the request overdue, once, and leaves it answerable', async () => {
    const request = await ask('wait')
    await at.clock.pass(61_000)
    expect(await at.person('getRequest', { id: request.id })).toMatchObject({ status: 'pending', overdue: true })
    await at.clock.pass(10_000)
    expect((await at.log()).filter(type => type === 'request.overdue')).toHaveLength(1)
    expect(await at.allow(request)).toMatchObject({ resolution: { by: 'person' } })
  })
  it('beats whatever the agent’s side does afterwards, swept or not (G1)', async () => {
    const { id } = driven.session
    const ways: readonly [string, () => Promise<unknown>][] = [
      ['interrupt', () => at.person('interruptSession', { id })],
      ['withdraw', () => at.runner('withdrawRequest', { id: requestId, fence: driven.fence })],
      ['end', () => at.person('endSession', { id })],
    ]
    let requestId = (await ask('deny')).id
    for (const [name, way] of ways) {
      requestId = (await driven.ask(name, approval(), { deadlineMs: 1000, onDeadline: 'deny' })).id
      at.clock.jump(1000)
      await way()
      expect(await at.person('getRequest', { id: requestId }), name).toMatchObject({ resolution: { by: 'deadline' } })
    }
  })
  it('longer than a timer can sleep holds', async () => {
    const request = await driven.ask('k', approval(), { deadlineMs: 2 ** 31 + 1000 })
    expect(request.deadlineAt).toBe(at.clock.now() + 2 ** 31 + 1000)
    at.clock.jump(2 ** 31)
    await at.clock.pass(500)
    expect(await at.person('getRequest', { id: request.id })).toMatchObject({ status: 'pending' })
    await at.clock.pass(1000)
    expect(await at.person('getRequest', { id: request.id })).toMatchObject({ resolution: { by: 'deadline' } })
  })
  it('that has passed is not revived by a clock that goes backwards (T1)', async () => {
    const request = await ask('deny')
    at.clock.jump(60_000)
    await driven.say({ type: 'message.added', block: 'b', text: 'anything that commits' })
    at.clock.jump(-3_600_000)
    await refused(at.allow(request), 'already_resolved')
  })
  it('comes from the request, else from the session, else from the settings', async () => {
    const own = await rig({ settings: { deadlineMs: 5000, onDeadline: 'wait' } })
    const plain = await own.drive()
    const started = await own.drive('steady', { deadlineMs: 7000, onDeadline: 'deny' })
    const now = own.clock.now()
    expect(await plain.ask('k')).toMatchObject({ deadlineAt: now + 5000, onDeadline: 'wait' })
    expect(await started.ask('k')).toMatchObject({ deadlineAt: now + 7000, onDeadline: 'deny' })
    expect(await started.ask('own', approval(), { deadlineMs: 9000 })).toMatchObject({ deadlineAt: now + 9000 })
    expect(await driven.ask('none')).toMatchObject({ deadlineAt: null })
  })
})

describe('waiting for a request', () => {
  it('returns at once where the answer came before', async () => {
    const request = await driven.ask('k')
    await at.allow(request)
    expect(await at.runner('getRequest', { id: request.id, wait: 60_000 })).toMatchObject({ status: 'resolved' })
  })
  it('returns when the answer comes', async () => {
    const request = await driven.ask('k')
    const waiting = at.runner('getRequest', { id: request.id, wait: 60_000 })
    await at.clock.pass(30_000)
    await at.allow(request)
    expect(await waiting).toMatchObject({ resolution: { by: 'person' } })
  })
  it('returns the pending request when the time is over, and not before', async () => {
    const request = await driven.ask('k')
    let done = false
    const waiting = at.runner('getRequest', { id: request.id, wait: 10_000 }).finally(() => {
      done = true
    })
    await at.clock.pass(9_999)
    expect(done).toBe(false)
    await at.clock.pass(1)
    expect(await waiting).toMatchObject({ status: 'pending' })
  })
  it('ends in time although the clock was set back', async () => {
    const request = await driven.ask('k')
    const waiting = at.runner('getRequest', { id: request.id, wait: 10_000 })
    await at.clock.pass(0)
    at.clock.jump(-3_600_000)
    await at.clock.pass(10_000)
    expect(await waiting).toMatchObject({ status: 'pending' })
  })
  it('ends when the caller is gone, before or meanwhile', async () => {
    const request = await driven.ask('k')
    const leaving = new AbortController()
    const waiting = at.runner('getRequest', { id: request.id, wait: 60_000 }, { signal: leaving.signal })
    await at.clock.pass(0)
    leaving.abort()
    await refused(waiting, 'draining')
    await refused(
      at.runner('getRequest', { id: request.id, wait: 60_000 }, { signal: AbortSignal.abort() }),
      'draining',
    )
  })
  it('ends when the gateway stops, and the request stays pending', async () => {
    const request = await driven.ask('k')
    const waiting = at.runner('getRequest', { id: request.id, wait: 60_000 })
    await at.clock.pass(0)
    await Promise.all([refused(waiting, 'draining'), at.gateway.close()])
    await at.open()
    expect(await at.person('getRequest', { id: request.id })).toMatchObject({ status: 'pending' })
  })
  it('tells an agent at once that another’s request is not there', async () => {
    const request = await driven.ask('k')
    await refused(at.agent('getRequest', { id: request.id, wait: 60_000 }), 'not_found')
  })
})

describe('listing requests', () => {
  it('goes page by page, oldest first, and misses none', async () => {
    const asked = []
    for (let i = 0; i < 7; i++) asked.push((await driven.ask(`k${i}`)).id)
    const seen = []
    let after: (typeof asked)[number] | undefined
    do {
      const page = await at.person('listRequests', { status: 'pending', limit: 3, ...(after ? { after } : {}) })
      seen.push(...page.items.map(item => item.id))
      after = (page.next ?? undefined) as typeof after // the id of the last item
    } while (after)
    expect(seen).toEqual(asked)
    expect((await at.person('listRequests', { limit: 7 })).next).toBeNull()
  })
  it('filters by status and session', async () => {
    const elsewhere = await at.drive()
    const [a, b] = [await driven.ask('a'), await elsewhere.ask('b')]
    await at.allow(a)
    expect((await at.person('listRequests', { status: 'resolved' })).items.map(r => r.id)).toEqual([a.id])
    expect((await at.person('listRequests', { session: elsewhere.session.id })).items.map(r => r.id)).toEqual([b.id])
  })
})

describe('drafts', () => {
  it('are kept per person; others see that someone is answering', async () => {
    const request = await driven.ask('k')
    const watching = await at.watch()
    await at.person('putDraft', { id: request.id, draft: { text: 'perh' } })
    await at.person('putDraft', { id: request.id, draft: { text: 'perhaps' } })
    expect(await at.person('getDraft', { id: request.id })).toMatchObject({
      draft: { person: 'ada', draft: { text: 'perhaps' } },
      others: [],
    })
    expect(await at.other('getDraft', { id: request.id })).toEqual({ draft: null, others: ['ada'] })
    await at.person('deleteDraft', { id: request.id })
    expect(watching.frames.map(frame => frame.frame === 'answering' && [frame.person, frame.active])).toEqual([
      ['ada', true],
      ['ada', true],
      ['ada', false],
    ])
  })
  it('end with the request', async () => {
    const request = await driven.ask('k')
    await at.other('putDraft', { id: request.id, draft: 1 })
    await at.allow(request)
    expect(await at.other('getDraft', { id: request.id })).toEqual({ draft: null, others: [] })
    await refused(at.person('putDraft', { id: request.id, draft: 1 }), 'already_resolved')
  })
  it('have a limit', async () => {
    const request = await driven.ask('k')
    await at.person('putDraft', { id: request.id, draft: 'x'.repeat(limits.draftMaxBytes - 2) })
    await refused(
      at.person('putDraft', { id: request.id, draft: 'x'.repeat(limits.draftMaxBytes - 1) }),
      'body_too_large',
    )
  })
  it('are not for agents', async () => {
    const request = await driven.ask('k')
    await refused(at.agent('getDraft', { id: request.id }), 'forbidden')
  })
})

describe('the record', () => {
  it('has a line for every resolution: who, from where, when, the digest, what was said (G10)', async () => {
    const [a, b] = [await driven.ask('a'), await driven.ask('b')]
    await at.allow(a)
    await at.deny(b, at.other)
    const { items } = await at.person('listAudit', {})
    expect(items).toMatchObject([
      { request: a.id, digest: a.digest, resolution: { person: ada.name, via: ada.via, answer: { kind: 'allow' } } },
      { request: b.id, digest: b.digest, resolution: { person: bob.name, via: bob.via, answer: { kind: 'deny' } } },
    ])
  })
})
