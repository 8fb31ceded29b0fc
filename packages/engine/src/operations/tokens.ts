/** Operations on credentials and sign-in links. A secret is returned once and stored only as its hash. */
import { Fault, limits, type ParsedInput, type Role, type Token } from '@holdpoint/protocol'
import type { ChangeBuilder } from '../change-builder.ts'
import { type Context, sha256 } from '../context.ts'
import type { Caller, Credential, DispatchOptions, SignIn } from '../gateway.ts'
import type { TokenRow } from '../rows.ts'
import { toToken } from '../wire-views.ts'

type TokenId = Token['id']

function putToken(
  change: ChangeBuilder,
  token: TokenId,
  secret: string,
  fields: Pick<TokenRow, 'kind' | 'role' | 'name' | 'expiresAt' | 'pageSecretHash'>,
): TokenRow {
  change.event(null, { type: 'token.added', token, role: fields.role, name: fields.name })
  return change.put('token', { id: sha256(secret), ord: change.nextSeq, token, madeAt: change.now, ...fields })
}
function callerOf(row: TokenRow, via: string): Caller {
  return { role: row.role, name: row.name, token: row.token, via }
}

export async function authenticate(ctx: Context, credential: Credential, via: string): Promise<Caller | null> {
  const row = await ctx.store.get('token', sha256(credential.secret))
  if (!row || row.kind !== credential.kind) return null
  if (credential.kind === 'cookie' && row.pageSecretHash !== sha256(credential.pageSecret)) return null
  if (row.expiresAt !== null && row.expiresAt <= (await ctx.store.now())) return null
  return callerOf(row, via)
}

export async function ensureToken(ctx: Context, secret: string, role: Role, name: string): Promise<Caller> {
  const id = sha256(secret)
  const token = ctx.newId('tok')
  const { body } = await ctx.commit<TokenRow>({
    label: 'token',
    reads: [{ table: 'token', id }],
    decide: change => ({
      status: 200,
      body: change.get('token', id) ?? putToken(change, token, secret, { kind: 'bearer', role, name, expiresAt: null }),
    }),
  })
  return callerOf(body, 'api')
}

export async function addToken(ctx: Context, caller: Caller, input: ParsedInput<'addToken'>, options: DispatchOptions) {
  const secret = `hp_${ctx.secret()}`
  const token = ctx.newId('tok')
  const fields = { kind: 'bearer', role: input.role, name: input.name, expiresAt: input.expiresAt ?? null } as const
  return ctx.commit<Token & { secret: string }>(
    {
      label: 'token',
      reads: [{ table: 'token', id: sha256(secret) }],
      replay: secretNotRepeated(`If you lost the secret of "${input.name}", remove that token and add another`),
      decide: change => {
        if (fields.expiresAt !== null && fields.expiresAt <= change.now)
          return new Fault('bad_input', `expiresAt: ${fields.expiresAt} is in the past; the time is now ${change.now}`)
        return { status: 201, body: { ...toToken(putToken(change, token, secret, fields)), secret } }
      },
    },
    { caller, op: 'addToken', input, options },
  )
}

/** Returns the replay options of calls that reply with a secret. The reply is not stored under its idempotency key, and a repeated call fails instead of returning a secret. */
function secretNotRepeated(advice: string) {
  return {
    omitBody: () => true,
    rebuild: () =>
      new Fault(
        'gone',
        `This call was already made, and its secret is only returned once. ${advice}, with a new Idempotency-Key`,
      ),
  }
}

export async function listTokens(ctx: Context) {
  const rows = await ctx.store.find('token', { limit: limits.pageMax })
  return { status: 200, body: { items: rows.filter(row => row.kind !== 'link').map(toToken), next: null } }
}

export async function removeToken(ctx: Context, _caller: Caller, input: ParsedInput<'removeToken'>) {
  const rows = await ctx.store.find('token', { where: { token: input.id } })
  if (rows.length === 0) throw new Fault('not_found', `There is no token ${input.id}`, { id: input.id })
  await deleteTokens(ctx, rows)
  return { status: 200, body: {} }
}

export async function signOut(ctx: Context, caller: Caller) {
  const rows = await ctx.store.find('token', { where: { token: caller.token } })
  await deleteTokens(
    ctx,
    rows.filter(row => row.kind === 'cookie'),
  )
  return { status: 200, body: {} }
}

function deleteTokens(ctx: Context, rows: readonly TokenRow[]) {
  return ctx.commit({
    label: 'token',
    reads: rows.map(({ id }) => ({ table: 'token', id }) as const),
    decide: change => {
      for (const row of rows)
        if (change.get('token', row.id)) {
          change.delete('token', row.id)
          change.event(null, { type: 'token.removed', token: row.token as TokenId }) // `putToken` stored this value from a TokenId
        }
      return { status: 200, body: {} }
    },
  })
}

export async function makeLink(ctx: Context, caller: Caller, input: ParsedInput<'makeLink'>, options: DispatchOptions) {
  const code = ctx.secret(24)
  const token = ctx.newId('tok')
  return ctx.commit<{ code: string; expiresAt: number }>(
    {
      label: 'link',
      reads: [{ table: 'token', id: sha256(code) }],
      replay: secretNotRepeated('Request another link'),
      decide: change => {
        const expiresAt = change.now + limits.linkTtlMs
        change.put('token', {
          id: sha256(code),
          ord: change.nextSeq,
          token,
          kind: 'link',
          role: 'person',
          name: caller.name,
          madeAt: change.now,
          expiresAt,
        })
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

/** Says whom a link would sign in, so that the page can ask before it replaces the person who is signed in. */
export async function describeLink(ctx: Context, _caller: Caller, { code }: ParsedInput<'describeLink'>) {
  const link = await ctx.store.get('token', sha256(code))
  if (link?.kind !== 'link' || (link.expiresAt ?? 0) <= (await ctx.store.now())) throw linkNotValid()
  return { status: 200, body: { person: link.name, expiresAt: link.expiresAt ?? 0 } }
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
      if (link?.kind !== 'link' || (link.expiresAt ?? 0) <= change.now) return linkNotValid()
      change.delete('token', link.id)
      const row = putToken(change, token, cookie, {
        kind: 'cookie',
        role: link.role,
        name: link.name,
        expiresAt: change.now + limits.signInTtlMs,
        pageSecretHash: sha256(pageSecret),
      })
      return { status: 200, body: callerOf(row, 'page') }
    },
  })
  return { cookie, pageSecret, caller: body }
}
