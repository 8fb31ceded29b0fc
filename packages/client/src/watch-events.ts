/** Reads the event stream as an async iterable. The stream reconnects by itself and resumes after the last event. */
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
import { type Connection, faultFromReply, Unreachable } from './connection.ts'
import { sendRequest } from './send-request.ts'

export type ConnectionStatus = 'connecting' | 'live' | 'reconnecting'
export interface WatchOptions {
  /** The cursor of the event after which the stream resumes. */
  readonly after?: Cursor
  readonly session?: SessionId
  readonly signal?: AbortSignal
  readonly onStatus?: (status: ConnectionStatus) => void
}

/** The pauses between attempts to reconnect. Attempts continue until the signal aborts or the gateway replies with a permanent fault. A `hello` frame resets the pause. */
const retryPauses = { firstPauseMs: 250, pauseMaxMs: 5000 }
/** Faults that end the stream, because another attempt would get the same fault. */
const permanentCodes = new Set([
  'unauthenticated',
  'forbidden',
  'wrong_origin',
  'wrong_host',
  'bad_input',
  'not_found',
  'gone',
])

/** Returns the cursor after which the stream resumes once this frame is processed. */
export function trackCursor(after: Cursor | undefined, frame: Frame): Cursor | undefined {
  if (frame.frame === 'event') return frame.event.cursor
  // The `hello` of a resumed stream comes before the missed events, so `hello` must not move the cursor. Otherwise these events would be lost if the connection broke now.
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
      const isRetryable = error instanceof Unreachable || (error instanceof Fault && !permanentCodes.has(error.code))
      if (!isRetryable) throw error
    }
    if (signal?.aborted) return
    onStatus?.('reconnecting')
    // The pause rejects only if `signal` aborts, which ends the loop.
    await pause(systemClock, retryPauseMs(++failures, retryPauses), signal).catch(() => {})
  }
}

/** Reads one connection until it ends or several heartbeats are missing. */
async function* readStream(
  connection: Connection,
  after: Cursor | undefined,
  session: SessionId | undefined,
  signal: AbortSignal | undefined,
): AsyncGenerator<Frame, void> {
  const abort = new AbortController()
  const stop = () => abort.abort(signal?.reason)
  signal?.addEventListener('abort', stop, { once: true })
  let silenceTimer = setTimeout(stop, limits.streamSilenceMaxMs)
  try {
    const query = new URLSearchParams({ ...(after && { after }), ...(session && { session }) })
    const reply = await sendRequest(connection, `/events?${query}`, { signal: abort.signal })
    if (!reply.ok || !reply.body) throw await faultFromReply(reply)
    const frames: Frame[] = []
    const parse = sseParser(data => frames.push(JSON.parse(data) as Frame)) // the gateway sends only frames
    const reader = reply.body.getReader()
    // In Node 20, fetch ignores its signal after the request is garbage-collected, so cancel the reader as well. It rejects if the stream has already failed, which `read` reports.
    abort.signal.addEventListener('abort', () => void reader.cancel().catch(() => {}), { once: true })
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return
      clearTimeout(silenceTimer)
      silenceTimer = setTimeout(stop, limits.streamSilenceMaxMs)
      parse(value)
      yield* frames.splice(0)
    }
  } catch (error) {
    throw error instanceof Fault || error instanceof Unreachable || signal?.aborted
      ? error
      : new Unreachable(connection, 'no connection', error)
  } finally {
    clearTimeout(silenceTimer)
    signal?.removeEventListener('abort', stop)
    abort.abort()
  }
}

/** Parses the bytes of an event stream and passes the `data` of each event to a callback. Ignores comments, such as heartbeats. */
export function sseParser(onData: (data: string) => void): (chunk: Uint8Array) => void {
  const decoder = new TextDecoder()
  const parser = createParser({ onEvent: ({ data }) => onData(data) })
  return chunk => parser.feed(decoder.decode(chunk, { stream: true }))
}
