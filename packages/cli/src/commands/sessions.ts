/** What people want of a session: say something, interrupt, end, change its mode; and a new one. */
import { type Call, Fault } from '@holdpoint/protocol'
import type { GatewayClient } from '../gateway-client/gateway-client.ts'
import { startSession } from '../gateway-client/start-session.ts'
import { out } from '../output/output.ts'
import { type Row, row, trusted, untrustedLine } from '../output/span.ts'
import { findSession } from './ids.ts'
import { readAttachment, readText } from './input-files.ts'
import { modesOf } from './lists.ts'

interface JsonOption {
  readonly json?: boolean
}

/** What was done comes first, in our words: a title may say anything. */
function confirmation(words: string, title: string): Row {
  return row(trusted(words), trusted('  “', 'quiet'), untrustedLine(title, 'quiet'), trusted('”', 'quiet'))
}

export async function send(
  { call }: GatewayClient,
  spelled: string,
  words: readonly string[],
  { attach = [], json }: JsonOption & { readonly attach?: readonly string[] },
): Promise<void> {
  const text = messageText(words)
  const attachments = attach.map(readAttachment)
  const { id, title } = await findSession(call, spelled)
  const command = await call('sendMessage', { id, text, ...(attachments.length > 0 && { attachments }) })
  if (json) return out.json(command)
  out.print(confirmation(`Sent to ${id}.`, title))
}

function messageText(words: readonly string[]): string {
  const text = words.length === 1 && words[0] === '-' ? readText('-') : words.join(' ')
  if (text.trim() === '')
    throw new Fault('bad_input', 'There is nothing to send; give the text, or - to read it from stdin')
  return text
}

export async function interrupt({ call }: GatewayClient, spelled: string, { json }: JsonOption): Promise<void> {
  const { id } = await findSession(call, spelled)
  const session = await call('interruptSession', { id })
  if (json) return out.json(session)
  out.print(confirmation(`${id} is interrupted; what it asked is withdrawn.`, session.title))
}

export async function end({ call }: GatewayClient, spelled: string, { json }: JsonOption): Promise<void> {
  const { id } = await findSession(call, spelled)
  const session = await call('endSession', { id })
  if (json) return out.json(session)
  out.print(confirmation(`${id} has ended.`, session.title))
}

export async function changeMode(
  { call }: GatewayClient,
  spelled: string,
  mode: string,
  { json }: JsonOption,
): Promise<void> {
  const { id, driver } = await findSession(call, spelled)
  const modes = await modesOf(call, driver)
  if (modes.length > 0 && !modes.includes(mode))
    throw new Fault('bad_input', `"${mode}" is not a mode of ${driver}; there is ${modes.join(', ')}`)
  const session = await call('patchSession', { id, mode })
  if (json) return out.json(session)
  out.print(confirmation(`${id} is told to work in mode ${mode}.`, session.title))
}

export interface StartOptions extends JsonOption {
  readonly cwd?: string
  readonly mode?: string
  readonly model?: string
  readonly title?: string
}

export async function start(
  remote: GatewayClient,
  driver: string,
  words: readonly string[],
  { json, ...given }: StartOptions,
): Promise<void> {
  const prompt = words.length > 0 ? messageText(words) : undefined
  const session = await startSession(remote, { ...given, driver, prompt }).catch(async (error: unknown) => {
    throw await explainUnknownDriver(remote.call, driver, error)
  })
  if (json) return out.json(session)
  out.print(
    confirmation(`${session.id} has started.`, session.title),
    row(trusted(`holdpoint watch --session ${session.id} follows it; holdpoint inbox shows what it asks.`, 'quiet')),
  )
}

/** A driver that nobody offers is a wrong word; one that is not ready is not. */
async function explainUnknownDriver(call: Call, driver: string, error: unknown): Promise<unknown> {
  if (!(error instanceof Fault) || error.code !== 'no_runner') return error
  const { items } = await call('listDrivers', {})
  return items.some(({ name }) => name === driver) ? error : new Fault('bad_input', error.message)
}

/** `holdpoint rehearse`: a session with the built-in agent, and where to answer it. */
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
    row(trusted(`The rehearsal has begun (${session.id}). Answer it in a browser:`)),
    row(),
    row(trusted(`  ${url}/#code=${code}`)),
    row(),
    row(trusted('or here: holdpoint inbox')),
  )
}
