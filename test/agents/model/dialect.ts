/** The interface of a dialect of model APIs: it reads requests into the common shape and writes replies as its own events. */
import type { ServerResponse } from 'node:http'
import type { ModelRequest, ToolCall } from './script.ts'

export interface Dialect {
  readonly name: string
  /** Returns whether a POST to this path is a request for a reply in this dialect. */
  handles(path: string): boolean
  /** Reads the body of a request. The server adds the name of the dialect and the text of the body. */
  // biome-ignore lint/suspicious/noExplicitAny: the body of one of four APIs, of which a dialect reads only a few fields
  read(body: any, path: string): Omit<ModelRequest, 'dialect' | 'body'>
  open(response: ServerResponse, request: ModelRequest): ReplyWriter
  /** Returns the body of an HTTP error. */
  error(status: number, message: string): object
}

export interface ReplyWriter {
  text(piece: string): void
  call(call: ToolCall): void
  end(): void
}

/** The numbers of tokens that every reply reports. */
export const tokens = { input: 100, output: 20 }

/** Writes one server-sent event. */
export function sendEvent(response: ServerResponse, data: object, event?: string): void {
  response.write(`${event === undefined ? '' : `event: ${event}\n`}data: ${JSON.stringify(data)}\n\n`)
}

export function startStream(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' })
}
export function sendJson(response: ServerResponse, body: object, status = 200): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}

/** Returns the text of a content field, which is a string or a list of parts with a text. */
export function textOf(content: unknown): string {
  if (typeof content === 'string') return content
  if (!Array.isArray(content)) return ''
  return content.map(part => (typeof part === 'string' ? part : (part?.text ?? ''))).join('')
}
