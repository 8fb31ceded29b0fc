/** Tests credentials: people are identified by ids and not by names, tokens of a data folder replace each other, and revoking a token revokes everything that it created. */
import { limits, type PersonId, type Token } from '@holdpoint/protocol'
import { beforeEach, describe, expect, it } from 'vitest'
import { type Caller, callAs } from '../src/index.ts'
import { approval, expectFault, type GatewayFixture, openFixture, runnerId } from './gateway-fixture.ts'

let fixture: GatewayFixture
let owner: Caller
const folder = runnerId(3)
beforeEach(async () => {
  fixture = await openFixture()
  owner = await fixture.gateway.ensureToken('owner-secret', 'owner', 'owner', folder)
})

const asOwner = () => callAs(fixture.gateway, owner)
async function callerOf(secret: string): Promise<Caller | null> {
  return fixture.gateway.authenticate({ kind: 'bearer', secret }, 'api')
}
async function newCaller(role: 'person' | 'agent', name: string, by = owner): Promise<Caller & { secret: string }> {
  const { secret } = await callAs(fixture.gateway, by)('addToken', { role, name })
  return { ...((await callerOf(secret)) as Caller), secret } // the token was just added
}
async function signIn(by: Caller, person?: PersonId) {
  const { code } = await callAs(fixture.gateway, by)('makeLink', person === undefined ? {} : { person })
  const { cookie, pageSecret, caller } = await fixture.gateway.redeemLink(code)
  const check = () => fixture.gateway.authenticate({ kind: 'cookie', secret: cookie, pageSecret }, 'page')
  return { caller, check }
}
/** Fields of a token that say who it is for. */
const holder = ({ role, person, runner, name }: Token) => ({ role, person, runner, name })

describe('a person', () => {
  it('two people with the same name have separate answers, drafts, idempotency keys and sessions', async () => {
    const [one, two] = [await newCaller('person', 'sam'), await newCaller('person', 'sam')]
    expect(one.id).not.toBe(two.id)
    const calls = [one, two].map(caller => callAs(fixture.gateway, caller)) as [
      ReturnType<typeof callAs>,
      ReturnType<typeof callAs>,
    ]
    const session = await calls[0]('startSession', { driver: 'external' }, { idempotencyKey: 'k' })
    expect((await calls[1]('startSession', { driver: 'external' }, { idempotencyKey: 'k' })).id).not.toBe(session.id)
    const request = await calls[0]('openRequest', { id: session.id, key: 'k', ask: approval() })
    await expectFault(calls[1]('openRequest', { id: session.id, key: 'other', ask: approval() }), 'forbidden')
    await calls[0]('putDraft', { id: request.id, draft: 'one' })
    expect(await calls[1]('getDraft', { id: request.id })).toEqual({
      draft: null,
      others: [{ id: one.id, name: 'sam' }],
    })
    const answer = { id: request.id, digest: request.digest, answer: { kind: 'deny' } } as const
    const { resolution } = await calls[0]('answerRequest', answer)
    expect(resolution).toMatchObject({ person: 'sam', personId: one.id })
    await calls[0]('answerRequest', answer)
    await expectFault(calls[1]('answerRequest', answer), 'already_resolved')
  })
  it('a person is the same person with each of their tokens', async () => {
    const one = await newCaller('person', 'sam')
    const person = one.id as PersonId // the token is for a person
    const { secret } = await asOwner()('addToken', { role: 'person', name: 'sam’s phone', person })
    const phone = (await callerOf(secret)) as Caller // the token was just added
    expect(phone.id).toBe(one.id)
    expect((await signIn(owner, person)).caller).toMatchObject({ id: one.id, role: 'person' })
    const session = await callAs(fixture.gateway, one)('startSession', { driver: 'external' })
    const request = await callAs(fixture.gateway, phone)('openRequest', { id: session.id, key: 'k', ask: approval() })
    const answer = { id: request.id, digest: request.digest, answer: { kind: 'deny' } } as const
    await callAs(fixture.gateway, one)('answerRequest', answer)
    expect(await callAs(fixture.gateway, phone)('answerRequest', answer)).toMatchObject({ status: 'resolved' })
  })
  it('a person named "owner" does not act as the owner', async () => {
    const fake = await newCaller('person', 'owner')
    expect(fake).toMatchObject({ role: 'person', name: 'owner' })
    expect(fake.id).not.toBe(owner.id)
    await expectFault(callAs(fixture.gateway, fake)('addToken', { role: 'agent', name: 'x' }), 'forbidden')
    await expectFault(callAs(fixture.gateway, fake)('makeLink', { person: owner.id as PersonId }), 'forbidden') // the owner is a person
    await fixture.open()
    expect(await fixture.gateway.ensureToken('owner-secret', 'owner', 'owner', folder)).toMatchObject({ id: owner.id })
    expect(await callerOf(fake.secret)).toMatchObject({ role: 'person' })
  })
  it('a person needs a token to create another token or a link', async () => {
    const nobody = `per_${'0'.repeat(20)}` as PersonId // has the format of an id
    await expectFault(asOwner()('addToken', { role: 'person', name: 'x', person: nobody }), 'not_found')
    await expectFault(asOwner()('makeLink', { person: nobody }), 'not_found')
    await expectFault(asOwner()('addToken', { role: 'agent', name: 'x', person: owner.id as PersonId }), 'bad_input') // the owner is a person
  })
})

describe('listTokens', () => {
  it('listTokens shows the kind, holder and creator of each token, and lists neither links nor revoked tokens', async () => {
    const ada = await newCaller('person', 'ada')
    const runner = await asOwner()('addToken', { role: 'runner', name: 'other machine' })
    expect(runner.runner).toMatch(/^run_/)
    await signIn(ada)
    await asOwner()('makeLink', {})
    const gone = await newCaller('agent', 'gone')
    await asOwner()('removeToken', { id: gone.token as Token['id'] }) // the token of a caller is a token id
    const { items } = await asOwner()('listTokens', {})
    expect(items.map(token => [token.kind, holder(token), token.madeBy])).toEqual([
      ['bearer', { role: 'owner', person: owner.id, runner: null, name: 'owner' }, null],
      ['bearer', { role: 'person', person: ada.id, runner: null, name: 'ada' }, owner.token],
      ['bearer', { role: 'runner', person: null, runner: runner.runner, name: 'other machine' }, owner.token],
      ['cookie', { role: 'person', person: ada.id, runner: null, name: 'ada' }, ada.token],
    ])
  })
})

describe('the token in the data folder', () => {
  it('F14: the token in the data folder replaces the earlier token and everything that was created with it, and stays the same owner', async () => {
    const agent = await newCaller('agent', 'ci')
    const page = await signIn(owner)
    const next = await fixture.gateway.ensureToken('new-secret', 'owner', 'owner', folder)
    expect(next.id).toBe(owner.id)
    expect(await callerOf('owner-secret')).toBeNull()
    expect(await callerOf(agent.secret)).toBeNull()
    expect(await page.check()).toBeNull()
    expect(await callerOf('new-secret')).toMatchObject({ role: 'owner', id: owner.id })
    expect((await callAs(fixture.gateway, next)('listTokens', {})).items.map(holder)).toEqual([
      { role: 'owner', person: owner.id, runner: null, name: 'owner' },
    ])
    // The file decides: a file with the earlier token makes that token valid again.
    await fixture.gateway.ensureToken('owner-secret', 'owner', 'owner', folder)
    expect(await callerOf('owner-secret')).toMatchObject({ role: 'owner', id: owner.id })
    expect(await callerOf('new-secret')).toBeNull()
  })
  it('the token in the data folder does not revoke the tokens of other data folders that share the store', async () => {
    const other = await fixture.gateway.ensureToken('other-secret', 'owner', 'owner', runnerId(4))
    expect(other.id).toBe(owner.id)
    expect(await callerOf('owner-secret')).not.toBeNull()
    await fixture.gateway.ensureToken('runner-secret', 'runner', 'runner', folder)
    await fixture.gateway.ensureToken('new-runner-secret', 'runner', 'runner', folder)
    expect(await callerOf('runner-secret')).toBeNull()
    expect(await callerOf('new-runner-secret')).toMatchObject({ role: 'runner', id: folder })
    expect(await callerOf('owner-secret')).not.toBeNull()
  })
  it('the token in the data folder cannot be removed, only replaced', async () => {
    await expect(asOwner()('removeToken', { id: owner.token as Token['id'] })).rejects.toMatchObject({
      code: 'bad_input',
      message: expect.stringContaining('holdpoint token rotate'),
    })
  })
  it('ensureToken writes nothing if the token has not changed', async () => {
    const before = await fixture.store.head()
    await fixture.gateway.ensureToken('owner-secret', 'owner', 'owner', folder)
    expect(await fixture.store.head()).toEqual(before)
  })
})

describe('a revoked token', () => {
  const remove = (caller: Caller, by = owner) =>
    callAs(fixture.gateway, by)('removeToken', { id: caller.token as Token['id'] }) // the token of a caller is a token id

  it('revoking a token also revokes the links and cookies that it created, and everything that these links and cookies created', async () => {
    const ada = await newCaller('person', 'ada')
    const phone = await signIn(ada)
    const tablet = await signIn(phone.caller)
    const { code } = await callAs(fixture.gateway, tablet.caller)('makeLink', {})
    const bob = await newCaller('person', 'bob')
    const bobs = await signIn(bob)
    await remove(ada)
    for (const check of [phone.check, tablet.check, () => callerOf(ada.secret)]) expect(await check()).toBeNull()
    await expectFault(fixture.gateway.redeemLink(code), 'unauthenticated')
    await expectFault(fixture.gateway.describeLink(code), 'unauthenticated')
    expect(await bobs.check()).not.toBeNull()
    const removed = (await fixture.store.events({ limit: 100, types: ['token.removed'] })).map(({ body }) => body)
    const by = owner.token
    expect(removed).toEqual(
      [ada, phone.caller, tablet.caller].map(({ token }) => ({ type: 'token.removed', token, by })),
    )
  })
  it('revoking a token also revokes its descendants after the tokens between them have expired', async () => {
    const ada = await newCaller('person', 'ada')
    const phone = await signIn(ada)
    fixture.clock.jump(limits.signInTtlMs - 1000)
    const tablet = await signIn(phone.caller)
    await fixture.clock.advance(2000)
    expect([await phone.check(), await tablet.check()]).toMatchObject([null, { name: 'ada' }])
    await remove(ada)
    expect(await tablet.check()).toBeNull()
  })
  it('A12: a revoked token cannot commit an answer or another change that had already started', async () => {
    const ada = await newCaller('person', 'ada')
    const session = await callAs(fixture.gateway, ada)('startSession', { driver: 'external' })
    const request = await callAs(fixture.gateway, ada)('openRequest', { id: session.id, key: 'k', ask: approval() })
    // Both calls were authenticated before; the removal is committed first.
    const [removed, answered, drafted] = await Promise.allSettled([
      remove(ada),
      callAs(fixture.gateway, ada)('answerRequest', {
        id: request.id,
        digest: request.digest,
        answer: { kind: 'allow' },
      }),
      callAs(fixture.gateway, ada)('putDraft', { id: request.id, draft: 1 }),
    ])
    expect(removed.status).toBe('fulfilled')
    for (const refused of [answered, drafted])
      expect(refused).toMatchObject({ status: 'rejected', reason: { code: 'unauthenticated' } })
    expect(await fixture.person('getRequest', { id: request.id })).toMatchObject({ status: 'pending' })
  })
  it('A12: a revoked token gets no answer from a long poll, even if the answer is committed together with the revocation', async () => {
    const agent = await newCaller('agent', 'ci')
    const call = callAs(fixture.gateway, agent)
    const session = await call('startSession', { driver: 'external' })
    const request = await call('openRequest', { id: session.id, key: 'k', ask: approval() })
    const poll = call('getRequest', { id: request.id, wait: 60_000 })
    const commands = call('listCommands', { id: session.id, wait: 60_000 })
    await Promise.all([
      remove(agent),
      fixture.allow(request),
      fixture.person('sendMessage', { id: session.id, text: 'x' }),
    ])
    await expectFault(poll, 'unauthenticated')
    await expectFault(commands, 'unauthenticated')
  })
  it('a revoked token cannot repeat an earlier call with its idempotency key', async () => {
    const ada = await newCaller('person', 'ada')
    const once = { idempotencyKey: 'k' }
    await callAs(fixture.gateway, ada)('startSession', { driver: 'external' }, once)
    await remove(ada)
    await expectFault(callAs(fixture.gateway, ada)('startSession', { driver: 'external' }, once), 'unauthenticated')
  })
  it('the row of a revoked token is deleted after a while', async () => {
    const ada = await newCaller('person', 'ada')
    await remove(ada)
    const rows = () => fixture.store.find('token', { where: { token: ada.token } })
    expect(await rows()).toHaveLength(1)
    fixture.clock.jump(limits.revokedTokenKeepMs)
    await fixture.clock.advance(1000)
    expect(await rows()).toHaveLength(0)
    expect(await callerOf(ada.secret)).toBeNull()
  })
  it('A13: signing out revokes the cookie and the links that its browser created, and nothing else', async () => {
    const [phone, laptop] = [await signIn(owner), await signIn(owner)]
    const { code } = await callAs(fixture.gateway, phone.caller)('makeLink', {})
    await callAs(fixture.gateway, phone.caller)('signOut', {})
    expect([await phone.check(), await laptop.check()]).toMatchObject([null, { name: 'owner' }])
    await expectFault(fixture.gateway.redeemLink(code), 'unauthenticated')
    await asOwner()('signOut', {})
    expect(await callerOf('owner-secret'), 'a bearer token has nothing to sign out').not.toBeNull()
  })
})

describe('a token with an expiry', () => {
  it('a token that expires is removed with an event, so that its streams end too', async () => {
    const expiresAt = fixture.clock.now() + 5000
    const { id, secret } = await asOwner()('addToken', { role: 'agent', name: 'late', expiresAt })
    expect(await callerOf(secret)).not.toBeNull()
    await fixture.clock.advance(6000)
    expect(await callerOf(secret)).toBeNull()
    const [event] = await fixture.store.events({ limit: 1, newestFirst: true })
    expect(event?.body).toEqual({ type: 'token.removed', token: id })
  })
})

it('a chain of tokens that create each other has a limited length', async () => {
  let caller = owner
  for (let i = 0; i < limits.tokenChainMax; i++) caller = (await signIn(caller)).caller
  await expectFault(callAs(fixture.gateway, caller)('makeLink', {}), 'too_many')
})

describe('operations that need the owner', () => {
  it.each([
    ['startSession', { driver: 'resumable', options: { mcpServers: {} } }],
    ['startSession', { driver: 'resumable', mode: 'bypassPermissions' }],
    ['patchSession', { mode: 'plan' }],
    ['deleteSession', {}],
    ['stopEverything', {}],
    ['retireRunner', { id: runnerId() }],
    ['listTokens', {}],
    ['backup', { file: '/tmp/x' }],
  ] as const)('A3: %s %j is refused for another person and leaves nothing behind', async (op, input) => {
    const agent = await fixture.startAttached()
    const person = await newCaller('person', 'ada')
    const before = await fixture.store.find('session', {})
    const full = { ...(op === 'patchSession' || op === 'deleteSession' ? { id: agent.session.id } : {}), ...input }
    await expectFault(fixture.gateway.dispatchUnparsed(person, op, full), 'forbidden')
    expect(await fixture.store.find('session', {})).toEqual(before)
  })
  it('A3: an allow with a mode, and a suggestion that changes settings or the mode, need the owner', async () => {
    const agent = await fixture.startAttached()
    const suggestions = [
      { id: 'session', label: 'Allow ls for this session', scope: 'session' },
      { id: 'settings', label: 'Allow ls everywhere', scope: 'userSettings' },
      { id: 'mode', label: 'Continue in mode acceptEdits', scope: 'session', mode: 'acceptEdits' },
    ]
    const person = callAs(fixture.gateway, await newCaller('person', 'ada'))
    const refused = [{ mode: 'acceptEdits' }, { suggestion: 'settings' }, { suggestion: 'mode' }]
    for (const [n, extra] of refused.entries()) {
      const request = await agent.ask(`k${n}`, approval('ls', { suggestions }))
      const answer = { id: request.id, digest: request.digest, answer: { kind: 'allow' as const, ...extra } }
      await expectFault(person('answerRequest', answer), 'forbidden')
      expect((await person('answerRequests', { items: [answer] })).items).toMatchObject([{ status: 403 }])
      expect(await person('getRequest', { id: request.id })).toMatchObject({ status: 'pending' })
      expect(await asOwner()('answerRequest', answer)).toMatchObject({ status: 'resolved' })
    }
    const request = await agent.ask('plain', approval('ls', { suggestions }))
    const plain = { kind: 'allow', suggestion: 'session' } as const
    expect(await person('answerRequest', { id: request.id, digest: request.digest, answer: plain })).toMatchObject({
      resolution: { answer: plain },
    })
  })
  it('a person may start a plain session, rename it, and open an external session with options', async () => {
    const person = callAs(fixture.gateway, await newCaller('person', 'ada'))
    await fixture.announce()
    const { id } = await person('startSession', {
      driver: 'resumable',
      cwd: '/srv',
      prompt: 'go',
      model: 'm',
      title: 't',
    })
    expect(await person('patchSession', { id, title: 'other', model: 'n' })).toMatchObject({ title: 'other' })
    expect(await person('startSession', { driver: 'external', options: { note: 1 } })).toMatchObject({ state: 'idle' })
  })
})
