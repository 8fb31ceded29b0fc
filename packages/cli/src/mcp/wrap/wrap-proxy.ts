/**
 * Stands between an MCP client and an MCP server. Every message passes through unchanged, except the calls of tools: each
 * becomes an approval, and an allowed call is sent once. Before a call is sent, a file records it as sent, so that no crash
 * can make the call run a second time.
 */
import { randomUUID } from 'node:crypto'
import { basename } from 'node:path'
import type { HandedAnswer } from '@holdpoint/drivers'
import {
  type ApprovalAsk,
  actionProblem,
  type Call,
  type Clock,
  defaultDenyReason,
  type JsonObject,
  limits,
  messageOf,
  pause,
  truncateTitle,
} from '@holdpoint/protocol'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import type { JSONRPCMessage, JSONRPCRequest, RequestId } from '@modelcontextprotocol/sdk/types.js'
import { z } from 'zod'
import type { DataFolder } from '../../config/data-folder.ts'
import { CallRecords, hashOf } from '../call-records.ts'
import { ClientAway, ClientSession } from '../client-session.ts'
import { isTimeLimit, keepReporting, type ProgressNotification } from '../progress.ts'
import { mcpTexts } from '../texts.ts'
import { type CallReply, SharedCall } from './shared-call.ts'
import { ToolAnnotations } from './tool-annotations.ts'
import type { ServerTransport } from './url-server.ts'

export interface WrapProxyOptions {
  readonly client: Transport
  readonly server: ServerTransport
  /** The name of the server, shown to people and used by rules. */
  readonly name: string
  readonly allowReadOnly: boolean
  readonly dataFolder: DataFolder
  /** Finds the gateway. Throws an error with a sentence for people if there is none. */
  readonly connect: () => Promise<Call>
  readonly cwd: string
  readonly clock: Clock
}

/** How long to wait for results of calls that were sent, after the client has gone. The client may repeat the calls later. */
const lastResultsMaxMs = 3000
/** A result that did not reach the client is given to an identical call within this time. After that, such a call counts as a new call. */
const replayMaxMs = 3600 * 1000

/** Other fields are left out, because people do not see them: the server must get nothing that nobody has read. */
const ToolParametersSchema = z.object({
  name: z.string().min(1),
  arguments: z.record(z.string(), z.unknown()).optional(),
  task: z.object({ ttl: z.number().optional() }).optional(),
  _meta: z.object({ progressToken: z.union([z.string(), z.number()]).optional() }).optional(),
})
interface ToolParameters {
  readonly name: string
  readonly arguments?: JsonObject
  readonly _meta?: { readonly progressToken?: string | number }
}

export class WrapProxy {
  readonly #options: WrapProxyOptions
  readonly #annotations = new ToolAnnotations()
  readonly #calls = new Map<string, { readonly shared: SharedCall; readonly result: Promise<CallReply> }>()
  /** The calls that the client waits for, by the id of its message. */
  readonly #waiting = new Map<RequestId, SharedCall>()
  /** The calls that were sent to the server, by the id under which they were sent. */
  readonly #sent = new Map<RequestId, (reply: JsonObject | null) => void>()
  readonly #replies = new Set<Promise<void>>()
  #clientName = 'MCP client'
  #isClientGone = false
  #session: { readonly session: ClientSession; readonly records: CallRecords } | null = null

  constructor(options: WrapProxyOptions) {
    this.#options = options
  }

  /** Serves the client until it or the server ends, and returns which of them did. */
  async run(): Promise<'client' | 'server'> {
    const { client, server } = this.#options
    const ended = new Promise<'client' | 'server'>(resolve => {
      client.onclose = () => {
        this.#isClientGone = true
        resolve('client')
      }
      server.onclose = () => resolve('server')
    })
    client.onmessage = message => this.#fromClient(message)
    server.onmessage = message => this.#fromServer(message)
    server.onlost = id => this.#onLost(id)
    await server.start()
    await client.start()
    const side = await ended
    for (const shared of this.#waiting.values()) if (shared.sentAs === null) shared.leave()
    if (side === 'client') await this.#waitForResults()
    for (const finish of this.#sent.values()) finish(null)
    await Promise.allSettled(this.#replies)
    this.#session?.session.close()
    if (side === 'client') await server.close()
    return side
  }

  async #waitForResults(): Promise<void> {
    const results = [...this.#calls.values()].filter(({ shared }) => shared.sentAs !== null).map(({ result }) => result)
    await Promise.race([Promise.allSettled(results), pause(this.#options.clock, lastResultsMaxMs)])
  }

  #fromClient(message: JSONRPCMessage): void {
    if ('method' in message) {
      const params = Object(message.params)
      if (message.method === 'tools/call') {
        if ('id' in message) this.#handleCall(message)
        // A call without an id gets no reply, and nobody could be told what became of it.
        return
      }
      if ('id' in message) this.#annotations.noteRequest(message)
      if (message.method === 'initialize') this.#clientName = params.clientInfo?.name ?? this.#clientName
      if (message.method === 'notifications/cancelled' && this.#cancel(params.requestId, params.reason)) return
    }
    this.#forward(message)
  }

  #fromServer(message: JSONRPCMessage): void {
    const { client, server } = this.#options
    if (!('method' in message) && message.id !== undefined) {
      const { jsonrpc: _, id, ...reply } = message
      const finish = this.#sent.get(id)
      if (finish) {
        finish(reply as JsonObject) // the SDK has parsed it from JSON
        return
      }
      if ('result' in message) {
        this.#annotations.noteReply(id, message.result)
        // Later calls over HTTP must name the version that client and server have agreed on.
        if (typeof message.result.protocolVersion === 'string')
          server.setProtocolVersion?.(message.result.protocolVersion)
      }
    }
    void client.send(message).catch(() => {}) // the end of the connection ends this process
  }

  /** Passes a message of the client on. If the server cannot be reached, the client gets an error. */
  #forward(message: JSONRPCMessage): void {
    const { client, server, name } = this.#options
    server.send(message).catch((error: unknown) => {
      if (!('method' in message && 'id' in message)) return
      const problem = { code: -32603, message: mcpTexts.notForwarded(name, messageOf(error)) }
      void client.send({ jsonrpc: '2.0', id: message.id, error: problem }).catch(() => {}) // as above
    })
  }

  /** The reply to this message cannot come anymore. A call that was sent may have run. */
  #onLost(id: RequestId): void {
    const { client, name } = this.#options
    const finish = this.#sent.get(id)
    if (finish) {
      finish(null)
      return
    }
    const problem = { code: -32603, message: mcpTexts.noReply(name) }
    void client.send({ jsonrpc: '2.0', id, error: problem }).catch(() => {}) // as above
  }

  #handleCall(message: JSONRPCRequest): void {
    const reply = this.#reply(message).catch(async (error: unknown) => {
      if (error instanceof ClientAway) return
      const problem = { code: -32602, message: mcpTexts.badArguments(messageOf(error)) }
      await this.#options.client.send({ jsonrpc: '2.0', id: message.id, error: problem })
    })
    this.#replies.add(reply)
    void reply.finally(() => this.#replies.delete(reply))
  }

  /** Answers one message of the client with the reply to its call. An identical call that is open gets the same reply. */
  async #reply({ id, params }: JSONRPCRequest): Promise<void> {
    const { client, clock } = this.#options
    const parameters = ToolParametersSchema.parse(params) as ToolParameters // the SDK has parsed the arguments from JSON
    const name = hashOf([parameters.name, parameters.arguments ?? {}])
    const call = this.#calls.get(name) ?? this.#start(name, parameters)
    const { shared, result } = call
    shared.add(id)
    this.#waiting.set(id, shared)
    const notify = async (notification: ProgressNotification) => {
      // The server may report its own progress while the call runs.
      if (shared.sentAs === null) await client.send({ jsonrpc: '2.0', ...notification })
    }
    const stopReporting = keepReporting(parameters._meta?.progressToken, notify, clock)
    try {
      const { reply, onWritten } = await result
      // A client that has canceled the call expects no reply, and a client that is gone may ask for the reply again.
      if (!shared.has(id) || this.#isClientGone) return
      await client.send({ jsonrpc: '2.0', id, ...reply } as JSONRPCMessage) // the reply has a result or an error
      onWritten?.()
    } finally {
      stopReporting()
      this.#waiting.delete(id)
    }
  }

  #start(name: string, parameters: ToolParameters) {
    const shared = new SharedCall(name)
    const result = this.#run(shared, parameters).catch((error: unknown): CallReply => {
      if (error instanceof ClientAway) throw error
      return { reply: failed(mcpTexts.callNotAsked(messageOf(error))) }
    })
    const call = { shared, result }
    this.#calls.set(name, call)
    const forget = () => this.#forget(shared)
    result.then(forget, forget)
    return call
  }
  #forget(shared: SharedCall): void {
    if (this.#calls.get(shared.name)?.shared === shared) this.#calls.delete(shared.name)
  }

  /** Stops waiting for a call. Returns false if the message is not about a call that waits here. */
  #cancel(id: RequestId | undefined, reason: unknown): boolean {
    const shared = id === undefined ? undefined : this.#waiting.get(id)
    if (id === undefined || !shared) return false
    const isLast = shared.remove(id)
    const isLimit = isTimeLimit(reason)
    // The call that was sent continues, because the client gets its result by repeating the call.
    if (!isLast || (shared.sentAs !== null && isLimit)) return true
    this.#forget(shared)
    if (shared.sentAs !== null) this.#cancelSent(shared, reason)
    else if (isLimit) shared.leave()
    else shared.cancel()
    return true
  }

  /** Tells the server that the client no longer wants a call that is running. The next identical call asks a person again. */
  #cancelSent({ name, sentAs }: SharedCall, reason: unknown): void {
    const { records } = this.#connection()
    const record = records.find(name)
    if (record) records.remove(name, record.key)
    const params = { requestId: sentAs ?? '', ...(typeof reason === 'string' ? { reason } : {}) }
    this.#forward({ jsonrpc: '2.0', method: 'notifications/cancelled', params })
  }

  /** Asks a person, and sends the call to the server if the call is allowed. */
  async #run(shared: SharedCall, parameters: ToolParameters): Promise<CallReply> {
    const { name: server } = this.#options
    const { session, records } = this.#connection()
    const record = records.find(shared.name)
    const onReplayed = () => record && records.remove(shared.name, record.key)
    // An earlier process has sent this call, and that process or the server ended before the reply came.
    if (record?.state === 'sent') return { reply: failed(mcpTexts.unknownOutcome(server)), onWritten: onReplayed }
    if (record?.state === 'finished') {
      if (this.#options.clock.now() - record.at < replayMaxMs) return { reply: record.reply, onWritten: onReplayed }
      onReplayed()
    }
    const ask = this.#askFor(parameters)
    if (this.#options.allowReadOnly && this.#annotations.isReadOnly(parameters.name)) {
      const checked = await this.#runReadOnly(ask, parameters, shared)
      if (checked) return checked
    }
    const answered = await session.ask(shared.name, ask, shared)
    const { handed, key, session: agent } = answered
    const onWritten = () => void session.delivered(shared.name, answered).catch(() => {}) // the gateway is away, and the answer counts as unknown
    if (handed.kind !== 'answer' || handed.answer.kind !== 'allow' || !handed.input)
      return { reply: failed(refusalText(handed)), onWritten }
    if (shared.cancelled.aborted || shared.away.aborted) {
      records.remove(shared.name, key)
      await handed.dropped()
      throw new ClientAway()
    }
    const block = handed.request.id
    records.put(shared.name, { key, state: 'sent' })
    agent.sayQuietly({ type: 'tool.started', block, tool: ask.tool, input: handed.input })
    const sent = this.#send({ ...parameters, arguments: handed.input }, shared)
    void handed.taken().catch(() => {}) // as above
    const reply = withNote((await sent) ?? failed(mcpTexts.unknownOutcome(server)), handed.answer.note)
    if (!shared.cancelled.aborted && this.#calls.get(shared.name)?.shared === shared)
      records.put(shared.name, { key, state: 'finished', reply, at: this.#options.clock.now() })
    agent.sayQuietly({ type: 'tool.finished', block, ok: isSuccess(reply), output: outputOf(reply) })
    return { reply, onWritten }
  }

  /** Runs a read-only tool without a question, unless a rule denies the call. Returns null if a rule says that a person must be asked. */
  async #runReadOnly(ask: ApprovalAsk, parameters: ToolParameters, shared: SharedCall): Promise<CallReply | null> {
    const agent = await this.#connection().session.connected()
    const { tool, input, cwd, action } = ask
    const call = { key: randomUUID(), tool, input, cwd, action, agentPath: [] }
    const { verdict, rule, watcher, reason } = await agent.check(call)
    if (verdict === 'deny') return { reply: failed(mcpTexts.deniedByRule(reason)) }
    if (verdict === 'ask' && (rule !== undefined || watcher !== undefined)) return null
    return { reply: (await this.#send(parameters, shared)) ?? failed(mcpTexts.unknownOutcome(this.#options.name)) }
  }

  /** Sends a call to the server. Resolves with its reply, or with null if the connection ended first. */
  #send(params: ToolParameters, shared: SharedCall): Promise<JsonObject | null> {
    const id = `holdpoint-${randomUUID()}`
    shared.sentAs = id
    return new Promise(resolve => {
      const finish = (reply: JsonObject | null) => {
        this.#sent.delete(id)
        resolve(reply)
      }
      this.#sent.set(id, finish)
      const message = { jsonrpc: '2.0', id, method: 'tools/call', params } as unknown as JSONRPCMessage // `params` came from such a message
      this.#options.server.send(message).catch(() => finish(null))
    })
  }

  #askFor({ name, arguments: input = {} }: ToolParameters): ApprovalAsk {
    const { name: server, cwd } = this.#options
    const tool = `mcp__${server}__${name}`
    const action = { mcp: server, tool: name }
    const isShown = actionProblem({ tool, input, cwd, action }) === null
    const title = truncateTitle(mcpTexts.callTitle(server, name))
    return { kind: 'approval', tool, input, ...(isShown ? { action } : {}), title, cwd, editable: true }
  }

  #connection() {
    if (this.#session) return this.#session
    const { dataFolder, connect, cwd, clock, name } = this.#options
    const records = new CallRecords(dataFolder, 'wrap', this.#clientName, name, cwd)
    const title = mcpTexts.wrapTitle(this.#clientName, name, basename(cwd))
    this.#session = {
      records,
      session: new ClientSession({
        connect,
        records,
        cwd,
        isFolderClaimed: false,
        clock,
        title,
        isPresent: () => true,
      }),
    }
    return this.#session
  }
}

function failed(text: string): JsonObject {
  return { result: { content: [{ type: 'text', text }], isError: true } }
}

function refusalText(handed: HandedAnswer): string {
  if (handed.kind === 'nobody') return mcpTexts.nobodyAllowed
  if (handed.kind !== 'answer') return mcpTexts.withdrawn
  const { answer } = handed
  return mcpTexts.denied((answer.kind === 'deny' && answer.reason) || defaultDenyReason)
}

/** If the person wrote a note with the allow, adds the note to the result. */
function withNote(reply: JsonObject, note: string | undefined): JsonObject {
  const result = reply.result as JsonObject | undefined // a reply of the server has an object or an error
  if (note === undefined || !Array.isArray(result?.content)) return reply
  return { ...reply, result: { ...result, content: [...result.content, { type: 'text', text: mcpTexts.note(note) }] } }
}

function isSuccess({ result }: JsonObject): boolean {
  return result !== undefined && Object(result).isError !== true
}

/** Returns the texts of a result, or the whole reply if it has none. */
function outputOf(reply: JsonObject): string {
  const { content } = Object(reply.result) as { readonly content?: unknown } // checked below
  const texts = Array.isArray(content)
    ? content.map(item => Object(item).text).filter(text => typeof text === 'string')
    : []
  return (texts.length > 0 ? texts.join('\n') : JSON.stringify(reply)).slice(0, outputMax).toWellFormed()
}
/** A character has at most three bytes in UTF-8 for each unit of its length. */
const outputMax = Math.floor(limits.blockMaxBytes / 3)
