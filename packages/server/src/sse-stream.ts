/** Sends the event stream as Server-Sent Events. Each frame is one event with JSON data, and all subscribers receive the same bytes. */
import type { SerializedFrame, SubscribeOptions } from '@holdpoint/engine'
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

const heartbeat = Buffer.from(': heartbeat\n\n')
const closing = Buffer.from(': closing\n\n')

/** Formats a frame as one event. JSON escapes line breaks, so the frame always fits into one `data` line. */
function formatEvent(cursor: string | null, json: string): string {
  return cursor === null ? `data: ${json}\n\n` : `id: ${cursor}\ndata: ${json}\n\n`
}

const encodedFrames = new WeakMap<SerializedFrame, Buffer>()
function encodeFrame(frame: SerializedFrame): Buffer {
  const known = encodedFrames.get(frame)
  if (known) return known
  const chunk = Buffer.from(formatEvent(frame.cursor, frame.json))
  encodedFrames.set(frame, chunk)
  return chunk
}

let lastBatch: { readonly frames: readonly SerializedFrame[]; readonly chunk: Buffer } | null = null
/** Encodes frames and caches the last batch, because subscribers with the same filter get the same frames one after another. */
function encodeBatch(frames: readonly SerializedFrame[]): Buffer {
  if (frames.length === 1) return encodeFrame(frames[0] as SerializedFrame) // the list has exactly one element
  if (lastBatch?.frames.length === frames.length && lastBatch.frames.every((frame, i) => frame === frames[i]))
    return lastBatch.chunk
  const chunk = Buffer.concat(frames.map(encodeFrame))
  lastBatch = { frames, chunk }
  setImmediate(() => {
    lastBatch = null
  })
  return chunk
}

export function sseSink(sink: ByteSink, after: string | undefined): FrameSink {
  return {
    start({ hello, missed }, onSent) {
      // If the connection breaks between `hello` and the missed events, the client must resume before these events, so `hello` has the old cursor.
      const id = hello.resume === 'ok' && after !== undefined ? after : hello.cursor
      let bytes = 0
      const write = (cursor: string | null, json: string, onSent?: () => void) => {
        const chunk = Buffer.from(formatEvent(cursor, json))
        bytes += chunk.length
        sink.write(chunk, onSent)
      }
      const last = missed.length - 1
      write(id, JSON.stringify({ frame: 'hello', hello }), last < 0 ? onSent : undefined)
      for (const [i, { cursor, json }] of missed.entries()) write(cursor, json, i === last ? onSent : undefined)
      return bytes
    },
    send: frames => sink.write(encodeBatch(frames)),
    buffered: () => sink.buffered(),
    heartbeat: () => sink.write(heartbeat),
    close: () => sink.end(closing),
    destroy: () => sink.destroy(),
  }
}

/** Reads the options of a subscription. A malformed cursor is not an error. The stream then starts with a snapshot, as it does for an unknown cursor. */
export function readSubscribeOptions(fields: Readonly<Record<string, unknown>>): SubscribeOptions {
  const { after, session, ...rest } = fields
  const unknown = Object.keys(rest)[0]
  if (unknown !== undefined)
    throw new Fault('bad_input', `A subscription has the fields "after" and "session", not "${unknown.slice(0, 80)}".`)
  const cursor = Cursor.safeParse(after)
  if (session === undefined) return cursor.success ? { after: cursor.data } : {}
  const id = SessionId.safeParse(session)
  if (!id.success)
    throw new Fault('bad_input', '"session" is not a session id. A session id is ses_ followed by 20 characters.')
  return cursor.success ? { after: cursor.data, session: id.data } : { session: id.data }
}

/** Reads the options of an event stream. `Last-Event-ID` takes precedence over `after`, because a browser reconnects with its first URL, whose `after` is older. */
export function readStreamOptions(query: string, lastEventId: string | undefined): SubscribeOptions {
  const fields = readQuery(query)
  return readSubscribeOptions(lastEventId ? { ...fields, after: lastEventId } : fields)
}
