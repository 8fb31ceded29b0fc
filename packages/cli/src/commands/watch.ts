/** `holdpoint watch`: what happens, a line each, for as long as one looks. */
import { type ConnectionStatus, watchEvents } from '@holdpoint/client'
import { Cursor, type Event, Fault, type SessionId } from '@holdpoint/protocol'
import { followingGateway, type GatewayAddress } from '../gateway-client/gateway-client.ts'
import { eventRow } from '../output/event.ts'
import { err, out } from '../output/output.ts'
import { row, trusted } from '../output/span.ts'
import { findSession } from './ids.ts'

export interface WatchOptions extends GatewayAddress {
  readonly session?: string
  readonly after?: string
  readonly json?: boolean
}

export async function watch({ session: spelled, after, json, ...place }: WatchOptions): Promise<void> {
  const from = Cursor.optional().safeParse(after)
  if (!from.success) throw new Fault('bad_input', `--after "${after}" is not a cursor of an event`)
  const { call, connection } = followingGateway(place)
  // A gateway that is not there is told at once; one that goes away later is waited for.
  const only = spelled === undefined ? undefined : await findSession(call, spelled)
  if (!only) await call('whoAmI', {})
  const stop = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop.abort())
  const titles = new SessionTitles()
  let begun = false
  const how = {
    signal: stop.signal,
    onStatus: connectionReporter(),
    ...(only && { session: only.id }),
    ...(from.data && { after: from.data }),
  }
  for await (const frame of watchEvents(connection, how)) {
    if (frame.frame === 'hello') {
      for (const { id, title } of frame.hello.sessions) titles.set(id, title)
      if (frame.hello.resume === 'gap' && (begun || from.data))
        err.print(row(trusted('Some events were missed; the list of events goes on from here.', 'waiting')))
      begun = true
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

/** Each time that it goes and comes, not each time that it is tried. */
function connectionReporter(): (status: ConnectionStatus) => void {
  let away = false
  return status => {
    const goes = status === 'reconnecting'
    if (goes === away) return
    away = goes
    err.print(row(trusted(away ? 'The gateway is away; it is looked for.' : 'The gateway is back.', 'waiting')))
  }
}

/** Events name sessions by id; people know them by title. */
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
