/** The MCP server of `holdpoint mcp`. Serves one client, over any transport. */
import { realpathSync } from 'node:fs'
import { basename } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Call, type Clock, type JsonObject, messageOf, type VariableValue } from '@holdpoint/protocol'
import { Server } from '@modelcontextprotocol/sdk/server/index.js'
import type { RequestHandlerExtra } from '@modelcontextprotocol/sdk/shared/protocol.js'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import {
  CallToolRequestSchema,
  type CallToolResult,
  CancelTaskRequestSchema,
  ErrorCode,
  GetTaskPayloadRequestSchema,
  GetTaskRequestSchema,
  ListRootsResultSchema,
  ListToolsRequestSchema,
  McpError,
  RELATED_TASK_META_KEY,
  type RequestId,
  type ServerNotification,
  type ServerRequest,
} from '@modelcontextprotocol/sdk/types.js'
import type { DataFolder } from '../config/data-folder.ts'
import { ownSession } from '../hooks/own-session.ts'
import { version } from '../version.ts'
import { CallRecords, hashOf } from './call-records.ts'
import { ClientAway, ClientSession, type WaitingClient } from './client-session.ts'
import { isTimeLimit, keepReporting } from './progress.ts'
import { callSetVariable, setVariableTool } from './set-variable.ts'
import { Tasks } from './tasks.ts'
import { mcpTexts } from './texts.ts'
import { BadCall, prepareCall, toolList } from './tools.ts'

/** A client that may lose its connection and come back, as clients over HTTP do. */
export interface RemoteClient {
  /** Returns whether the client is connected, or was until a moment ago. */
  isPresent(): boolean
  /** Resolves when the reply to this message of the client can be written to a connection. */
  whenReachable(id: RequestId): Promise<void>
}

export interface McpServerOptions {
  readonly transport: Transport
  readonly dataFolder: DataFolder
  /** Finds the gateway. Throws an error with a sentence for people if there is none. */
  readonly connect: () => Promise<Call>
  /** The folder of this process. It is also the folder of a client that has started this process. */
  readonly cwd: string
  /** The folder of the clients over HTTP, without links, if the person who started this process has named one. */
  readonly folder?: string
  readonly clock: Clock
  /** Null for a client that has started this process. */
  readonly remote: RemoteClient | null
}

type Extra = RequestHandlerExtra<ServerRequest, ServerNotification>

/** What is known about the client after its first call. */
interface KnownClient {
  readonly session: ClientSession
  readonly tasks: Tasks
  readonly cwd: string
}

/** The longest time to wait until a client names its folder. */
const rootsTimeoutMs = 5000

/** Serves one client until its connection ends. */
export class McpServer {
  readonly #options: McpServerOptions
  readonly #server = new Server(
    { name: 'holdpoint', version },
    {
      capabilities: { tools: {}, tasks: { cancel: {}, requests: { tools: { call: {} } } } },
      instructions: mcpTexts.instructions,
    },
  )
  readonly #closed = new AbortController()
  /** What to report after the reply with this id was written to the client. */
  readonly #onWritten = new Map<RequestId, () => void>()
  #client: Promise<KnownClient> | null = null

  constructor(options: McpServerOptions) {
    this.#options = options
    this.#server.setRequestHandler(ListToolsRequestSchema, () => toolList)
    this.#server.setRequestHandler(CallToolRequestSchema, async ({ params }, extra) => {
      const input = (params.arguments ?? {}) as JsonObject // the SDK has parsed it from JSON
      if (params.task) return { task: await this.#withTasks(extra, tasks => tasks.create(params.name, input)) }
      return this.#reporting(extra, () => this.#call(params.name, input, extra))
    })
    this.#server.setRequestHandler(GetTaskRequestSchema, ({ params }, extra) =>
      this.#withTasks(extra, tasks => tasks.get(params.taskId)),
    )
    this.#server.setRequestHandler(CancelTaskRequestSchema, ({ params }, extra) =>
      this.#withTasks(extra, tasks => tasks.cancel(params.taskId)),
    )
    this.#server.setRequestHandler(GetTaskPayloadRequestSchema, ({ params }, extra) =>
      this.#reporting(extra, () => this.#withTasks(extra, tasks => this.#taskResult(tasks, params.taskId, extra))),
    )
  }

  /** Serves the client. Resolves when the connection has ended. */
  async serve(): Promise<void> {
    const { transport } = this.#options
    const closed = new Promise<void>(resolve => {
      transport.onclose = () => {
        this.#closed.abort()
        resolve()
      }
    })
    const send = transport.send.bind(transport)
    transport.send = async (message, options) => {
      await send(message, options)
      if ('id' in message && !('method' in message) && message.id !== undefined) this.#onWritten.get(message.id)?.()
    }
    await this.#server.connect(transport)
    await closed
    // Without a session, there is nothing to close. The calls have reported why it could not be opened.
    const client = await this.#client?.catch(() => null)
    client?.session.close()
  }

  async #reporting<T>({ _meta, sendNotification }: Extra, run: () => Promise<T>): Promise<T> {
    const stopReporting = keepReporting(_meta?.progressToken, sendNotification, this.#options.clock)
    try {
      return await run()
    } finally {
      stopReporting()
    }
  }

  /** The SDK aborts one signal for both: the client cancels the call, or the connection ends. */
  #waitingClient({ signal, requestId }: Extra): WaitingClient {
    const cancelled = new AbortController()
    const away = new AbortController()
    const onAbort = () => {
      const isAway = this.#closed.signal.aborted || isTimeLimit(signal.reason)
      ;(isAway ? away : cancelled).abort()
    }
    if (signal.aborted) onAbort()
    signal.addEventListener('abort', onAbort, { once: true })
    return { cancelled: cancelled.signal, away: away.signal, whenReachable: () => this.#whenReachable(requestId) }
  }
  async #whenReachable(id: RequestId): Promise<void> {
    await this.#options.remote?.whenReachable(id)
  }

  /** Watchers run in the session of the agent, so the variable of that session counts. A client whose agent is not known has variables of its own. */
  async #setVariable(name: string, value: VariableValue, extra: Extra): Promise<VariableValue> {
    const { connect, dataFolder, remote } = this.#options
    const call = remote ? null : await connect()
    const own = call && (await ownSession(call, dataFolder))
    if (call && own) return (await call('setAgentVariable', { id: own, name, value })).value
    const session = await (await this.#knownClient(extra)).session.connected()
    return session.setVariable(name, value)
  }

  async #call(name: string, input: JsonObject, extra: Extra): Promise<CallToolResult> {
    if (name === setVariableTool.name)
      return callSetVariable(input, (variable, value) => this.#setVariable(variable, value, extra))
    const client = this.#waitingClient(extra)
    try {
      const { session, cwd } = await this.#knownClient(extra)
      const prepared = prepareCall(name, input, cwd)
      const call = hashOf([name, input])
      const answered = await session.ask(call, prepared.ask, client)
      if (client.cancelled.aborted || client.away.aborted) {
        await answered.handed.dropped()
        throw new ClientAway()
      }
      this.#afterWriting(extra.requestId, () => session.delivered(call, answered))
      return { content: [{ type: 'text', text: prepared.reply(answered) }] }
    } catch (error) {
      if (error instanceof ClientAway) throw error
      return failed(error instanceof BadCall ? error.message : mcpTexts.notAsked(messageOf(error)))
    }
  }

  async #taskResult(tasks: Tasks, id: string, { signal, requestId }: Extra) {
    // Only `tasks/cancel` withdraws the request of a task.
    const cancelled = new AbortController().signal
    const client = { cancelled, away: signal, whenReachable: () => this.#whenReachable(requestId) }
    const { result, delivered } = await tasks.result(id, client)
    if (delivered) this.#afterWriting(requestId, delivered)
    return { ...result, _meta: { [RELATED_TASK_META_KEY]: { taskId: id } } }
  }

  /** A call that asks for a task, and what the client asks about tasks, gets an error if it fails, and not a result that describes the error. */
  async #withTasks<T>(extra: Extra, run: (tasks: Tasks) => Promise<T>): Promise<T> {
    try {
      return await run((await this.#knownClient(extra)).tasks)
    } catch (error) {
      if (error instanceof McpError || error instanceof ClientAway) throw error
      if (error instanceof BadCall) throw new McpError(ErrorCode.InvalidParams, error.message)
      throw new McpError(ErrorCode.InternalError, mcpTexts.notAsked(messageOf(error)))
    }
  }

  #afterWriting(id: RequestId, delivered: () => Promise<void>): void {
    this.#onWritten.set(id, () => {
      this.#onWritten.delete(id)
      // If the gateway is away now, the answer counts as unknown, and an identical call asks again.
      void delivered().catch(() => {})
    })
  }

  #knownClient(extra: Extra): Promise<KnownClient> {
    this.#client ??= this.#findClient(extra)
    return this.#client
  }
  async #findClient(extra: Extra): Promise<KnownClient> {
    const { dataFolder, connect, clock, remote } = this.#options
    const { cwd, isClaimed } = await this.#findFolder(extra)
    const { name = 'MCP client', title = name } = this.#server.getClientVersion() ?? {}
    // A client must not continue the session of one whose folder is certain.
    const records = new CallRecords(dataFolder, isClaimed ? 'mcp-claimed' : 'mcp', name, cwd)
    const isPresent = () => remote?.isPresent() ?? true
    const session = new ClientSession({
      connect,
      records,
      cwd,
      isFolderClaimed: isClaimed,
      clock,
      title: mcpTexts.title(title, basename(cwd)),
      isPresent,
    })
    return { session, tasks: new Tasks({ session, records, connect, cwd, clock }), cwd }
  }

  /** Returns the folder that the client works in, and whether only the client says so. Any program with the token can name any folder. */
  async #findFolder(extra: Extra): Promise<{ readonly cwd: string; readonly isClaimed: boolean }> {
    const { cwd, folder, remote } = this.#options
    if (!remote) return { cwd, isClaimed: false }
    const named = await this.#namedFolder(extra)
    if (named !== null && realFolder(named) !== folder) return { cwd: named, isClaimed: true }
    return { cwd: folder ?? cwd, isClaimed: folder === undefined }
  }

  /** Returns the first of the roots of a client over HTTP, or null if it has none. */
  async #namedFolder({ sendRequest }: Extra): Promise<string | null> {
    if (!this.#server.getClientCapabilities()?.roots) return null
    try {
      const { roots } = await sendRequest({ method: 'roots/list' }, ListRootsResultSchema, { timeout: rootsTimeoutMs })
      return roots[0] ? fileURLToPath(roots[0].uri) : null
    } catch {
      return null
    }
  }
}

function realFolder(folder: string): string {
  try {
    return realpathSync(folder)
  } catch {
    return folder
  }
}

function failed(text: string): CallToolResult {
  return { content: [{ type: 'text', text }], isError: true }
}
