/** The session commands: `sessions`, `start`, `rehearse`, `send`, `interrupt`, `stop`, `end`, `mode`, `model`, `rename` and `delete`. */
import { type Call, externalInfo, Fault, limits, type SessionState, uploadAttachments } from '@holdpoint/protocol'
import type { GatewayClient } from '../gateway-client/gateway-client.ts'
import { startSession } from '../gateway-client/start-session.ts'
import { startTexts } from '../gateway-client/texts.ts'
import { askLine, Cancelled } from '../output/interactive.ts'
import { err, out, printEmptyList } from '../output/output.ts'
import { narrowSessions, sessionCells, sessionColumns } from '../output/session.ts'
import { blankRow, type Row, row, trusted, untrustedCode, untrustedLine } from '../output/span.ts'
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
  const { items, next } = await listSessions(call, options)
  if (options.json) return out.json({ items, next })
  if (items.length === 0)
    return printEmptyList(options.state || options.search ? listTexts.noMatchingSessions : listTexts.noActiveSessions)
  const { now } = await call('whoAmI', {})
  const shorten = idShortener(items.map(({ id }) => id))
  out.printTable(
    sessionColumns,
    items.map(session => sessionCells(session, shorten, now, out.columns)),
    narrowSessions,
  )
  if (next !== null) out.printHint(listTexts.moreSessions(limits.pageMax))
}

/** Lists the sessions that have not ended. With `--all` or `--state`, lists one page of the sessions that the option selects. Sessions that need a person come first, so that `--limit` never cuts them. */
async function listSessions(call: Call, { all, state, search, limit }: SessionsOptions) {
  const count = limit === undefined ? undefined : Number(limit)
  if (count !== undefined && (!Number.isInteger(count) || count < 1 || count > limits.pageMax))
    throw new Fault('bad_input', inputTexts.badLimit(limits.pageMax))
  if (!all && !state) {
    const items = await liveSessions(call, search)
    return { items: items.slice(0, count), next: items[count ?? items.length]?.id ?? null }
  }
  const page = await call('listSessions', {
    limit: count ?? limits.pageDefault,
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

/** `holdpoint stop`: interrupts every session. */
export async function stop({ call }: GatewayClient, { json }: JsonOption): Promise<void> {
  const stopped = await call('stopEverything', {})
  if (json) return out.json(stopped)
  out.print(row(trusted(results.stopped(stopped.interrupted.length))))
}

export async function rename(
  { call }: GatewayClient,
  typedId: string,
  words: readonly string[],
  { json }: JsonOption,
): Promise<void> {
  const { id } = await findSession(call, typedId)
  const session = await call('patchSession', { id, title: words.join(' ') })
  if (json) return out.json(session)
  out.print(confirmation(results.renamed(id), session.title))
}

/** `holdpoint delete`: deletes an ended session with its history, after a confirmation. */
export async function deleteSession(
  { call }: GatewayClient,
  typedId: string,
  { yes, json }: JsonOption & { readonly yes?: boolean },
): Promise<void> {
  const { id, title, state } = await findSession(call, typedId)
  if (state !== 'ended') throw new Fault('session_live', inputTexts.deletesOnlyEnded(id))
  if (!yes) {
    const output = out.isTerminal && !json ? out : err
    if (!process.stdin.isTTY || !output.isTerminal) throw new Fault('bad_input', inputTexts.deleteNeedsYes)
    output.print(confirmation(results.aboutToDelete(id), title))
    const typed = (await askLine(output, trusted(inputTexts.confirmDelete)))?.trim().toLowerCase()
    if (typed !== 'y' && typed !== 'yes') throw new Cancelled(inputTexts.notDeleted(id))
  }
  await call('deleteSession', { id })
  if (json) return out.json({ deleted: id })
  out.print(confirmation(results.deleted(id), title))
}

export async function changeMode(
  { call }: GatewayClient,
  typedId: string,
  mode: string,
  { json }: JsonOption,
): Promise<void> {
  const { id, driver } = await findSession(call, typedId)
  const modes = await modesOf(call, driver)
  if (modes && !modes.includes(mode)) throw new Fault('bad_input', startTexts.badMode(mode, driver, modes))
  const session = await call('patchSession', { id, mode })
  if (json) return out.json(session)
  out.print(confirmation(results.modeAsked(id, mode), session.title))
}

export async function changeModel(
  { call }: GatewayClient,
  typedId: string,
  model: string,
  { json }: JsonOption,
): Promise<void> {
  const { id, driver } = await findSession(call, typedId)
  if (driver === externalInfo.name) throw new Fault('bad_input', startTexts.externalModel)
  const session = await call('patchSession', { id, model })
  if (json) return out.json(session)
  out.print(confirmation(results.modelAsked(id, model), session.title))
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
    row(trusted(prompt === undefined ? results.needsMessage(session.id) : results.followSession(session.id), 'quiet')),
  )
}

/** Turns the error into a usage error if no runner offers the driver. A driver that is offered but not ready is not a usage error. */
async function explainUnknownDriver(call: Call, driver: string, error: unknown): Promise<unknown> {
  if (!(error instanceof Fault) || error.code !== 'no_runner') return error
  const { items } = await call('listDrivers', {})
  if (items.some(({ name }) => name === driver)) return error
  return new Fault('bad_input', `${error.message}. ${startTexts.newAgents}`)
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
  out.print(row(trusted(results.rehearsalStarted(session.id))), blankRow)
  out.printLines([[trusted('  '), untrustedCode(`${url}/#code=${code}`)]])
  out.print(blankRow, row(trusted(results.rehearsalHere)))
}
