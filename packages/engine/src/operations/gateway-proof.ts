/** Proves to a client that this gateway knows the client's token. Only the server may call this, because the server knows at which host and address the client reached it. */
import { createHmac } from 'node:crypto'
import { Fault, type ProofSubject, proofText } from '@holdpoint/protocol'
import type { Context } from '../context.ts'
import { isTokenValid } from '../token-transitions.ts'

export async function proveToken(ctx: Context, hint: string, subject: ProofSubject): Promise<string> {
  const [rows, now] = await Promise.all([ctx.store.find('token', { where: { hint } }), ctx.store.now()])
  const row = rows.find(token => token.kind === 'bearer' && isTokenValid(token, now))
  if (!row)
    throw new Fault('unauthenticated', 'This gateway does not know that token, or the token is expired or revoked.')
  return createHmac('sha256', row.id).update(proofText(subject)).digest('hex')
}
