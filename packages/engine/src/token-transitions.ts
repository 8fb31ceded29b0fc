/** Decides whether a token is valid, and revokes tokens together with everything that was created with them. */
import { hash } from 'node:crypto'
import { Fault, limits, type TokenId } from '@holdpoint/protocol'
import type { ChangeBuilder } from './change-builder.ts'
import type { Caller } from './gateway.ts'
import type { TokenRow } from './rows.ts'

/** The read of all tokens. Revoking a token needs all of them, to find those that it created. */
export const tokensRead = { table: 'token', query: {} } as const

export function isTokenValid({ revokedAt, expiresAt }: TokenRow, now: number): boolean {
  return revokedAt === null && (expiresAt === null || expiresAt > now)
}

/** Returns the hash of the fields that decide what a token permits. The log contains this hash, so that a changed row can be found. */
export function tokenDigest(row: Omit<TokenRow, 'ord'>): string {
  const { id, token, kind, role, subject, madeBy, expiresAt, dataFolder, pageSecretHash = null } = row
  return hash('sha256', JSON.stringify([id, token, kind, role, subject, madeBy, expiresAt, dataFolder, pageSecretHash]))
}

export function credentialNotValid(): Fault {
  return new Fault('unauthenticated', 'This credential is unknown, expired or revoked. Sign in again.')
}

/** Revokes the valid tokens that `selects` chooses and all tokens, cookies and links that descend from them, and returns their rows. The rows are kept for a while, so that attempts to use them can be recognized. */
export function revokeTokens(
  change: ChangeBuilder,
  all: readonly TokenRow[],
  selects: (row: TokenRow) => boolean,
  by?: Caller,
): readonly TokenRow[] {
  const valid = all.filter(row => row.revokedAt === null)
  const selected = valid.filter(selects)
  const ids = new Set(selected.map(row => row.token))
  const hasOwner = selected.some(isOwnerToken)
  const revoked = valid.filter(
    row => ids.has(row.token) || row.madeBy.some(token => ids.has(token)) || (hasOwner && row.creatorUnknown === true),
  )
  for (const row of revoked) revokeToken(change, row, by)
  return revoked
}

/** Returns whether this is a token of the owner, and not the cookie of a browser. */
export function isOwnerToken({ role, kind }: TokenRow): boolean {
  return role === 'owner' && kind === 'bearer'
}

/** Revokes one token, but not the tokens that it created. */
export function revokeToken(change: ChangeBuilder, row: TokenRow, by?: Caller): void {
  change.put('token', { ...row, revokedAt: change.now, expiresAt: change.now + limits.revokedTokenKeepMs })
  if (row.kind !== 'link')
    change.event(null, { type: 'token.removed', token: row.token, ...(by ? { by: by.token as TokenId } : {}) }) // the token of a caller is the public id of a token
}
