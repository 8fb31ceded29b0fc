/** `holdpoint token`: lists the credentials of the gateway, and creates, replaces and revokes tokens. */
import { timeSince } from '@holdpoint/client'
import { Fault, PersonId, type Role, type Token } from '@holdpoint/protocol'
import { dataFolderAt, tokenFileOf } from '../config/data-folder.ts'
import type { GatewayAddress, GatewayClient } from '../gateway-client/gateway-client.ts'
import { err, out } from '../output/output.ts'
import { blankRow, gutterOf, type Row, row, type Span, trusted, untrusted } from '../output/span.ts'
import { parseDuration } from './durations.ts'
import { findToken, idShortener } from './ids.ts'
import { tokenTexts } from './token-texts.ts'

interface TokenOptions extends GatewayAddress {
  readonly json?: boolean
}
interface AddTokenOptions extends TokenOptions {
  readonly role: Exclude<Role, 'owner'>
  readonly person?: string
  readonly expires?: string
}

export async function listTokens({ call }: GatewayClient, { json }: TokenOptions): Promise<void> {
  const page = await call('listTokens', {})
  if (json) return out.json(page)
  const { now } = await call('whoAmI', {})
  const shorten = idShortener(page.items.map(({ id }) => id))
  const lines = page.items.map(token => [
    trusted(shorten(token.id)),
    trusted(tokenTexts.role(token)),
    trusted(timeSince(token.madeAt, now)),
    trusted(token.lastUsedAt === null ? tokenTexts.never : timeSince(token.lastUsedAt, now)),
    trusted(token.expiresAt === null ? tokenTexts.never : tokenTexts.day(token.expiresAt)),
    untrusted(token.name),
  ])
  out.printTable(tokenTexts.columns, lines, { spare: tokenTexts.spareColumns })
}

export async function addToken({ call }: GatewayClient, name: string, options: AddTokenOptions): Promise<void> {
  const { role, person, expires, json } = options
  const expiresInMs = expires === undefined ? undefined : parseDuration(expires)
  if (expiresInMs === null) throw new Fault('bad_input', tokenTexts.badExpiry(expires ?? ''))
  const expiresAt = expiresInMs === undefined ? undefined : (await call('whoAmI', {})).now + expiresInMs
  const added = await call('addToken', {
    role,
    name,
    ...(person !== undefined && { person: personId(person) }),
    ...(expiresAt !== undefined && { expiresAt }),
  })
  if (json) return out.json(added)
  printSecret(added.secret, row(trusted(tokenTexts.added(added.id, tokenTexts.role(added))), untrusted(added.name)))
}

/** Without a name or an id, replaces the token that this command uses. */
export async function rotateToken(
  { call, connection }: GatewayClient,
  typed: string | undefined,
  { json, home }: TokenOptions,
): Promise<void> {
  const { id } = typed === undefined ? { id: (await call('whoAmI', {})).token } : await findToken(call, typed)
  const rotated = await call('rotateToken', { id })
  if (json) return out.json(rotated)
  const file = connection.trusted ? tokenFileOf(dataFolderAt(home), rotated.role) : null
  const heading = row(trusted(tokenTexts.rotated(id, tokenTexts.role(rotated))), untrusted(rotated.name))
  if (rotated.secret === null) out.print(heading, row(untrusted(tokenTexts.inFile(file))))
  else printSecret(rotated.secret, heading)
  const output = rotated.secret === null ? out : err
  output.print(...revokedRows(rotated.revoked.filter(token => token.id !== id)))
}

export async function revokeToken({ call }: GatewayClient, typed: string, { json }: TokenOptions): Promise<void> {
  const token = await findToken(call, typed)
  const { revoked } = await call('removeToken', { id: token.id })
  if (json) return out.json({ revoked })
  out.print(row(trusted(tokenTexts.revoked(token.id, tokenTexts.role(token))), untrusted(token.name)))
  out.print(...revokedRows(revoked.filter(({ id }) => id !== token.id)))
}

/** Prints only the secret into a pipe, so that a script can use it. What people need to know goes to stderr then. */
function printSecret(secret: string, heading: Row): void {
  const hint = row(trusted(tokenTexts.shownOnce, 'quiet'))
  if (out.isTerminal) out.print(heading, blankRow, row(trusted(`  ${secret}`)), blankRow, hint)
  else {
    err.print(heading, hint)
    out.printAnswer(secret, [])
  }
}

/** Lists what was revoked together with a token, because it was created with it. */
function revokedRows(tokens: readonly Token[]): readonly Row[] {
  if (tokens.length === 0) return []
  const described = (token: Token): readonly Span[] => [
    trusted(`${token.id}  ${tokenTexts.role(token)}  `),
    untrusted(token.name),
  ]
  return [
    row(trusted(tokenTexts.alsoRevoked)),
    ...tokens.map(token => ({ gutter: gutterOf('  · '), spans: described(token) })),
    ...(tokens.some(({ kind }) => kind === 'cookie') ? [row(trusted(tokenTexts.signInAgain))] : []),
  ]
}

function personId(typed: string): PersonId {
  const id = PersonId.safeParse(typed)
  if (id.success) return id.data
  throw new Fault('bad_input', tokenTexts.badPerson(typed))
}
