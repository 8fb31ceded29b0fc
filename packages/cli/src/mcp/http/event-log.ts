/** The last messages to one MCP client over HTTP, for a client that lost its connection and continues after the last event that it has received. */
import type { EventStore } from '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js'
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js'

interface Stream {
  /** The number of the last event. */
  last: number
  readonly events: { readonly number: number; readonly message: JSONRPCMessage }[]
}

/** A stream has the replies to one message of the client, and the notifications about it. */
const streamsMax = 100
/** How many events of a stream are kept. Older events may be lost; the reply, which is the last event of its stream, must not be lost. */
const eventsMax = 10

export class EventLog implements EventStore {
  /** The stream that was used last comes last. */
  readonly #streams = new Map<string, Stream>()

  /** Called by the SDK for each message, and with an empty one for the event that begins a stream. */
  async storeEvent(streamId: string, message: JSONRPCMessage): Promise<string> {
    const stream = this.#streams.get(streamId) ?? { last: 0, events: [] }
    stream.last++
    if ('jsonrpc' in message) stream.events.push({ number: stream.last, message })
    if (stream.events.length > eventsMax) stream.events.shift()
    this.#streams.delete(streamId)
    this.#streams.set(streamId, stream)
    const [oldest] = this.#streams.keys()
    if (this.#streams.size > streamsMax && oldest !== undefined) this.#streams.delete(oldest)
    return `${streamId}.${stream.last}`
  }

  async replayEventsAfter(
    lastEventId: string,
    { send }: { send: (eventId: string, message: JSONRPCMessage) => Promise<void> },
  ): Promise<string> {
    const streamId = streamOf(lastEventId)
    const stream = this.#streams.get(streamId)
    if (!stream) throw new Error(`the events after ${lastEventId} are not kept`)
    const received = Number(lastEventId.slice(streamId.length + 1))
    for (const { number, message } of stream.events) if (number > received) await send(`${streamId}.${number}`, message)
    return streamId
  }
}

/** Returns the stream of an event. */
export function streamOf(eventId: string): string {
  return eventId.slice(0, Math.max(0, eventId.lastIndexOf('.')))
}
