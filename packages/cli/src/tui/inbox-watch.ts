/** `holdpoint inbox --watch`: keeps the list of pending requests up to date in this terminal, and rings the bell for a new one. */
import { Inbox, watchEvents } from '@holdpoint/client'
import type { SessionId } from '@holdpoint/protocol'
import { idShortener } from '../commands/ids.ts'
import { listTexts as texts } from '../commands/texts.ts'
import type { GatewayClient } from '../gateway-client/gateway-client.ts'
import { inboxTable, narrowInbox } from '../output/inbox.ts'
import { out } from '../output/output.ts'
import { row, trusted, untrusted } from '../output/span.ts'
import { tableRows } from '../output/table.ts'
import { type StyledLine, widthOf } from '../output/width.ts'
import { typedLetter } from './prompt/key-result.ts'
import { runTexts } from './run/texts.ts'
import { type ScreenFrame, Terminal, withSpinner } from './terminal/terminal.ts'

/** Ages are shown in minutes, so the list is redrawn at least this often. */
const tickMs = 20_000

export async function watchInbox({ call, connection }: GatewayClient, session: SessionId | undefined): Promise<void> {
  const inbox = new Inbox({ call, watch: options => watchEvents(connection, options), ...(session && { session }) })
  const terminal = new Terminal('full')
  let leave = () => {}
  const left = new Promise<void>(resolve => {
    leave = resolve
  })
  const tick = setInterval(terminal.redraw, tickMs)
  terminal.open(() => inboxFrame(inbox), {
    onKey: key => {
      if (['ctrl-c', 'ctrl-d', 'escape'].includes(key.name) || typedLetter(key) === 'q') leave()
    },
    onPaint: () => {},
    onResize: terminal.redraw,
    onTerminalReturned: () => {},
    onExitSignal: leave,
  })
  inbox.subscribe(() => {
    const { ended, status, complete, order } = inbox.getSnapshot()
    if (status === 'live' && complete) terminal.setPending(order)
    if (ended) leave()
    terminal.redraw()
  })
  try {
    await left
  } finally {
    clearInterval(tick)
    terminal.close()
    inbox.close()
  }
  const { ended } = inbox.getSnapshot()
  if (ended) out.print(row(trusted(runTexts.connectionClosed, 'no'), untrusted(ended.message)))
}

function inboxFrame(inbox: Inbox): ScreenFrame {
  const { status, complete, order, requests, sessions, clockSkewMs } = inbox.getSnapshot()
  const [columns, rows] = [process.stdout.columns || 80, process.stdout.rows || 24]
  const keys = texts.watchKeys.find(text => widthOf(text) <= columns) ?? ''
  const foot: StyledLine = [trusted(keys, 'quiet')]
  if (status === 'reconnecting') return withSpinner([], runTexts.reconnecting, [foot])
  if (status === 'connecting' || !complete) return withSpinner([], texts.loading, [foot])
  const pending = order.flatMap(id => requests.get(id) ?? [])
  const now = Date.now() + clockSkewMs
  const { head, lines } = inboxTable(pending, { sessions, shorten: idShortener(order), now, columns })
  const table = tableRows(head, lines, columns, narrowInbox).map(({ spans }): StyledLine => spans)
  // The last two lines are for what does not fit and for the keys.
  const shown = table.slice(0, Math.max(1, rows - 2))
  const missing = table.length - shown.length
  const state = pending.length === 0 ? texts.emptyInbox(0) : missing > 0 ? texts.moreBelow(missing) : ''
  const list = pending.length === 0 ? [] : shown
  return { lines: [...list, [trusted(state, 'quiet')], foot], spinner: null }
}
