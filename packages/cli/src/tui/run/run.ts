/** `holdpoint run`: starts a session, or reopens one, and shows it in this terminal. */
import { actionLabel, Inbox, rulesNotice, Transcript, watchEvents } from '@holdpoint/client'
import { type Call, type CommandId, type DriverInfo, Fault, type Session } from '@holdpoint/protocol'
import { findSession, idShortener } from '../../commands/ids.ts'
import { liveSessions, pendingRequests } from '../../commands/queries.ts'
import { closingRows, connectOrStart, type GatewayAccess } from '../../gateway-client/gateway-access.ts'
import type { GatewayAddress } from '../../gateway-client/gateway-client.ts'
import { startSession } from '../../gateway-client/start-session.ts'
import { out } from '../../output/output.ts'
import { shellQuote } from '../../output/shell-quote.ts'
import { type Row, row, trusted, untrusted } from '../../output/span.ts'
import { sessionSummary } from '../dashboard/session-list.ts'
import { isInteractive, listenersFor, Terminal } from '../terminal/terminal.ts'
import { unsentRows } from './composer.ts'
import { runInPipe } from './run-in-pipe.ts'
import { isResumable, RunModel } from './run-model.ts'
import { runTexts as texts } from './texts.ts'

export interface RunOptions extends GatewayAddress {
  readonly session?: string
  readonly cwd?: string
  readonly mode?: string
  readonly model?: string
  readonly title?: string
}

const driversTimeoutMs = 10_000
const pollMs = 50

/** Runs the command and resolves with its exit code. */
export async function run(args: readonly string[], options: RunOptions): Promise<number> {
  const gateway = await connectOrStart(options)
  try {
    if (gateway.isOwn) out.print(row(trusted(texts.ownGateway(gateway.url), 'quiet')))
    const session = options.session
      ? await findSession(gateway.call, options.session)
      : await startFromArgs(gateway, args, options)
    const messageId = options.session ? await sendMessage(gateway.call, session, args.join(' ')) : null
    out.print(row(...sessionSummary(session), trusted(`  ${session.id}`, 'quiet')))
    const notice = session.state === 'ended' ? null : rulesNotice(session)
    if (notice !== null) out.print(row(trusted(notice, 'quiet')))
    const code = await (isInteractive()
      ? runInteractive(gateway, session, messageId)
      : runInPipe(gateway, session, messageId))
    if (session.state === 'ended' && !isResumable(session)) out.print(...endedRows(session))
    return code
  } finally {
    await gateway.close()
  }
}

/** Sends a message, which also reopens an ended session. Resolves with the id of the message, or with null if the text is empty. */
async function sendMessage(call: Call, { id }: Session, text: string): Promise<CommandId | null> {
  return text.trim() === '' ? null : (await call('sendMessage', { id, text })).id
}
function endedRows({ id, driver, cwd }: Session): readonly Row[] {
  const sentence = row(trusted(texts.cannotReopen(id)))
  if (driver === 'external') return [sentence, row(trusted(texts.external))]
  const command = `holdpoint run ${shellQuote(driver)} --cwd ${shellQuote(cwd)}`
  return [sentence, row(trusted(texts.startNew), untrusted(command, 'strong'))]
}

async function startFromArgs(
  gateway: GatewayAccess,
  args: readonly string[],
  { cwd, mode, model, title }: RunOptions,
): Promise<Session> {
  const { driver, prompt } = parseArgs(args, await readyDrivers(gateway.call))
  // Without a terminal, nobody can type the first message, so the command would wait forever.
  if (prompt.trim() === '' && !isInteractive()) throw new Fault('bad_input', texts.needsPrompt(driver))
  return startSession(gateway, { driver, prompt, cwd, mode, model, title })
}

/** Waits until a runner has announced a driver, because a runner that has just started announces its drivers a moment later. */
async function readyDrivers(call: Call): Promise<readonly DriverInfo[]> {
  for (let waitedMs = 0; ; waitedMs += pollMs) {
    const { items } = await call('listDrivers', {})
    if (items.some(({ runner }) => runner !== null) || waitedMs >= driversTimeoutMs) return items
    await new Promise(resolve => setTimeout(resolve, pollMs))
  }
}

/** Takes the first argument as the driver if a driver has that name; otherwise takes all arguments as the prompt for the first ready driver. Rejects a first argument without spaces that names no driver. */
function parseArgs(args: readonly string[], drivers: readonly DriverInfo[]): { driver: string; prompt: string } {
  const [first = '', ...rest] = args
  if (drivers.some(({ name }) => name === first)) return { driver: first, prompt: rest.join(' ') }
  const usable = drivers.filter(({ name, ready }) => ready && name !== 'external')
  const names = usable.map(({ name }) => name).join(', ')
  if (first !== '' && !/\s/.test(first)) throw new Fault('bad_input', texts.unknownAgent(first, names))
  const driver = usable.find(({ name }) => name !== 'rehearsal') ?? usable[0]
  if (!driver) throw new Fault('no_runner', texts.noAgentReady)
  return { driver: driver.name, prompt: args.join(' ') }
}

async function runInteractive(gateway: GatewayAccess, session: Session, messageId: CommandId | null): Promise<number> {
  const { call, connection } = gateway
  const { id: me } = await call('whoAmI', {})
  const drivers = (await call('listDrivers', {})).items
  const inbox = new Inbox({ call, watch: options => watchEvents(connection, options), session: session.id })
  const transcript = new Transcript(inbox.transcriptOptions(session.id))
  const terminal = new Terminal('inline')
  const model = new RunModel({
    call,
    inbox,
    transcript,
    session: session.id,
    canReopen: session.state === 'ended' && (messageId !== null || isResumable(session)),
    me,
    modes: drivers.find(({ name }) => name === session.driver)?.modes ?? [],
    size: () => ({ columns: process.stdout.columns || 80, height: (process.stdout.rows || 24) - 1 }),
    print: rows => terminal.printAbove(() => out.print(...rows)),
    edit: (text, extension) => terminal.edit(text, extension),
    now: () => performance.now(),
    changed: () => {
      terminal.redraw()
      if (inbox.getSnapshot().status === 'live') terminal.setPending(model.pending.map(({ id }) => id))
    },
  })
  let leave = () => {}
  const stop = new Promise<'left'>(resolve => {
    leave = () => resolve('left')
  })
  terminal.open(() => model.frame, listenersFor(model, leave))
  try {
    model.update()
    const ending = await Promise.race([model.ending, stop])
    terminal.close()
    model.printRemaining()
    out.print(...unsentRows(model.unsent, trusted(texts.notSentOnLeave, 'waiting')))
    await model.close()
    const now = inbox.getSnapshot().sessions.get(session.id) ?? session
    if (ending === 'left') out.print(...(await goodbyeRows(now, model, gateway, inbox)))
    return now.ending?.reason === 'failed' ? 1 : 0
  } finally {
    terminal.close()
    transcript.close()
    inbox.close()
  }
}

async function goodbyeRows(
  { id, state }: Session,
  { pending }: RunModel,
  gateway: GatewayAccess,
  inbox: Inbox,
): Promise<readonly Row[]> {
  const { ended, status } = inbox.getSnapshot()
  const short = status === 'live' ? await shortIds(gateway.call) : (whole: string) => whole
  const rows = pending.map(request =>
    row(trusted(`  ${actionLabel(request.ask)}  `), trusted(`holdpoint show ${short(request.id)}`, 'quiet')),
  )
  const count = texts.stillPending(pending.length)
  return [
    ...(ended ? [row(trusted(texts.connectionClosed, 'no'), untrusted(ended.message))] : []),
    row(trusted(sessionFate(state, gateway, status === 'live'))),
    ...closingRows(gateway),
    ...(pending.length > 0 ? [row(trusted(count, 'waiting')), ...rows] : []),
    row(trusted(texts.comeBack), trusted(`holdpoint run --session ${short(id)}`, 'strong')),
  ]
}

/** Returns a sentence about what happens to the session after the person has left. */
function sessionFate(state: Session['state'], { isOwn }: GatewayAccess, isConnected: boolean): string {
  if (!isConnected) return texts.unknownFate
  if (state === 'ended') return texts.leftEnded
  return isOwn ? texts.leftPaused : texts.leftRunning
}

/** Resolves with a function that shortens ids but keeps them unique. If the lists cannot be loaded, the function returns ids unchanged. */
async function shortIds(call: Call): Promise<(id: string) => string> {
  const lists = await Promise.all([liveSessions(call), pendingRequests(call)]).catch(() => null)
  return lists ? idShortener(lists.flat().map(({ id }) => id)) : id => id
}
