/** The event stream as an endless iterable: it comes back by itself, from where it was. */
import {
  type Cursor,
  Fault,
  type Frame,
  limits,
  pause,
  retryPauseMs,
  type SessionId,
  systemClock,
} from '@holdpoint/protocol'
import { createParser } from 'eventsource-parser'
import { type Connection, faultFromReply, sendRequest, Unreachable } from './connection.ts'

export type ConnectionStatus = 'connecting' | 'live' | 'reconnecting'
export interface WatchOptions {
  readonly after?: Cursor
  readonly session?: SessionId
  readonly signal?: AbortSignal
  readonly onStatus?: (status: ConnectionStatus) => void
}

/** No limit on attempts: the signal ends them. A hello resets the pause to the first one. */
const retryPauses = { firstPauseMs: 250, pauseMaxMs: 5000 }
/** Trying again would be answered the same way: these end the stream. */
const final = new Set(['unauthenticated', 'forbidden', 'wrong_origin', 'wrong_host', 'bad_input', 'not_found', 'gone'])

/** Follows a cursor through the frames of one connection after another. */
export function trackCursor(after: Cursor | undefined, frame: Frame): Cursor | undefined {
  if (frame.frame === 'event') return frame.event.cursor
  // A resumed stream has yet to bring what was missed: its hello does not move the cursor, or a cut here would lose that.
  if (frame.frame === 'hello' && frame.hello.resume === 'gap') return frame.hello.cursor
  return after
}

export async function* watchEvents(connection: Connection, options: WatchOptions = {}): AsyncGenerator<Frame, void> {
  const { session, signal, onStatus } = options
  let cursor = options.after
  onStatus?.('connecting')
  for (let failures = 0; !signal?.aborted; ) {
    try {
      for await (const frame of readStream(connection, cursor, session, signal)) {
        cursor = trackCursor(cursor, frame)
        if (frame.frame === 'hello') {
          failures = 0
          onStatus?.('live')
        }
        yield frame
        if (signal?.aborted) return
      }
    } catch (error) {
      if (signal?.aborted) return
      const passing = error instanceof Unreachable || (error instanceof Fault && !final.has(error.code))
      if (!passing) throw error
    }
    if (signal?.aborted) return
    onStatus?.('reconnecting')
    await pause(systemClock, retryPauseMs(++failures, retryPauses), signal).catch(() => {})
  }
}

/** One connection, until it ends. Silence longer than a few heartbeats is an end, too. */
async function* readStream(
  connection: Connection,
  after: Cursor | undefined,
  session: SessionId | undefined,
  signal: AbortSignal | undefined,
): AsyncGenerator<Frame, void> {
  const abort = new AbortController()
  const stop = () => abort.abort(signal?.reason)
  signal?.addEventListener('abort', stop, { once: true })
  let silence = setTimeout(stop, limits.streamSilenceMaxMs)
  try {
    const query = new URLSearchParams({ ...(after && { after }), ...(session && { session }) })
    const reply = await sendRequest(connection, `/events?${query}`, { signal: abort.signal })
    if (!reply.ok || !reply.body) throw await faultFromReply(reply)
    const frames: Frame[] = []
    const parse = sseParser(data => frames.push(JSON.parse(data) as Frame)) // the gateway sends frames and nothing else
    const reader = reply.body.getReader()
    // Node 20 forgets the signal of a fetch once its request is collected as garbage; the reader does not forget.
    abort.signal.addEventListener('abort', () => void reader.cancel().catch(() => {}), { once: true })
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return
      clearTimeout(silence)
      silence = setTimeout(stop, limits.streamSilenceMaxMs)
      parse(value)
      yield* frames.splice(0)
    }
  } catch (error) {
    throw error instanceof Fault || signal?.aborted ? error : new Unreachable(connection.url, error)
  } finally {
    clearTimeout(silence)
    signal?.removeEventListener('abort', stop)
    abort.abort()
  }
}

/** Parses the bytes of an event stream and passes on the `data` of each event. Comments, such as heartbeats, are ignored. */
export function sseParser(onData: (data: string) => void): (chunk: Uint8Array) => void {
  const decoder = new TextDecoder()
  const parser = createParser({ onEvent: ({ data }) => onData(data) })
  return chunk => parser.feed(decoder.decode(chunk, { stream: true }))
}
