/**
 * The scripted model: an HTTP server on loopback that speaks the dialects of all agents. A script is selected by a text in the
 * person's last message and not by the number of calls, because agents also call the model for other purposes, such as titles.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { anthropic } from './anthropic.ts'
import { type Dialect, sendJson } from './dialect.ts'
import { gemini } from './gemini.ts'
import { openaiChat } from './openai-chat.ts'
import { openaiResponses } from './openai-responses.ts'
import {
  type ModelCall,
  type ModelMessage,
  type ModelRequest,
  type ReplyPart,
  type ScriptedReply,
  say,
} from './script.ts'
import { offersShell, translate } from './tools.ts'

const dialects: readonly Dialect[] = [openaiResponses, openaiChat, gemini, anthropic]
/** Replies to requests for something other than a reply of the model, by the end of the path of the request. */
const otherReplies: readonly (readonly [string, object])[] = [
  ['/models', { object: 'list', data: [], models: [] }],
  ['/count_tokens', { input_tokens: 1 }],
  [':countTokens', { totalTokens: 1 }],
]

export class ModelServer {
  /** Calls of agents' main loops that selected a script, in order. */
  readonly calls: ModelCall[] = []
  /** Requests without a shell tool, for example for titles, and requests after the end of a turn, for example for memories. */
  readonly sideCalls: ModelRequest[] = []
  /** Requests to paths that belong to no dialect, for example for a list of models. */
  readonly otherRequests: string[] = []
  readonly #server: Server
  readonly #scripts = new Map<string, readonly ScriptedReply[]>()
  /** The round of each tool call that this server made. */
  readonly #rounds = new Map<string, number>()
  readonly #errors: unknown[] = []
  readonly #listeners = new Set<() => void>()
  #lastCall = 0

  private constructor() {
    this.#server = createServer((request, response) => {
      this.#handle(request, response).catch((error: unknown) => {
        this.#errors.push(error)
        response.destroy()
      })
    })
  }

  static async start(): Promise<ModelServer> {
    const model = new ModelServer()
    await new Promise<void>(resolve => model.#server.listen(0, '127.0.0.1', resolve))
    return model
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}` // a listening TCP server has an AddressInfo
  }

  /** Sets the replies to a message that contains the marker. The reply after the last one says “done”. */
  script(marker: string, ...replies: readonly ScriptedReply[]): void {
    this.#scripts.set(marker, replies)
  }

  /** Returns the result of a tool call as the model received it. */
  toolResult(id: string): string | undefined {
    for (const { messages } of this.calls)
      for (const message of messages) if (message.role === 'result' && message.id === id) return message.text
    return undefined
  }
  /** Returns whether any request of an agent's main loop contains the text. */
  hasRead(text: string): boolean {
    return this.calls.some(({ body }) => body.includes(JSON.stringify(text).slice(1, -1)))
  }
  /** Waits for a call for which the function returns true. Earlier calls count too. */
  async waitForCall(matches: (call: ModelCall) => boolean): Promise<ModelCall> {
    for (;;) {
      const found = this.calls.find(matches)
      if (found) return found
      await new Promise<void>(resolve => this.#listeners.add(resolve))
    }
  }

  /** Closes the server. Rejects if a script could not be followed. */
  async close(): Promise<void> {
    await new Promise<void>(resolve => {
      this.#server.close(() => resolve())
      this.#server.closeAllConnections()
    })
    if (this.#errors.length > 0) throw this.#errors[0]
  }

  async #handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = (request.url ?? '').replace(/\?.*$/, '')
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const dialect = request.method === 'POST' ? dialects.find(dialect => dialect.handles(path)) : undefined
    if (!dialect) return this.#replyToOther(`${request.method} ${path}`, response)
    const body = Buffer.concat(chunks).toString('utf8')
    const parsed: ModelRequest = { ...dialect.read(JSON.parse(body), path), dialect: dialect.name, body }
    const selected = offersShell(parsed.tools) ? this.#select(parsed) : null
    if (!selected) {
      this.sideCalls.push(parsed)
      return this.#reply(dialect, response, parsed, [say('a title')], 0)
    }
    const outcome = new Promise<'sent' | 'aborted'>(resolve =>
      response.once('close', () => resolve(response.writableFinished ? 'sent' : 'aborted')),
    )
    const call: ModelCall = { ...parsed, ...selected, outcome }
    this.calls.push(call)
    for (const resolve of this.#listeners) resolve()
    this.#listeners.clear()
    const scripted = this.#scripts.get(call.marker)?.[call.round] ?? say('done')
    const reply = typeof scripted === 'function' ? scripted(call) : scripted
    await this.#reply(dialect, response, parsed, 'kind' in reply ? [reply] : reply, call.round)
  }

  #replyToOther(request: string, response: ServerResponse): void {
    this.otherRequests.push(request)
    const body = otherReplies.find(([path]) => request.endsWith(path))?.[1]
    sendJson(response, body ?? {}, body ? 200 : 404)
  }

  /** Finds the last marker in the messages, and counts the rounds after it. Agents may merge messages, so one message can contain several markers. */
  #select({ messages }: ModelRequest): { readonly marker: string; readonly round: number } | null {
    for (const [index, message] of [...messages.entries()].reverse()) {
      if (message.role !== 'user') continue
      const found = [...this.#scripts.keys()].filter(marker => message.text.includes(marker))
      const marker = found.sort((a, b) => message.text.lastIndexOf(b) - message.text.lastIndexOf(a))[0]
      if (marker === undefined) continue
      if (isAnswered(messages.slice(index))) return null
      const later = messages.slice(index).flatMap(message => (message.role === 'assistant' ? message.calls : []))
      return { marker, round: Math.max(0, ...later.map(({ id }) => (this.#rounds.get(id) ?? -1) + 1)) }
    }
    return null
  }

  async #reply(
    dialect: Dialect,
    response: ServerResponse,
    request: ModelRequest,
    parts: readonly ReplyPart[],
    round: number,
  ): Promise<void> {
    const [first] = parts
    if (first?.kind === 'refusal') return sendJson(response, dialect.error(first.status, first.message), first.status)
    const closed = new Promise(resolve => response.once('close', resolve))
    const writer = dialect.open(response, request)
    for (const part of parts) {
      if (response.destroyed) return
      if (part.kind === 'wait') await Promise.race([part.until, closed])
      if (part.kind === 'text')
        for (const piece of part.pieces) {
          writer.text(piece)
          await nextTurn()
        }
      if (part.kind === 'call') {
        const id = part.id ?? `call_${++this.#lastCall}`
        this.#rounds.set(id, round)
        writer.call({ id, ...translate(part.tool, request.tools) })
      }
    }
    if (!response.destroyed) writer.end()
  }
}

/** Returns whether a message of the agent itself follows the model's last reply to a message. Then the agent's turn has ended, and this request is for something else. */
function isAnswered(messages: readonly ModelMessage[]): boolean {
  return messages.some(
    (message, index) =>
      message.role === 'assistant' && message.calls.length === 0 && messages[index + 1]?.role === 'user',
  )
}
