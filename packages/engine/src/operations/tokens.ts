/** Operations on credentials and sign-in links. A secret is returned once and stored only as its hash. */
import {
  Fault,
  limits,
  type Output,
  type ParsedInput,
  type PersonId,
  type Role,
  type RunnerId,
  type Token,
  type TokenId,
} from '@holdpoint/protocol'
import { personIdOf } from '../authorization.ts'
import type { ChangeBuilder } from '../change-builder.ts'
import { type Context, sha256 } from '../context.ts'
import type { Caller, Credential, DispatchOptions, SignIn, Via } from '../gateway.ts'
import { attemptBy } from '../refused-attempts.ts'
import type { TokenRow } from '../rows.ts'
import { isOwnerToken, isTokenValid, revokeTokens, tokenDigest, tokensRead } from '../token-transitions.ts'
import { toToken } from '../wire-views.ts'

type NewToken = Pick<TokenRow, 'kind' | 'role' | 'subject' | 'name' | 'madeBy' | 'expiresAt'> &
  Partial<Pick<TokenRow, 'dataFolder' | 'pageSecretHash'>>

/** Stores a token under the hash of its secret. */
export function putToken(change: ChangeBuilder, hash: string, token: TokenId, fields: NewToken): TokenRow {
  const by = fields.madeBy.at(-1)
  const row = { id: hash, token, madeAt: change.now, revokedAt: null, dataFolder: null, ...fields }
  change.event(null, {
    type: 'token.added',
    token,
    role: fields.role,
    name: fields.name,
    ...(fields.role === 'owner' || fields.role === 'person' ? { personId: fields.subject as PersonId } : {}), // a token with these roles belongs to a person
    ...(by === undefined ? {} : { by }),
    kind: fields.kind,
    rowDigest: tokenDigest(row),
  })
  return change.put('token', { ...row, ord: change.nextSeq })
}

export function callerOf(row: TokenRow, via: Via): Caller {
  return { role: row.role, id: row.subject, name: row.name, token: row.token, via, credential: row.id }
}

/** Returns the ancestors of the token that the caller is about to create, or a Fault if the chain is too long. If the new token replaces another one, `earlier` are the ancestors of that one. */
export function descent(
  change: ChangeBuilder,
  caller: Caller,
  earlier: readonly TokenId[] = [],
): readonly TokenId[] | Fault {
  const row = caller.credential === undefined ? undefined : change.get('token', caller.credential)
  const madeBy = [...new Set([...earlier, ...(row?.madeBy ?? []), caller.token as TokenId])] // the token of a caller is the public id of a token
  return madeBy.length <= limits.tokenChainMax
    ? madeBy
    : new Fault(
        'too_many',
        `This credential is at the end of a chain of ${limits.tokenChainMax} credentials that created each other, so it cannot create another one; use the owner’s token instead`,
      )
}

export async function authenticate(ctx: Context, credential: Credential, via: Via): Promise<Caller | null> {
  const row = await ctx.store.get('token', sha256(credential.secret))
  if (!row || row.kind !== credential.kind) return null
  if (credential.kind === 'cookie' && row.pageSecretHash !== sha256(credential.pageSecret)) return null
  if (isTokenValid(row, row.expiresAt === null ? 0 : await ctx.store.now())) return callerOf(row, via)
  if (row.revokedAt !== null)
    await ctx.refusedAttempts.record({ what: 'authenticate', code: 'unauthenticated', ...attemptBy({ ...row, via }) })
  return null
}

/** Registers a token that is known from elsewhere, such as a file of the data folder, unless it is registered already. */
export async function ensureToken(
  ctx: Context,
  secret: string,
  role: Role,
  name: string,
  dataFolder: RunnerId | null,
): Promise<Caller> {
  const hash = sha256(secret)
  const ids = { token: ctx.newId('tok'), person: ctx.newId('per'), runner: dataFolder ?? ctx.newId('run') }
  const { body } = await ctx.commit<TokenRow>({
    label: 'token',
    reads: [{ table: 'token', id: hash }, tokensRead],
    decide: change => ({ status: 200, body: ensureTokenIn(change, hash, { role, name, dataFolder }, ids) }),
  })
  const caller = callerOf(body, 'api')
  if (dataFolder !== null) ctx.fileTokens.register(dataFolder, caller)
  return caller
}

/** The token file in a data folder decides which token is valid: its token becomes valid again even if it was revoked, and replaces every earlier token of the same role and data folder. */
function ensureTokenIn(
  change: ChangeBuilder,
  hash: string,
  { role, name, dataFolder }: Pick<TokenRow, 'role' | 'name' | 'dataFolder'>,
  ids: { readonly token: TokenId; readonly person: PersonId; readonly runner: RunnerId },
): TokenRow {
  const known = change.get('token', hash)
  const all = change.find('token', tokensRead.query)
  if (dataFolder !== null) {
    // If the owner's token was replaced while the store had another schema, no row says that this token replaces another one.
    const owners = all.filter(isOwnerToken)
    const isReplaced = owners.length > 0 && owners.every(({ revokedAt }) => revokedAt !== null)
    revokeTokens(
      change,
      all,
      row =>
        (row.id !== hash && row.role === role && row.dataFolder === dataFolder) ||
        (role === 'owner' && !known && isReplaced && row.creatorUnknown === true),
    )
  }
  const isValid = known !== undefined && isTokenValid(known, change.now)
  if (isValid && known.role === role && known.dataFolder === dataFolder) return known
  // A token that was revoked gets a new id, because gateways remember the ids of revoked tokens.
  const token = isValid ? known.token : ids.token
  const subject = {
    // There is one owner, even if several gateways with their own data folders share a store.
    owner: all.find(row => row.role === 'owner')?.subject ?? ids.person,
    person: known?.subject ?? ids.person,
    runner: ids.runner,
    agent: token,
  }[role]
  return putToken(change, hash, token, { kind: 'bearer', role, subject, name, madeBy: [], expiresAt: null, dataFolder })
}

export async function addToken(ctx: Context, caller: Caller, input: ParsedInput<'addToken'>, options: DispatchOptions) {
  const secret = ctx.secret()
  const token = ctx.newId('tok')
  const newSubject = { person: ctx.newId('per'), runner: ctx.newId('run'), agent: token }[input.role]
  return ctx.commit<Token & { secret: string }>(
    {
      label: 'token',
      reads: [{ table: 'token', id: sha256(secret) }, tokensRead],
      repeat: secretNotRepeated(`If you lost the secret of "${input.name}", remove that token and add another`),
      decide: change => {
        const { role, name, expiresAt = null, person } = input
        if (expiresAt !== null && expiresAt <= change.now)
          return new Fault('bad_input', `expiresAt: ${expiresAt} is in the past; the time is now ${change.now}`)
        if (person !== undefined && role !== 'person')
          return new Fault(
            'bad_input',
            `person: leave this out; a token for ${role === 'agent' ? 'an' : 'a'} ${role} belongs to no person`,
          )
        const known = person === undefined ? undefined : personToken(change, person)
        if (known instanceof Fault) return known
        const madeBy = descent(change, caller)
        if (madeBy instanceof Fault) return madeBy
        const subject = known?.subject ?? newSubject
        const row = putToken(change, sha256(secret), token, { kind: 'bearer', role, subject, name, madeBy, expiresAt })
        return { status: 201, body: { ...toToken(row), secret } }
      },
    },
    { caller, op: 'addToken', input, options },
  )
}

/** Returns a valid token of this person, preferably one with the role `owner`, or a Fault if there is none. */
function personToken(change: ChangeBuilder, person: PersonId): TokenRow | Fault {
  const own = change
    .find('token', tokensRead.query)
    .filter(row => row.subject === person && row.kind !== 'link' && isTokenValid(row, change.now))
  return (
    own.find(row => row.role === 'owner') ??
    own[0] ??
    new Fault('not_found', `There is no person ${person} with a valid token`, { id: person })
  )
}

/** Decides a repeated call whose first reply contained a secret: the call fails instead of returning a secret again. */
export function secretNotRepeated(advice: string) {
  return () =>
    new Fault(
      'gone',
      `This call was already made, and its secret is only returned once. ${advice}, with a new Idempotency-Key`,
    )
}

export async function listTokens(ctx: Context) {
  const [rows, now] = [await ctx.store.find('token', tokensRead.query), await ctx.store.now()]
  return { status: 200, body: { items: toTokens(rows.filter(row => isTokenValid(row, now))), next: null } }
}

/** Returns the valid token or cookie with this id, or a Fault if there is none. */
export function findToken(all: readonly TokenRow[], id: TokenId, now: number): TokenRow | Fault {
  const row = all.find(({ token, kind }) => token === id && kind !== 'link')
  return row && isTokenValid(row, now)
    ? row
    : new Fault('not_found', `There is no token ${id}, or it was revoked or replaced`, { id })
}
/** Leaves links out, because the API does not show them as tokens. */
export function toTokens(rows: readonly TokenRow[]): readonly Token[] {
  return rows.filter(({ kind }) => kind !== 'link').map(toToken)
}

export async function removeToken(
  ctx: Context,
  caller: Caller,
  input: ParsedInput<'removeToken'>,
  options: DispatchOptions,
) {
  return ctx.commit(
    {
      label: 'token',
      reads: [tokensRead],
      decide: change => {
        const all = change.find('token', tokensRead.query)
        const row = findToken(all, input.id, change.now)
        if (row instanceof Fault) return row
        if (row.dataFolder !== null)
          return new Fault(
            'bad_input',
            `${input.id} is the token of the ${row.role === 'owner' ? 'owner' : 'runner'} in a data folder, and the gateway there needs it. You can only replace it, with: holdpoint token rotate ${input.id}`,
            { id: input.id },
          )
        const revoked = revokeTokens(change, all, ({ token }) => token === input.id, caller)
        return { status: 200, body: { revoked: toTokens(revoked) } }
      },
    },
    { caller, op: 'removeToken', input, options },
  )
}

/** Revokes the cookie of this browser, and everything that was created with it. */
export async function signOut(ctx: Context, caller: Caller, input: ParsedInput<'signOut'>, options: DispatchOptions) {
  return ctx.commit(
    {
      label: 'token',
      reads: [tokensRead],
      decide: change => {
        const all = change.find('token', tokensRead.query)
        revokeTokens(change, all, ({ token, kind }) => token === caller.token && kind === 'cookie', caller)
        return { status: 200, body: {} }
      },
    },
    { caller, op: 'signOut', input, options },
  )
}

export async function makeLink(ctx: Context, caller: Caller, input: ParsedInput<'makeLink'>, options: DispatchOptions) {
  const code = ctx.secret(24)
  const token = ctx.newId('tok')
  return ctx.commit<{ code: string; expiresAt: number }>(
    {
      label: 'link',
      reads: [{ table: 'token', id: sha256(code) }, ...(input.person === undefined ? [] : [tokensRead])],
      repeat: secretNotRepeated('Request another link'),
      decide: change => {
        const own = { role: caller.role, subject: personIdOf(caller), name: caller.name }
        const person = input.person === undefined ? own : personToken(change, input.person)
        if (person instanceof Fault) return person
        const madeBy = descent(change, caller)
        if (madeBy instanceof Fault) return madeBy
        const expiresAt = change.now + limits.linkTtlMs
        const { role, subject, name } = person
        putToken(change, sha256(code), token, { kind: 'link', role, subject, name, madeBy, expiresAt })
        return { status: 201, body: { code, expiresAt } }
      },
    },
    { caller, op: 'makeLink', input, options },
  )
}

function linkNotValid(): Fault {
  return new Fault(
    'unauthenticated',
    'This link is not valid: it was already used or has expired. Get a new one with: holdpoint link',
  )
}

function isLinkValid(row: TokenRow | undefined, now: number): row is TokenRow {
  return row?.kind === 'link' && isTokenValid(row, now)
}

/** Returns the person that a link would sign in, so that the page can ask before it replaces the person who is signed in. */
export async function describeLink(ctx: Context, code: string): Promise<Output<'describeLink'>> {
  const link = await ctx.store.get('token', sha256(code))
  if (!isLinkValid(link, await ctx.store.now())) throw linkNotValid()
  // A link signs a person in, so it belongs to a person.
  return { person: link.name, personId: link.subject as PersonId, expiresAt: link.expiresAt ?? 0 }
}

/** Exchanges the code of a link for a cookie and a page secret. The same change deletes the code, so that the link works only once. */
export async function redeemLink(ctx: Context, code: string): Promise<SignIn> {
  const cookie = ctx.secret()
  const pageSecret = ctx.secret()
  const token = ctx.newId('tok')
  const { body } = await ctx.commit<Caller>({
    label: 'redeem',
    reads: [
      { table: 'token', id: sha256(code) },
      { table: 'token', id: sha256(cookie) },
    ],
    decide: change => {
      const link = change.get('token', sha256(code))
      if (!isLinkValid(link, change.now)) return linkNotValid()
      change.delete('token', link.id)
      const { role, subject, name, madeBy } = link
      const expiresAt = change.now + limits.signInTtlMs
      const fields = {
        kind: 'cookie',
        role,
        subject,
        name,
        madeBy,
        expiresAt,
        pageSecretHash: sha256(pageSecret),
      } as const
      return { status: 200, body: callerOf(putToken(change, sha256(cookie), token, fields), 'page') }
    },
  })
  return { cookie, pageSecret, caller: body }
}
