/** Credentials. A secret is shown once and kept only as its hash; who it is stands in the row, never in what the caller says. */
import { Fault, limits, type ParsedInput, type Role, type Token } from '@holdpoint/protocol'
import type { ChangeBuilder } from '../change-builder.ts'
import { type Context, sha256 } from '../context.ts'
import type { Caller, DispatchOptions } from '../gateway.ts'
import type { TokenRow } from '../rows.ts'
import { toToken } from '../wire-views.ts'

type TokenId = Token['id']

function issue(
  pen: ChangeBuilder,
  token: TokenId,
  secret: string,
  part: Pick<TokenRow, 'kind' | 'role' | 'name' | 'expiresAt'>,
): TokenRow {
  pen.event(null, { type: 'token.added', token, role: part.role, name: part.name })
  return pen.put('token', { id: sha256(secret), ord: pen.nextSeq, token, madeAt: pen.now, ...part })
}
function callerOf(row: TokenRow, via: string): Caller {
  return { role: row.role, name: row.name, token: row.token, via }
}

export async function authenticate(
  ctx: Context,
  secret: string,
  kind: 'bearer' | 'cookie',
  via: string,
): Promise<Caller | null> {
  const row = await ctx.store.get('token', sha256(secret))
  if (!row || row.kind !== kind) return null
  if (row.expiresAt !== null && row.expiresAt <= (await ctx.store.now())) return null
  return callerOf(row, via)
}

export async function ensureToken(ctx: Context, secret: string, role: Role, name: string): Promise<Caller> {
  const id = sha256(secret)
  const token = ctx.newId('tok')
  const { body } = await ctx.commit<TokenRow>({
    label: 'token',
    reads: [{ table: 'token', id }],
    decide: pen => ({
      status: 200,
      body: pen.get('token', id) ?? issue(pen, token, secret, { kind: 'bearer', role, name, expiresAt: null }),
    }),
  })
  return callerOf(body, 'api')
}

export async function addToken(ctx: Context, caller: Caller, input: ParsedInput<'addToken'>, options: DispatchOptions) {
  const secret = `hp_${ctx.secret()}`
  const token = ctx.newId('tok')
  const part = { kind: 'bearer', role: input.role, name: input.name, expiresAt: input.expiresAt ?? null } as const
  return ctx.commit<Token & { secret: string }>(
    {
      label: 'token',
      reads: [{ table: 'token', id: sha256(secret) }],
      replay: shownOnce(`Find "${input.name}" among the tokens; where its secret is lost, remove it and make another`),
      decide: pen => {
        if (part.expiresAt !== null && part.expiresAt <= pen.now)
          return new Fault('bad_input', `expiresAt: ${part.expiresAt} has passed; it is ${pen.now} now`)
        return { status: 201, body: { ...toToken(issue(pen, token, secret, part)), secret } }
      },
    },
    { caller, op: 'addToken', input, options },
  )
}

/** Kept under an idempotency key, a secret would be on disk: who repeats the call makes no second one, and is not shown the first. */
function shownOnce(advice: string) {
  return {
    instead: () => true,
    show: () =>
      new Fault('gone', `This call was made already, and its secret was shown once. ${advice}, with a new key`),
  }
}

export async function listTokens(ctx: Context) {
  const rows = await ctx.store.find('token', { limit: limits.pageMax })
  return { status: 200, body: { items: rows.filter(row => row.kind !== 'link').map(toToken), next: null } }
}

export async function removeToken(ctx: Context, _caller: Caller, input: ParsedInput<'removeToken'>) {
  const rows = await ctx.store.find('token', { where: { token: input.id } })
  if (rows.length === 0) throw new Fault('not_found', `There is no token ${input.id}`, { id: input.id })
  await drop(ctx, rows)
  return { status: 200, body: {} }
}

export async function signOut(ctx: Context, caller: Caller) {
  const rows = await ctx.store.find('token', { where: { token: caller.token } })
  await drop(
    ctx,
    rows.filter(row => row.kind === 'cookie'),
  )
  return { status: 200, body: {} }
}

function drop(ctx: Context, rows: readonly TokenRow[]) {
  return ctx.commit({
    label: 'token',
    reads: rows.map(({ id }) => ({ table: 'token', id }) as const),
    decide: pen => {
      for (const row of rows)
        if (pen.get('token', row.id)) {
          pen.del('token', row.id)
          pen.event(null, { type: 'token.removed', token: row.token as TokenId }) // spelled by newId when it was issued
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
      replay: shownOnce('Ask for another link'),
      decide: pen => {
        const expiresAt = pen.now + limits.linkTtlMs
        pen.put('token', {
          id: sha256(code),
          ord: pen.nextSeq,
          token,
          kind: 'link',
          role: 'person',
          name: caller.name,
          madeAt: pen.now,
          expiresAt,
        })
        return { status: 201, body: { code, expiresAt } }
      },
    },
    { caller, op: 'makeLink', input, options },
  )
}

/** One use: the code is gone in the same change that makes the cookie. */
export async function redeemLink(ctx: Context, code: string): Promise<{ cookie: string; caller: Caller }> {
  const cookie = ctx.secret()
  const token = ctx.newId('tok')
  const { body } = await ctx.commit<Caller>({
    label: 'redeem',
    reads: [
      { table: 'token', id: sha256(code) },
      { table: 'token', id: sha256(cookie) },
    ],
    decide: pen => {
      const link = pen.get('token', sha256(code))
      if (link?.kind !== 'link' || (link.expiresAt ?? 0) <= pen.now)
        return new Fault(
          'unauthenticated',
          'This link was used already, or is older than ten minutes. Ask for a new one: holdpoint link',
        )
      pen.del('token', link.id)
      const row = issue(pen, token, cookie, {
        kind: 'cookie',
        role: link.role,
        name: link.name,
        expiresAt: pen.now + limits.signInTtlMs,
      })
      return { status: 200, body: callerOf(row, 'page') }
    },
  })
  return { cookie, caller: body }
}
