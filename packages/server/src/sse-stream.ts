/** The event stream's spelling: Server-Sent Events, one JSON value each, the same bytes for everyone who watches. */
import type { SerializedFrame, SubscribeOptions, Subscription } from '@holdpoint/engine'
import { Cursor, Fault, SessionId } from '@holdpoint/protocol'
import { type ByteSink, type FlatHeaders, securityHeaders } from './http-message.ts'
import { readQuery } from './input.ts'
import type { FrameSink } from './subscriptions.ts'

export const streamHeaders: FlatHeaders = [
  ...securityHeaders,
  'cache-control',
  'no-store',
  'content-type',
  'text/event-stream',
]

const beat = Buffer.from(': beat\n\n')
const closing = Buffer.from(': closing\n\n')

/** JSON holds no raw line ends, so a frame is one `data` line whatever its texts say. */
function spell(cursor: string | null, json: string): string {
  return cursor === null ? `data: ${json}\n\n` : `id: ${cursor}\ndata: ${json}\n\n`
}

const chunks = new WeakMap<SerializedFrame, Buffer>()
function chunkOf(frame: SerializedFrame): Buffer {
  const known = chunks.get(frame)
  if (known) return known
  const chunk = Buffer.from(spell(frame.cursor, frame.json))
  chunks.set(frame, chunk)
  return chunk
}

let last: { readonly frames: readonly SerializedFrame[]; readonly chunk: Buffer } | null = null
/** Those who watch the same get the same frames one after another: the last batch is the next one's, too. */
function chunkOfAll(frames: readonly SerializedFrame[]): Buffer {
  if (frames.length === 1) return chunkOf(frames[0] as SerializedFrame) // the length is checked
  if (last?.frames.length === frames.length && last.frames.every((frame, i) => frame === frames[i])) return last.chunk
  const chunk = Buffer.concat(frames.map(chunkOf))
  last = { frames, chunk }
  setImmediate(() => {
    last = null
  })
  return chunk
}

export function sseSink(outlet: ByteSink, after: string | undefined): FrameSink {
  return {
    begin({ hello, missed }: Subscription) {
      // Where missed events follow, a reader that is cut off right behind hello must resume before them, not behind.
      const id = hello.resume === 'ok' && after !== undefined ? after : hello.cursor
      let bytes = 0
      const write = (cursor: string | null, json: string) => {
        const chunk = Buffer.from(spell(cursor, json))
        bytes += chunk.length
        outlet.write(chunk)
      }
      write(id, JSON.stringify({ frame: 'hello', hello }))
      for (const { cursor, json } of missed) write(cursor, json)
      return bytes
    },
    send: frames => outlet.write(chunkOfAll(frames)),
    buffered: () => outlet.buffered(),
    beat: () => outlet.write(beat),
    close: () => outlet.end(closing),
    drop: () => outlet.destroy(),
  }
}

/** A cursor that cannot be one is no error: the reader gets a snapshot, as with any cursor that names nothing. */
export function readWatchOptions(members: Readonly<Record<string, unknown>>): SubscribeOptions {
  const { after, session, ...rest } = members
  const unknown = Object.keys(rest)[0]
  if (unknown !== undefined)
    throw new Fault('bad_input', `A stream takes after and session, not "${unknown.slice(0, 80)}".`)
  const cursor = Cursor.safeParse(after)
  if (session === undefined) return cursor.success ? { after: cursor.data } : {}
  const id = SessionId.safeParse(session)
  if (!id.success)
    throw new Fault('bad_input', 'session is not the id of a session: it looks like ses_ and 20 letters.')
  return cursor.success ? { after: cursor.data, session: id.data } : { session: id.data }
}

/** `Last-Event-ID` is newer than `after`: a browser that reconnects repeats its first URL. */
export function readStreamOptions(query: string, lastEventId: string | undefined): SubscribeOptions {
  const members = readQuery(query)
  return readWatchOptions(lastEventId ? { ...members, after: lastEventId } : members)
}
