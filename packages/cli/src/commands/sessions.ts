/** The session commands: `sessions`, `start`, `rehearse`, `send`, `interrupt`, `end` and `mode`. */
import { type Call, Fault, limits, type SessionState, uploadAttachments } from '@holdpoint/protocol'
import type { GatewayClient } from '../gateway-client/gateway-client.ts'
import { startSession } from '../gateway-client/start-session.ts'
import { out } from '../output/output.ts'
import { sessionsTable } from '../output/session.ts'
import { blankRow, type Row, row, trusted, untrustedLine } from '../output/span.ts'
import { findSession, idShortener } from './ids.ts'
import { readAttachment, readText } from './input-files.ts'
import { byUrgency, liveSessions, modesOf } from './queries.ts'
import { inputTexts, listTexts, results } from './texts.ts'

interface JsonOption {
  readonly json?: boolean
}

export interface SessionsOptions extends JsonOption {
  readonly all?: boolean
  readonly state?: SessionState
  readonly search?: string
  readonly limit?: string
}

export async function sessions({ call }: GatewayClient, options: SessionsOptions): Promise<void> {
  const isFiltered = [options.all, options.state, options.search, options.limit].some(option => option !== undefined)
  const { items, next } = isFiltered
    ? await searchSessions(call, options)
    : { items: await liveSessions(call), next: null }
  if (options.json) return out.json({ items, next })
  if (items.length === 0)
    return out.print(row(trusted(isFiltered ? listTexts.noMatchingSessions : listTexts.noActiveSessions)))
  const { now } = await call('whoAmI', {})
  out.print(...sessionsTable(items, idShortener(items.map(({ id }) => id)), now, out.columns))
  if (next !== null) out.print(blankRow, row(trusted(listTexts.moreSessions(limits.pageMax), 'quiet')))
}

async function searchSessions(call: Call, { state, search, limit }: SessionsOptions) {
  const count = Number(limit ?? limits.pageDefault)
  if (!Number.isInteger(count) || count < 1 || count > limits.pageMax)
    throw new Fault('bad_input', inputTexts.badLimit(limits.pageMax))
  const page = await call('listSessions', {
    limit: count,
    ...(state && { state }),
    ...(search && { q: search }),
  })
  return { items: byUrgency(page.items), next: page.next }
}

/** Puts our text before the session's title, because a title at the start of the row could imitate our text. */
function confirmation(text: string, title: string): Row {
  return row(trusted(text), trusted('  “', 'quiet'), untrustedLine(title, 'quiet'), trusted('”', 'quiet'))
}

export async function send(
  { call }: GatewayClient,
  typedId: string,
  words: readonly string[],
  { attach = [], json }: JsonOption & { readonly attach?: readonly string[] },
): Promise<void> {
  const text = messageText(words)
  const files = attach.map(readAttachment)
  const { id, title } = await findSession(call, typedId)
  const attachments = await uploadAttachments(call, id, files)
  const command = await call('sendMessage', { id, text, ...(attachments.length > 0 && { attachments }) })
  if (json) return out.json(command)
  out.print(confirmation(results.sent(id), title))
}

function messageText(words: readonly string[]): string {
  const text = words.length === 1 && words[0] === '-' ? readText('-') : words.join(' ')
  if (text.trim() === '') throw new Fault('bad_input', inputTexts.emptyMessage)
  return text
}

export async function interrupt({ call }: GatewayClient, typedId: string, { json }: JsonOption): Promise<void> {
  const { id } = await findSession(call, typedId)
  const session = await call('interruptSession', { id })
  if (json) return out.json(session)
  out.print(confirmation(results.interrupted(id), session.title))
}

export async function end({ call }: GatewayClient, typedId: string, { json }: JsonOption): Promise<void> {
  const { id } = await findSession(call, typedId)
  const session = await call('endSession', { id })
  if (json) return out.json(session)
  out.print(confirmation(results.ended(id), session.title))
}

export async function changeMode(
  { call }: GatewayClient,
  typedId: string,
  mode: string,
  { json }: JsonOption,
): Promise<void> {
  const { id, driver } = await findSession(call, typedId)
  const modes = await modesOf(call, driver)
  if (modes.length > 0 && !modes.includes(mode)) throw new Fault('bad_input', inputTexts.badMode(mode, driver, modes))
  const session = await call('patchSession', { id, mode })
  if (json) return out.json(session)
  out.print(confirmation(results.modeSet(id, mode), session.title))
}

export interface StartOptions extends JsonOption {
  readonly cwd?: string
  readonly mode?: string
  readonly model?: string
  readonly title?: string
}

export async function start(
  gateway: GatewayClient,
  driver: string,
  words: readonly string[],
  { json, ...options }: StartOptions,
): Promise<void> {
  const prompt = words.length > 0 ? messageText(words) : undefined
  const session = await startSession(gateway, { ...options, driver, prompt }).catch(async (error: unknown) => {
    throw await explainUnknownDriver(gateway.call, driver, error)
  })
  if (json) return out.json(session)
  out.print(
    confirmation(results.started(session.id), session.title),
    row(trusted(results.followSession(session.id), 'quiet')),
  )
}

/** Turns the error into a usage error if no runner offers the driver. A driver that is offered but not ready is not a usage error. */
async function explainUnknownDriver(call: Call, driver: string, error: unknown): Promise<unknown> {
  if (!(error instanceof Fault) || error.code !== 'no_runner') return error
  const { items } = await call('listDrivers', {})
  return items.some(({ name }) => name === driver) ? error : new Fault('bad_input', error.message)
}

/** `holdpoint rehearse`: starts the demo agent and prints where to answer it. */
export async function rehearse(
  { url, call }: GatewayClient,
  words: readonly string[],
  { json }: JsonOption,
): Promise<void> {
  const prompt = words.join(' ') || 'Show me everything'
  const session = await call('startSession', { driver: 'rehearsal', title: 'Rehearsal', prompt })
  if (json) return out.json(session)
  const { code } = await call('makeLink', {})
  out.print(
    row(trusted(results.rehearsalStarted(session.id))),
    blankRow,
    row(trusted(`  ${url}/#code=${code}`)),
    blankRow,
    row(trusted(results.rehearsalHere)),
  )
}
