/** `holdpoint run`: starts a session, or comes back to one, and stays with it in this terminal. */
import { actionLabel, Inbox, watchEvents } from '@holdpoint/client'
import { type Call, type CommandId, type DriverInfo, Fault, type Session } from '@holdpoint/protocol'
import { findSession, idShortener } from '../../commands/ids.ts'
import { liveSessions, pendingRequests } from '../../commands/queries.ts'
import { closingRows, connectOrStart, type GatewayAccess } from '../../gateway-client/gateway-access.ts'
import type { GatewayAddress as GatewayPlace } from '../../gateway-client/gateway-client.ts'
import { startSession } from '../../gateway-client/start-session.ts'
import { out } from '../../output/output.ts'
import { shellQuote } from '../../output/shell-quote.ts'
import { type Row, row, trusted, untrusted } from '../../output/span.ts'
import { sessionSpans } from '../dashboard/session-list.ts'
import { Terminal } from '../terminal/terminal.ts'
import { canReopen, RunModel } from './run-model.ts'
import { runPlainly } from './run-plain.ts'

export interface RunWords extends GatewayPlace {
  readonly session?: string
  readonly cwd?: string
  readonly mode?: string
  readonly model?: string
  readonly title?: string
}

const driversMaxMs = 10_000
const lookMs = 50

/** The exit code. */
export async function run(words: readonly string[], options: RunWords): Promise<number> {
  const house = await connectOrStart(options)
  try {
    if (house.isOwn) out.print(row(trusted(`No gateway runs, so one runs here until you leave: ${house.url}`, 'quiet')))
    const session = options.session
      ? await findSession(house.call, options.session)
      : await begin(house, words, options)
    const said = options.session ? await say(house.call, session, words.join(' ')) : null
    out.print(row(...sessionSpans(session), trusted(`  ${session.id}`, 'quiet')))
    const code = await (isLive() ? runLive(house, session, said) : runPlainly(house, session, said))
    if (session.state === 'ended' && !canReopen(session)) out.print(...overRows(session))
    return code
  } finally {
    await house.close()
  }
}

/** What a person says to a session that they come back to; one that has ended is opened by it, if it can be. */
async function say(call: Call, { id }: Session, text: string): Promise<CommandId | null> {
  return text.trim() === '' ? null : (await call('sendMessage', { id, text })).id
}
function overRows({ id, driver, cwd }: Session): readonly Row[] {
  const sentence = row(trusted(`${id} has ended and cannot be opened again.`))
  if (driver === 'external')
    return [sentence, row(trusted('Whatever opened it, a script as a rule, asks anew by itself.'))]
  const begins = `holdpoint run ${shellQuote(driver)} --cwd ${shellQuote(cwd)}`
  return [sentence, row(trusted('A new one begins with: '), untrusted(begins, 'strong'))]
}

/** Only where keys can be read and the screen can be drawn on. */
function isLive(): boolean {
  return process.stdin.isTTY === true && process.stdout.isTTY === true && process.env.TERM !== 'dumb'
}

async function begin(
  house: GatewayAccess,
  words: readonly string[],
  { cwd, mode, model, title }: RunWords,
): Promise<Session> {
  const drivers = await readyDrivers(house.call)
  return startSession(house, { ...split(words, drivers), cwd, mode, model, title })
}

/** A runner that has just begun announces its drivers a moment later. */
async function readyDrivers(call: Call): Promise<readonly DriverInfo[]> {
  for (let waitedMs = 0; ; waitedMs += lookMs) {
    const { items } = await call('listDrivers', {})
    if (items.some(({ runner }) => runner !== null) || waitedMs >= driversMaxMs) return items
    await new Promise(resolve => setTimeout(resolve, lookMs))
  }
}

/** The first word is a driver where one has that name; otherwise all of it is the prompt, for the first driver that is ready. */
function split(words: readonly string[], drivers: readonly DriverInfo[]): { driver: string; prompt: string } {
  const [first = '', ...rest] = words
  if (drivers.some(({ name }) => name === first)) return { driver: first, prompt: rest.join(' ') }
  const names = drivers.map(({ name }) => name).join(', ')
  if (first !== '' && !/\s/.test(first))
    throw new Fault('bad_input', `No agent is called ${first}; there are: ${names || 'none yet'}`)
  const usable = drivers.filter(({ name, ready }) => ready && name !== 'external')
  const driver = usable.find(({ name }) => name !== 'rehearsal') ?? usable[0]
  if (!driver) throw new Fault('no_runner', 'No agent is ready to run here; holdpoint doctor says what is missing')
  return { driver: driver.name, prompt: words.join(' ') }
}

async function runLive(house: GatewayAccess, session: Session, said: CommandId | null): Promise<number> {
  const { call, connection } = house
  const { person: me } = await call('whoAmI', {})
  const drivers = (await call('listDrivers', {})).items
  const inbox = new Inbox({ call, watch: options => watchEvents(connection, options), session: session.id })
  const transcript = inbox.transcript(session.id)
  const stage = new Terminal('inline')
  const model = new RunModel({
    call,
    inbox,
    transcript,
    session: session.id,
    reopens: session.state === 'ended' && (said !== null || canReopen(session)),
    me,
    modes: drivers.find(({ name }) => name === session.driver)?.modes ?? [],
    place: () => ({ columns: process.stdout.columns || 80, height: (process.stdout.rows || 24) - 1 }),
    print: rows => stage.above(() => out.print(...rows)),
    edit: text => stage.edit(text),
    now: () => performance.now(),
    changed: stage.redraw,
  })
  let leave = () => {}
  const stop = new Promise<'left'>(resolve => {
    leave = () => resolve('left')
  })
  stage.open(() => model.frame, {
    onKey: key => model.press(key),
    onPaint: () => model.painted(),
    onResize: model.update,
    onReturn: () => model.returned(),
    onStop: leave,
  })
  try {
    model.update()
    const departure = await Promise.race([model.departure, stop])
    stage.close()
    model.settle()
    await model.close()
    const now = inbox.getSnapshot().sessions.get(session.id) ?? session
    if (departure === 'left') out.print(...(await partingRows(now, model, house, inbox)))
    return now.ending?.reason === 'failed' ? 1 : 0
  } finally {
    stage.close()
    transcript.close()
    inbox.close()
  }
}

async function partingRows(
  { id, state }: Session,
  { pending }: RunModel,
  house: GatewayAccess,
  inbox: Inbox,
): Promise<readonly Row[]> {
  const { ended, status } = inbox.getSnapshot()
  const short = status === 'live' ? await shortIds(house.call) : (whole: string) => whole
  const waits = pending.map(request =>
    row(trusted(`  ${actionLabel(request.ask)}  `), trusted(`holdpoint show ${short(request.id)}`, 'quiet')),
  )
  const count = pending.length === 1 ? '1 request stays pending:' : `${pending.length} requests stay pending:`
  return [
    ...(ended ? [row(trusted('The gateway let go: ', 'no'), untrusted(ended.message))] : []),
    row(trusted(`You left. ${fateOf(state, house, status === 'live')}`)),
    ...closingRows(house),
    ...(pending.length > 0 ? [row(trusted(count, 'waiting')), ...waits] : []),
    row(trusted('Come back with: '), trusted(`holdpoint run --session ${short(id)}`, 'strong')),
  ]
}

/** What becomes of a session that is left, as far as it is known. */
function fateOf(state: Session['state'], { isOwn }: GatewayAccess, live: boolean): string {
  if (!live) return 'The gateway is away, so it is not known here whether the session goes on.'
  if (state === 'ended') return 'The session has ended; what you say to it opens it again.'
  return isOwn ? 'The session is kept, and its agent rests until you are back.' : 'The session goes on without you.'
}

/** As they may be typed; where that cannot be known, as they are. */
async function shortIds(call: Call): Promise<(id: string) => string> {
  const lists = await Promise.all([liveSessions(call), pendingRequests(call)]).catch(() => null)
  return lists ? idShortener(lists.flat().map(({ id }) => id)) : id => id
}
