/** Tests which tokens are valid, what the hash of a token row covers, and which tokens are revoked together. */
import { limits } from '@holdpoint/protocol'
import { describe, expect, it } from 'vitest'
import { ChangeBuilder } from '../src/change-builder.ts'
import type { TokenRow } from '../src/rows.ts'
import type { View } from '../src/store.ts'
import { isOwnerToken, isTokenValid, revokeTokens, tokenDigest } from '../src/token-transitions.ts'
import { ada } from './gateway-fixture.ts'

const now = 1_000_000
const view: View = { now, nextSeq: 1, rulesSeq: 0, get: () => undefined, find: () => [] }
const rowOf = (token: string, more: Partial<TokenRow> = {}): TokenRow =>
  ({
    id: `hash of ${token}`,
    token,
    kind: 'bearer',
    role: 'person',
    subject: 'per_ada',
    name: 'ada',
    madeBy: [],
    madeAt: 0,
    expiresAt: null,
    revokedAt: null,
    dataFolder: null,
    ord: 1,
    ...more,
  }) as TokenRow // the ids are short

describe('a token', () => {
  it.each([
    ['without an end', { expiresAt: null }, true],
    ['that ends later', { expiresAt: now + 1 }, true],
    ['that ends now', { expiresAt: now }, false],
    ['that has ended', { expiresAt: now - 1 }, false],
    ['that is revoked', { revokedAt: now - 1, expiresAt: now + 1 }, false],
    ['that is revoked and has no end', { revokedAt: 0, expiresAt: null }, false],
  ])('a token %s is valid: %s', (_name, more, isValid) => {
    expect(isTokenValid(rowOf('tok_a', more), now)).toBe(isValid)
  })
  it.each([
    ['owner', 'bearer', true],
    ['owner', 'cookie', false],
    ['owner', 'link', false],
    ['person', 'bearer', false],
    ['runner', 'cookie', false],
  ] as const)('a token with the role %s and the kind %s is one of the owner: %s', (role, kind, isOwner) => {
    expect(isOwnerToken(rowOf('tok_a', { role, kind }))).toBe(isOwner)
  })
  it('the hash of a token row changes with every field that decides what the token permits', () => {
    const row = rowOf('tok_a')
    const changes: Partial<TokenRow>[] = [
      { id: 'other' },
      { kind: 'cookie' },
      { role: 'owner' },
      { subject: 'per_bob' as TokenRow['subject'] }, // a short id
      { madeBy: ['tok_b'] as unknown as TokenRow['madeBy'] }, // a short id
      { expiresAt: 1 },
      { dataFolder: 'run_a' as TokenRow['dataFolder'] }, // a short id
      { pageSecretHash: 'x' },
    ]
    const digests = [row, ...changes.map(change => ({ ...row, ...change }))].map(tokenDigest)
    expect(new Set(digests).size).toBe(changes.length + 1)
    expect(digests[0]).toMatch(/^[0-9a-f]{64}$/)
    expect(tokenDigest({ ...row, name: 'another name', lastUsedAt: 5 })).toBe(digests[0])
  })
})

describe('revoking tokens', () => {
  const revoke = (rows: readonly TokenRow[], ...tokens: readonly string[]) => {
    const change = new ChangeBuilder(view)
    const revoked = revokeTokens(change, rows, row => tokens.includes(row.token), ada)
    return { change, names: revoked.map(({ token }) => token), writes: change.writes(undefined) }
  }
  const owner = rowOf('tok_owner', { role: 'owner' })
  const unknownCreator = rowOf('tok_old', { creatorUnknown: true })
  const madeBy = (...tokens: string[]) => ({ madeBy: tokens as unknown as TokenRow['madeBy'] }) // short ids

  it('revoking tokens revokes the chosen tokens and what was created with them, and leaves the others', () => {
    const rows = [
      rowOf('tok_a'),
      rowOf('tok_b', madeBy('tok_a')),
      rowOf('tok_c', madeBy('tok_x', 'tok_a')),
      rowOf('tok_d'),
    ]
    const { names, writes } = revoke(rows, 'tok_a')
    expect(names).toEqual(['tok_a', 'tok_b', 'tok_c'])
    expect(writes.puts?.map(({ row }) => row)).toEqual(
      rows.slice(0, 3).map(row => ({ ...row, revokedAt: now, expiresAt: now + limits.revokedTokenKeepMs })),
    )
    expect(writes.events?.map(({ body }) => body)).toEqual(
      ['tok_a', 'tok_b', 'tok_c'].map(token => ({ type: 'token.removed', token, by: ada.token })),
    )
  })
  it('revoking tokens does not change tokens that were revoked before', () => {
    const before = rowOf('tok_a', { revokedAt: 5, expiresAt: 10 })
    const { names, writes } = revoke([before, rowOf('tok_b', { ...madeBy('tok_a'), revokedAt: 5 })], 'tok_a', 'tok_b')
    expect(names).toEqual([])
    expect(writes.puts).toEqual([])
  })
  it('revoking tokens revokes tokens whose creator is not known only together with a token of the owner', () => {
    expect(revoke([owner, unknownCreator, rowOf('tok_a')], 'tok_owner').names).toEqual(['tok_owner', 'tok_old'])
    expect(revoke([owner, unknownCreator, rowOf('tok_a')], 'tok_owner', 'tok_a').names).toContain('tok_old')
    expect(revoke([owner, unknownCreator, rowOf('tok_a')], 'tok_a').names).toEqual(['tok_a'])
  })
  it('revoking tokens records no event for a link', () => {
    const { names, writes } = revoke([rowOf('tok_link', { kind: 'link' })], 'tok_link')
    expect(names).toEqual(['tok_link'])
    expect(writes.events).toEqual([])
  })
  it('revoking tokens without a caller records no person', () => {
    const change = new ChangeBuilder(view)
    revokeTokens(change, [rowOf('tok_a')], () => true)
    expect(change.writes(undefined).events?.map(({ body }) => body)).toEqual([
      { type: 'token.removed', token: 'tok_a' },
    ])
  })
})
