/** `holdpoint watch`: streams events, one per line, until it is stopped. */
import { type ConnectionStatus, watchEvents } from '@holdpoint/client'
import { Cursor, type Event, Fault, type SessionId } from '@holdpoint/protocol'
import { type GatewayAddress, requireGateway } from '../gateway-client/gateway-client.ts'
import { eventRow } from '../output/event.ts'
import { err, out } from '../output/output.ts'
import { row, trusted } from '../output/span.ts'
import { abortOnSignal } from '../signals.ts'
import { findSession } from './ids.ts'
import { watchTexts } from './texts.ts'

export interface WatchOptions extends GatewayAddress {
  readonly session?: string
  readonly after?: string
  readonly json?: boolean
}

export async function watch({ session: typedId, after, json, ...address }: WatchOptions): Promise<void> {
  const cursor = Cursor.optional().safeParse(after)
  if (!cursor.success) throw new Fault('bad_input', watchTexts.badCursor(after ?? ''))
  const { call, connection } = requireGateway(address, { attempts: 1 })
  // Call the gateway once before streaming. If it is unreachable now, that is an error; if it goes away later, `watch` waits for it.
  const only = typedId === undefined ? undefined : await findSession(call, typedId)
  if (!only) await call('whoAmI', {})
  const titles = new SessionTitles()
  let isConnectedBefore = false
  const options = {
    signal: abortOnSignal('SIGINT', 'SIGTERM'),
    onStatus: connectionReporter(),
    ...(only && { session: only.id }),
    ...(cursor.data && { after: cursor.data }),
  }
  for await (const frame of watchEvents(connection, options)) {
    if (frame.frame === 'hello') {
      for (const { id, title } of frame.hello.sessions) titles.set(id, title)
      if (frame.hello.resume === 'gap' && (isConnectedBefore || cursor.data))
        err.print(row(trusted(watchTexts.missedEvents, 'waiting')))
      isConnectedBefore = true
    }
    if (frame.frame !== 'event') continue
    titles.update(frame.event)
    if (json) out.json(frame.event)
    else {
      const line = eventRow(frame.event, id => titles.of(id), out.columns)
      if (line) out.print(line)
    }
  }
}

/** Prints a line when the connection is lost and when it is back, but not for every attempt in between. */
function connectionReporter(): (status: ConnectionStatus) => void {
  let isLost = false
  return status => {
    const wasLost = isLost
    isLost = status === 'reconnecting'
    if (isLost !== wasLost)
      err.print(row(trusted(isLost ? watchTexts.disconnected : watchTexts.reconnected, 'waiting')))
  }
}

/** Remembers session titles, because events carry only session ids. */
class SessionTitles {
  readonly #titles = new Map<SessionId, string>()

  set(id: SessionId, title: string): void {
    this.#titles.set(id, title)
  }
  update(event: Event): void {
    if ('value' in event && 'title' in event.value && event.session) this.set(event.session, event.value.title)
  }
  of(id: SessionId): string {
    return this.#titles.get(id) ?? id
  }
}
