/** Rotating a token: the holder stays the same, the old token is invalid at once, and so is everything that was created with it. */
import { Fault, type PersonId, type Role, type Token, type TokenId } from '@holdpoint/protocol'
import { beforeEach, describe, expect, it } from 'vitest'
import { type Caller, callAs, type TokenRow } from '../src/index.ts'
import { approval, expectFault, type GatewayFixture, openFixture, resumable, runnerId } from './gateway-fixture.ts'

let fixture: GatewayFixture
let owner: Caller
/** The token files of the data folder. */
let files: Map<Role, string>
let writeFile: (role: Role, secret: string) => void
const folder = runnerId(3)
beforeEach(async () => {
  files = new Map<Role, string>([
    ['owner', 'owner-secret'],
    ['runner', 'runner-secret'],
  ])
  writeFile = (role, secret) => void files.set(role, secret)
  fixture = await openFixture({ tokenFiles: { write: (role, secret) => writeFile(role, secret) } })
  owner = await registerFiles()
})

/** Does what a gateway does with the files at its start. */
async function registerFiles(): Promise<Caller> {
  await fixture.gateway.ensureToken(files.get('runner') ?? '', 'runner', 'local runner', folder)
  return fixture.gateway.ensureToken(files.get('owner') ?? '', 'owner', 'owner', folder)
}
const callerOf = (secret: string) => fixture.gateway.authenticate({ kind: 'bearer', secret }, 'api')
const asOwner = () => callAs(fixture.gateway, () => fixture.gateway.fileCaller('owner'))
const idOf = (caller: Caller) => caller.token as TokenId // the token of a caller is a token id
async function added(role: 'person' | 'agent' | 'runner', name: string, by = asOwner()) {
  const token = await by('addToken', { role, name })
  return { ...token, caller: (await callerOf(token.secret)) as Caller } // the token was just added
}
const names = (tokens: readonly Token[]) => tokens.map(({ name, kind }) => `${name} (${kind})`)

describe('rotating the owner’s token', () => {
  it('F14: rotating the owner’s token writes a new token into its file, and revokes the old token and everything that was created with it', async () => {
    const ci = await added('agent', 'ci')
    const { code } = await asOwner()('makeLink', {})
    const page = await fixture.gateway.redeemLink((await asOwner()('makeLink', {})).code)
    const rotated = await asOwner()('rotateToken', { id: idOf(owner) })
    expect(rotated).toMatchObject({ role: 'owner', name: 'owner', person: owner.id, madeBy: null, secret: null })
    expect(names(rotated.revoked)).toEqual(['owner (bearer)', 'ci (bearer)', 'owner (cookie)'])
    expect(files.get('owner')).toMatch(/^hp_/)
    expect(await callerOf('owner-secret')).toBeNull()
    expect(await callerOf(ci.secret)).toBeNull()
    const cookie = { kind: 'cookie', secret: page.cookie, pageSecret: page.pageSecret } as const
    expect(await fixture.gateway.authenticate(cookie, 'page')).toBeNull()
    await expectFault(fixture.gateway.redeemLink(code), 'unauthenticated')
    expect(await callerOf(files.get('owner') ?? '')).toMatchObject({ role: 'owner', id: owner.id, token: rotated.id })
    expect(names((await asOwner()('listTokens', {})).items)).toEqual(['local runner (bearer)', 'owner (bearer)'])
  })
  it('F14: the tokens of owner and runner are rotated independently of each other', async () => {
    const runner = fixture.gateway.fileCaller('runner')
    await asOwner()('rotateToken', { id: idOf(owner) })
    expect(await callerOf('runner-secret')).toMatchObject({ id: folder })
    const rotated = await asOwner()('rotateToken', { id: idOf(runner) })
    expect(rotated).toMatchObject({ role: 'runner', runner: folder, secret: null })
    expect(await callerOf('runner-secret')).toBeNull()
    expect(await callerOf(files.get('runner') ?? '')).toMatchObject({ role: 'runner', id: folder })
  })
  it('during a rotation, both tokens are valid while the file is written, so that nobody reads a token that is not valid yet', async () => {
    let during: Promise<unknown> = Promise.resolve()
    writeFile = (role, secret) => {
      during = Promise.all([callerOf('owner-secret'), callerOf(secret)])
      files.set(role, secret)
    }
    await asOwner()('rotateToken', { id: idOf(owner) })
    expect(await during).toMatchObject([{ id: owner.id }, { id: owner.id }])
  })
  it('rotating the owner’s token changes nothing if the file cannot be written', async () => {
    const ci = await added('agent', 'ci')
    writeFile = () => {
      throw new Fault('store_unavailable', 'the disk is full')
    }
    await expectFault(asOwner()('rotateToken', { id: idOf(owner) }), 'store_unavailable')
    expect(await callerOf('owner-secret')).toMatchObject({ token: owner.token })
    expect(await callerOf(ci.secret)).not.toBeNull()
    expect(names((await asOwner()('listTokens', {})).items)).toHaveLength(3)
  })
  it.each(['before', 'after'])(
    'exactly one token is valid after a gateway was killed %s it wrote the file of a rotated token',
    async when => {
      const { commit } = fixture.store
      let killed = () => {}
      const killing = new Promise<void>(resolve => {
        killed = resolve
      })
      writeFile = (role, secret) => {
        if (when === 'after') files.set(role, secret)
        // A killed gateway commits nothing more.
        fixture.store.commit = () => new Promise(() => {})
        killed()
      }
      void asOwner()('rotateToken', { id: idOf(owner) })
      await killing
      fixture.store.commit = commit
      await fixture.open()
      await registerFiles()
      const owners = (await asOwner()('listTokens', {})).items.filter(({ role }) => role === 'owner')
      expect(owners).toHaveLength(1)
      expect(await callerOf(files.get('owner') ?? '')).toMatchObject({ token: owners[0]?.id })
      expect(await callerOf('owner-secret')).toEqual(when === 'before' ? expect.anything() : null)
    },
  )
  it('rotating the owner’s token happens once if the call is repeated with its idempotency key or sent twice at the same time', async () => {
    const once = { idempotencyKey: 'k' }
    const first = await asOwner()('rotateToken', { id: idOf(owner) }, once)
    const secret = files.get('owner')
    expect(await asOwner()('rotateToken', { id: idOf(owner) }, once)).toEqual(first)
    expect(files.get('owner')).toBe(secret)
    const both = await Promise.allSettled([1, 2].map(() => asOwner()('rotateToken', { id: first.id })))
    expect(both.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
    expect(await callerOf(files.get('owner') ?? '')).toMatchObject({ id: owner.id })
  })
  it('a token in the data folder of another gateway with the same store cannot be rotated', async () => {
    const other = await fixture.gateway.ensureToken('other-secret', 'owner', 'owner', runnerId(4))
    await registerFiles()
    await expect(asOwner()('rotateToken', { id: idOf(other) })).rejects.toMatchObject({
      code: 'bad_input',
      message: expect.stringContaining('another gateway'),
    })
    expect(await callerOf('other-secret')).not.toBeNull()
  })
  it('calls in the gateway’s own process continue after a rotation, including a long poll that started before', async () => {
    const runner = callAs(fixture.gateway, () => fixture.gateway.fileCaller('runner'))
    const { incarnation } = await runner('announceRunner', { id: folder, name: 'r', drivers: [resumable] })
    const work = runner('listWork', { id: folder, incarnation, wait: 60_000 })
    await asOwner()('rotateToken', { id: idOf(fixture.gateway.fileCaller('runner')) })
    const session = await asOwner()('startSession', { driver: 'resumable' })
    expect(await work).toMatchObject({ items: [{ id: session.id }] })
    expect(await runner('renewRunner', { id: folder, incarnation })).toMatchObject({ id: folder })
  })
})

describe('rotating another token', () => {
  it('rotating a person’s token returns a secret for the same person, and revokes the old token with its links and cookies', async () => {
    const ada = await added('person', 'ada')
    const { code } = await callAs(fixture.gateway, ada.caller)('makeLink', {})
    const rotated = await asOwner()('rotateToken', { id: ada.id })
    expect(rotated).toMatchObject({ role: 'person', name: 'ada', person: ada.person, madeBy: owner.token })
    expect(await callerOf(ada.secret)).toBeNull()
    expect(await callerOf(rotated.secret ?? '')).toMatchObject({ id: ada.person, token: rotated.id })
    await expectFault(fixture.gateway.redeemLink(code), 'unauthenticated')
    expect(names(rotated.revoked)).toEqual(['ada (bearer)'])
  })
  it('an agent keeps its sessions when its token is rotated, including sessions that a person opens for it later', async () => {
    const ci = await added('agent', 'ci')
    const session = await callAs(fixture.gateway, ci.caller)('startSession', { driver: 'external' })
    const { secret, id } = await asOwner()('rotateToken', { id: ci.id })
    const agent = callAs(fixture.gateway, (await callerOf(secret ?? '')) as Caller) // the token was just made
    expect(await agent('openRequest', { id: session.id, key: 'k', ask: approval() })).toMatchObject({ key: 'k' })
    expect((await agent('listSessions', {})).items).toMatchObject([{ id: session.id }])
    const later = await asOwner()('startSession', { driver: 'external', options: { agent: id } })
    expect(await agent('getSession', { id: later.id })).toMatchObject({ id: later.id })
    await expectFault(
      callAs(fixture.gateway, ci.caller)('openRequest', { id: session.id, key: 'l', ask: approval() }),
      'unauthenticated',
    )
    await expectFault(asOwner()('startSession', { driver: 'external', options: { agent: ci.id } }), 'bad_input')
  })
  it('a rotated token is revoked with the credential that rotated it, which knows the new secret', async () => {
    const ada = await added('person', 'ada')
    const { caller: browser } = await fixture.gateway.redeemLink((await asOwner()('makeLink', {})).code)
    const { secret } = await callAs(fixture.gateway, browser)('rotateToken', { id: ada.id })
    expect(await callerOf(secret ?? '')).not.toBeNull()
    await asOwner()('removeToken', { id: idOf(browser) })
    expect(await callerOf(secret ?? '')).toBeNull()
  })
  it('rotating a token does not return the secret again if the call is repeated', async () => {
    const ada = await added('person', 'ada')
    await asOwner()('rotateToken', { id: ada.id }, { idempotencyKey: 'k' })
    await expectFault(asOwner()('rotateToken', { id: ada.id }, { idempotencyKey: 'k' }), 'gone')
  })
  it('only the owner can rotate tokens, and unknown tokens, revoked tokens and browsers cannot be rotated', async () => {
    const ada = await added('person', 'ada')
    const { caller: browser } = await fixture.gateway.redeemLink((await asOwner()('makeLink', {})).code)
    await expectFault(asOwner()('rotateToken', { id: `tok_${'0'.repeat(20)}` as TokenId }), 'not_found') // has the format of an id
    await expectFault(asOwner()('rotateToken', { id: idOf(browser) }), 'bad_input')
    await expectFault(callAs(fixture.gateway, ada.caller)('rotateToken', { id: ada.id }), 'forbidden')
    await asOwner()('removeToken', { id: ada.id })
    await expectFault(asOwner()('rotateToken', { id: ada.id }), 'not_found')
  })
})

describe('a token of schema 3, whose creator is unknown', () => {
  /** Changes the row of a token in the store. */
  function patchToken({ credential = '' }: Caller, patch: (row: TokenRow) => Partial<TokenRow>): Promise<unknown> {
    return fixture.store.commit({
      label: 'test',
      reads: [{ table: 'token', id: credential }],
      decide: view => {
        const row = view.get('token', credential)
        if (!row) throw new Error('there is no such token')
        return { puts: [{ table: 'token', row: { ...row, ...patch(row) } }], result: null }
      },
    })
  }
  async function addOld(name: string, secret: string): Promise<void> {
    await patchToken(await fixture.gateway.ensureToken(secret, 'agent', name), () => ({ creatorUnknown: true }))
  }
  it('a token of schema 3 is revoked when the owner’s token is rotated or its file is replaced, and not with another token', async () => {
    await addOld('old', 'old-secret')
    const ada = await added('person', 'ada')
    await asOwner()('removeToken', { id: ada.id })
    await asOwner()('rotateToken', { id: idOf(fixture.gateway.fileCaller('runner')) })
    expect(await callerOf('old-secret')).not.toBeNull()
    const rotated = await asOwner()('rotateToken', { id: idOf(owner) })
    expect(names(rotated.revoked)).toEqual(['owner (bearer)', 'old (bearer)'])
    expect(await callerOf('old-secret')).toBeNull()
    await addOld('old', 'older-secret')
    files.set('owner', 'by-hand')
    await registerFiles()
    expect(await callerOf('older-secret')).toBeNull()
  })
  it('a token of schema 3 is revoked if the owner’s token was replaced together with the upgrade, and kept if it was not', async () => {
    await addOld('old', 'old-secret')
    // The migration leaves the tokens of the owner like this.
    const migrate = () => patchToken(owner, ({ madeAt }) => ({ revokedAt: madeAt, dataFolder: null }))
    await migrate()
    await registerFiles()
    expect(await callerOf('old-secret')).not.toBeNull()
    await migrate()
    files.set('owner', 'by-hand')
    await registerFiles()
    expect(await callerOf('old-secret')).toBeNull()
  })
})

describe('the last use of a token', () => {
  const lastUse = async (id: TokenId) =>
    (await fixture.person('listTokens', {})).items.find(t => t.id === id)?.lastUsedAt
  it('the last use of a token is listed to the minute, and is null until the first use', async () => {
    const ci = await added('agent', 'ci')
    expect(await lastUse(ci.id)).toBeNull()
    const agent = callAs(fixture.gateway, ci.caller)
    await agent('whoAmI', {})
    await fixture.clock.advance(1000)
    const first = await lastUse(ci.id)
    expect(first).toBeGreaterThan(fixture.clock.now() - 2000)
    await agent('whoAmI', {})
    await fixture.clock.advance(10_000)
    expect(await lastUse(ci.id), 'not written again within a minute').toBe(first)
    await fixture.clock.advance(60_000)
    expect(await lastUse(ci.id)).toBeGreaterThan((first ?? 0) + 59_000)
  })
  it('recording the last use of a token appends nothing to the log, and does not make a revoked token valid', async () => {
    const ci = await added('agent', 'ci')
    const { seq } = await fixture.store.head()
    await callAs(fixture.gateway, ci.caller)('whoAmI', {})
    await fixture.clock.advance(1000)
    expect((await fixture.store.head()).seq).toBe(seq)
    await callAs(fixture.gateway, ci.caller)('whoAmI', {})
    await asOwner()('removeToken', { id: ci.id })
    await fixture.clock.advance(61_000)
    expect(await callerOf(ci.secret)).toBeNull()
  })
})

it('removeToken returns what was revoked, and for a token of the data folder says how to replace the token', async () => {
  const ada = await added('person', 'ada')
  await fixture.gateway.redeemLink((await callAs(fixture.gateway, ada.caller)('makeLink', {})).code)
  const person = ada.person as PersonId // the token is for a person
  const phone = await asOwner()('addToken', { role: 'person', name: 'phone', person })
  const { revoked } = await asOwner()('removeToken', { id: ada.id })
  expect(names(revoked)).toEqual(['ada (bearer)', 'ada (cookie)'])
  expect(await callerOf(phone.secret)).toMatchObject({ id: ada.person })
  await expect(asOwner()('removeToken', { id: idOf(owner) })).rejects.toMatchObject({
    code: 'bad_input',
    message: expect.stringContaining(`holdpoint token rotate ${owner.token}`),
  })
})
