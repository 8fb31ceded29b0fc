/** `holdpoint tui`: shows the inbox and all sessions on the whole screen and keeps them up to date. */
import { Inbox, sessionName, watchEvents } from '@holdpoint/client'
import { Fault } from '@holdpoint/protocol'
import { closingRows, connectOrStart, type GatewayAccess } from '../../gateway-client/gateway-access.ts'
import type { GatewayAddress } from '../../gateway-client/gateway-client.ts'
import { folderFor } from '../../gateway-client/start-session.ts'
import { out } from '../../output/output.ts'
import { row, trusted, untrusted } from '../../output/span.ts'
import { unsentRows } from '../run/composer.ts'
import { runTexts } from '../run/texts.ts'
import { isInteractive, listenersFor, Terminal } from '../terminal/terminal.ts'
import { DashboardModel } from './dashboard-model.ts'
import { dashboardFrame } from './dashboard-view.ts'
import { dashboardTexts as texts } from './texts.ts'

/** Ages are shown in minutes, so the screen is redrawn at least this often. */
const tickMs = 20_000

/** Runs the command and resolves with its exit code. */
export async function runTui(address: GatewayAddress): Promise<number> {
  if (!isInteractive()) throw new Fault('bad_input', texts.needsTerminal)
  const gateway = await connectOrStart(address)
  try {
    if (gateway.isOwn) out.print(row(trusted(runTexts.ownGateway(gateway.url), 'quiet')))
    return await showDashboard(gateway)
  } finally {
    await gateway.close()
  }
}

async function showDashboard(gateway: GatewayAccess): Promise<number> {
  const { call, connection, url } = gateway
  const { id: me } = await call('whoAmI', {})
  const inbox = new Inbox({ call, watch: options => watchEvents(connection, options) })
  const terminal = new Terminal('full')
  // Times on the screen are relative to the gateway's clock.
  const now = () => Date.now() + inbox.getSnapshot().clockSkewMs
  let leave = () => {}
  const left = new Promise<void>(resolve => {
    leave = resolve
  })
  const model = new DashboardModel({
    call,
    url,
    folder: folderFor(url),
    inbox,
    me,
    drivers: async () => (await call('listDrivers', {})).items,
    edit: (text, extension) => terminal.edit(text, extension),
    now,
    leave,
    changed: terminal.redraw,
  })
  let shownUrl = url
  let isConnected = false
  const size = () => ({ columns: process.stdout.columns || 80, rows: process.stdout.rows || 24 })
  const tick = setInterval(model.update, tickMs)
  try {
    terminal.open(() => dashboardFrame(model, { url: shownUrl, now: now(), ...size() }), listenersFor(model, leave))
    inbox.subscribe(() => {
      const { status, order, complete } = inbox.getSnapshot()
      if (status !== 'live') isConnected = false
      else if (!isConnected) {
        isConnected = true
        shownUrl = gateway.presentUrl()
      }
      if (status === 'live' && complete) terminal.setPending(order)
    })
    await Promise.race([left, streamEnd(inbox)])
  } finally {
    clearInterval(tick)
    terminal.close()
    await model.close()
    inbox.close()
  }
  const { ended, pendingCount, sessions } = inbox.getSnapshot()
  if (ended) out.print(row(trusted(runTexts.connectionClosed, 'no'), untrusted(ended.message)))
  if (pendingCount > 0) out.print(row(trusted(texts.pendingOnLeave(pendingCount)), trusted(texts.comeBack, 'quiet')))
  for (const { id, text } of model.unsent) {
    const session = sessions.get(id)
    const name = untrusted(session ? sessionName(session) : id)
    out.print(...unsentRows(text, trusted(texts.notSentOnLeave, 'waiting'), name, trusted(':')))
  }
  out.print(...closingRows(gateway))
  return ended ? 1 : 0
}

/** Resolves when the gateway ends the stream for good, usually because the token was revoked. */
function streamEnd(inbox: Inbox): Promise<void> {
  return new Promise(resolve => {
    inbox.subscribe(() => {
      if (inbox.getSnapshot().ended) resolve()
    })
  })
}
