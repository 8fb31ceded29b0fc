/** `holdpoint tui`: the inbox and every session, live, on a screen of their own. */
import { Inbox, watchEvents } from '@holdpoint/client'
import { Fault } from '@holdpoint/protocol'
import { closingRows, connectOrStart, type GatewayAccess } from '../../gateway-client/gateway-access.ts'
import type { GatewayAddress } from '../../gateway-client/gateway-client.ts'
import { folderFor } from '../../gateway-client/start-session.ts'
import { out } from '../../output/output.ts'
import { row, trusted, untrusted } from '../../output/span.ts'
import { Terminal } from '../terminal/terminal.ts'
import { DashboardModel } from './dashboard-model.ts'
import { dashboardFrame } from './dashboard-view.ts'

/** How long ago something was is told by the minute. */
const tickMs = 20_000

/** The exit code. */
export async function tui(place: GatewayAddress): Promise<number> {
  if (!process.stdin.isTTY || !process.stdout.isTTY || process.env.TERM === 'dumb')
    throw new Fault('bad_input', 'This is no terminal to draw on; holdpoint inbox, show, allow and watch work anywhere')
  const house = await connectOrStart(place)
  try {
    if (house.isOwn) out.print(row(trusted(`No gateway runs, so one runs here until you leave: ${house.url}`, 'quiet')))
    return await stay(house)
  } finally {
    await house.close()
  }
}

async function stay(house: GatewayAccess): Promise<number> {
  const { call, connection, url } = house
  const { person: me } = await call('whoAmI', {})
  const inbox = new Inbox({ call, watch: options => watchEvents(connection, options) })
  const stage = new Terminal('full')
  // By the gateway's clock, which is the one that times are told by.
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
    edit: text => stage.edit(text),
    now,
    leave,
    changed: stage.redraw,
  })
  const size = () => ({ columns: process.stdout.columns || 80, rows: process.stdout.rows || 24 })
  const tick = setInterval(model.update, tickMs)
  try {
    stage.open(() => dashboardFrame(model, { url, now: now(), ...size() }), {
      onKey: key => model.press(key),
      onPaint: () => model.painted(),
      onResize: model.update,
      onReturn: () => model.returned(),
      onStop: leave,
    })
    await Promise.race([left, streamEnd(inbox)])
  } finally {
    clearInterval(tick)
    stage.close()
    await model.close()
    inbox.close()
  }
  const { ended, pendingCount } = inbox.getSnapshot()
  if (ended) out.print(row(trusted('The gateway let go: ', 'no'), untrusted(ended.message)))
  if (pendingCount > 0)
    out.print(
      row(
        trusted(`${pendingCount} ${pendingCount === 1 ? 'request waits' : 'requests wait'} for you. `),
        trusted('holdpoint tui brings you back.', 'quiet'),
      ),
    )
  out.print(...closingRows(house))
  return ended ? 1 : 0
}

/** The credential is gone, as a rule: nothing more will come. */
function streamEnd(inbox: Inbox): Promise<void> {
  return new Promise(resolve => {
    inbox.subscribe(() => {
      if (inbox.getSnapshot().ended) resolve()
    })
  })
}
