/** Replaces a token by a new one for the same holder, and revokes the old one with everything that was created with it. */
import { Fault, type Output, type ParsedInput, type RunnerId } from '@holdpoint/protocol'
import { type Context, type MutationCall, sha256 } from '../context.ts'
import type { Caller, DispatchOptions, OperationResult } from '../gateway.ts'
import type { TokenRow } from '../rows.ts'
import { revokeToken, revokeTokens, tokensRead } from '../token-transitions.ts'
import { toToken } from '../wire-views.ts'
import { callerOf, descent, findToken, putToken, secretNotRepeated, toTokens } from './tokens.ts'

type Rotated = OperationResult<Output<'rotateToken'>>
type InFile = { readonly dataFolder: RunnerId }
function isInFile(row: TokenRow): row is TokenRow & InFile {
  return row.dataFolder !== null
}

export async function rotateToken(
  ctx: Context,
  caller: Caller,
  input: ParsedInput<'rotateToken'>,
  options: DispatchOptions,
): Promise<Rotated> {
  const call: MutationCall = { caller, op: 'rotateToken', input, options }
  const [row] = await ctx.store.find('token', { where: { token: input.id } })
  if (!row || !isInFile(row)) return rotateGivenToken(ctx, call, input)
  return ctx.fileTokens.rotate(async () => (await ctx.earlierReply(call)) ?? rotateFileToken(ctx, call, row))
}

/** Rotates a token whose secret somebody else keeps: the caller has to pass the new secret on. */
async function rotateGivenToken(
  ctx: Context,
  call: MutationCall,
  { id }: ParsedInput<'rotateToken'>,
): Promise<Rotated> {
  const secret = ctx.secret()
  const token = ctx.newId('tok')
  return ctx.commit<Output<'rotateToken'>>(
    {
      label: 'token',
      reads: [{ table: 'token', id: sha256(secret) }, tokensRead],
      repeat: secretNotRepeated('If you lost the new secret, rotate the token again'),
      decide: change => {
        const all = change.find('token', tokensRead.query)
        const row = findToken(all, id, change.now)
        if (row instanceof Fault) return row
        if (row.kind === 'cookie')
          return new Fault(
            'bad_input',
            `${id} is a signed-in browser, which has no token to replace. Revoke it with: holdpoint token revoke ${id}`,
            { id },
          )
        // The caller learns the new secret, so revoking the caller's credential must revoke the new token too.
        const madeBy = descent(change, call.caller, row.madeBy)
        if (madeBy instanceof Fault) return madeBy
        const revoked = revokeTokens(change, all, ({ token }) => token === id, call.caller)
        const { kind, role, subject, name, expiresAt } = row
        const added = putToken(change, sha256(secret), token, { kind, role, subject, name, madeBy, expiresAt })
        return { status: 200, body: { ...toToken(added), secret, revoked: [...toTokens(revoked)] } }
      },
    },
    call,
  )
}

/** Rotates the token in a file of the data folder. Both tokens are valid until the file is written, so that every reader of the file finds a valid token. After a crash, the gateway makes the token in the file valid. */
async function rotateFileToken(ctx: Context, call: MutationCall, old: TokenRow & InFile): Promise<Rotated> {
  const { role, dataFolder, token: id } = old
  if (!ctx.fileTokens.canWrite(role, dataFolder))
    throw new Fault(
      'bad_input',
      `${id} is in the data folder of another gateway with the same store. Rotate it there`,
      {
        id,
      },
    )
  const secret = ctx.secret()
  const added = await addFileToken(ctx, old, secret)
  try {
    ctx.fileTokens.write(role, secret)
  } catch (error) {
    await removeUnused(ctx, added)
    throw error
  }
  ctx.fileTokens.register(dataFolder, callerOf(added, 'api'))
  return ctx.commit<Output<'rotateToken'>>(
    {
      label: 'token',
      reads: [tokensRead],
      decide: change => {
        const all = change.find('token', tokensRead.query)
        const isOld = (row: TokenRow) => row.id !== added.id && row.role === role && row.dataFolder === dataFolder
        const revoked = revokeTokens(change, all, isOld, call.caller)
        return { status: 200, body: { ...toToken(added), secret: null, revoked: [...toTokens(revoked)] } }
      },
    },
    call,
  )
}

async function addFileToken(ctx: Context, old: TokenRow & InFile, secret: string): Promise<TokenRow> {
  const hash = sha256(secret)
  const token = ctx.newId('tok')
  const { body } = await ctx.commit<TokenRow>({
    label: 'token',
    reads: [{ table: 'token', id: hash }, tokensRead],
    decide: change => {
      const row = findToken(change.find('token', tokensRead.query), old.token, change.now)
      if (row instanceof Fault) return row
      const { role, subject, name, dataFolder } = old
      const fields = { kind: 'bearer', role, subject, name, madeBy: [], expiresAt: null, dataFolder } as const
      return { status: 200, body: putToken(change, hash, token, fields) }
    },
  })
  return body
}

async function removeUnused(ctx: Context, { id }: TokenRow): Promise<void> {
  await ctx.commit({
    label: 'token',
    reads: [{ table: 'token', id }],
    decide: change => {
      const row = change.get('token', id)
      if (row) revokeToken(change, row)
      return { status: 200, body: {} }
    },
  })
}
