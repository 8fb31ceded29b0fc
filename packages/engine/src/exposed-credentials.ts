/** Masks Holdpoint's own credentials in everything that agents send, before it is stored or shown, and raises an alarm, because anyone with such a credential can answer requests. */
import {
  type Masked,
  maskCredentials,
  type OperationName,
  operationGroups,
  type ParsedInput,
  possibleSecrets,
  type SessionId,
} from '@holdpoint/protocol'
import { agentAccessFault, isPerson } from './authorization.ts'
import { type Context, sha256 } from './context.ts'
import type { Caller, DispatchOptions } from './gateway.ts'
import type { TokenRow } from './rows.ts'

/** Further credentials in the same call are masked without an alarm of their own. */
const alarmsPerCallMax = 8

/** Masks the credentials in the input of a call that speaks for an agent. People may send credentials, for example to a form of a program that needs one. */
export function maskAgentInput(caller: Caller, op: OperationName, input: object): Masked<object> {
  if (isPerson(caller) && !Object.hasOwn(operationGroups.agents, op)) return { value: input, found: new Set() }
  return op === 'appendEvents' ? maskEvents(input as ParsedInput<'appendEvents'>) : maskCredentials(input) // the input was parsed with the schema of `op`
}

/** Leaves deltas alone. A credential can be split between two of them, so `StreamingBlocks` masks them, and the finished block raises the alarm. */
function maskEvents(input: ParsedInput<'appendEvents'>): Masked<ParsedInput<'appendEvents'>> {
  const { value, found } = maskCredentials(input.items.filter(item => !('offset' in item)))
  if (found.size === 0) return { value: input, found }
  const masked = value.values()
  const items = input.items.map(item => ('offset' in item ? item : (masked.next().value ?? item)))
  return { value: { ...input, items }, found }
}

/** Writes an entry for each credential into the audit log, and an error into the session in which it appeared. */
export async function raiseAlarm(
  ctx: Context,
  caller: Caller,
  op: OperationName,
  input: object,
  found: ReadonlySet<string>,
  options: DispatchOptions,
): Promise<void> {
  const id = await sessionOf(ctx, input)
  const secrets = [...found].slice(0, alarmsPerCallMax)
  const tokens = await Promise.all(secrets.map(secret => knownToken(ctx, secret)))
  await ctx.commit(
    {
      label: 'alarm',
      reads: id === null ? [] : [{ table: 'session', id }],
      decide: change => {
        const row = id === null ? undefined : change.get('session', id)
        // An agent must not be able to write into the session of another one by naming it.
        const session = row && agentAccessFault(caller, row) === null ? row : undefined
        for (const token of tokens) {
          const known = token ? { token: token.token, role: token.role, name: token.name } : {}
          const where = { in: session?.id ?? null, operation: op, by: caller.name }
          change.event(null, { type: 'token.exposed', ...known, ...where })
          if (session && session.state !== 'ended')
            change.event(session.id, { type: 'error.raised', code: 'token_exposed', message: alarmText(token) })
        }
        return { status: 200, body: {} }
      },
    },
    { caller, op: 'alarm', input: secrets.map(sha256), options },
  )
}

function alarmText(token: TokenRow | undefined): string {
  const which = token
    ? `the credential of “${token.name}” (${token.token})`
    : 'text that looks like one of its credentials'
  return `The agent sent ${which} to Holdpoint. It is masked here, but the agent has seen it and could answer requests with it. Replace it now with: holdpoint token rotate${token ? ` ${token.token}` : ''}`
}

async function knownToken(ctx: Context, candidate: string): Promise<TokenRow | undefined> {
  for (const secret of possibleSecrets(candidate)) {
    const row = await ctx.store.get('token', sha256(secret))
    if (row) return row
  }
  return undefined
}

/** Returns the session that a call is about: its id, or the session of the request or command that it names. */
async function sessionOf(ctx: Context, input: object): Promise<SessionId | null> {
  const id = 'id' in input ? String(input.id) : ''
  if (id.startsWith('ses_')) return id as SessionId // the schema of the operation has checked the id
  if (id.startsWith('req_')) return (await ctx.store.get('request', id))?.session ?? null
  if (id.startsWith('cmd_')) return (await ctx.store.get('command', id))?.session ?? null
  return null
}
