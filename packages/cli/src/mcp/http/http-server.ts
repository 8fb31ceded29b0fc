/** `holdpoint mcp --http`: offers the tools to several MCP clients over streamable HTTP, on the loopback addresses of this machine. */
import { once } from 'node:events'
import { realpathSync, statSync } from 'node:fs'
import { Fault, messageOf, systemClock } from '@holdpoint/protocol'
import { listenWithToken } from '@holdpoint/server'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import { openDataFolder } from '../../config/data-folder.ts'
import { throwListenError } from '../../gateway/listen-error.ts'
import type { GatewayAddress } from '../../gateway-client/gateway-client.ts'
import { log } from '../../log.ts'
import { printNotice } from '../../output/notice.ts'
import { abortOnSignal } from '../../signals.ts'
import { connectTo } from '../mcp.ts'
import { McpServer, type McpServerOptions } from '../mcp-server.ts'
import { mcpTexts } from '../texts.ts'
import { HttpTransport } from './http-transport.ts'

const defaultMcpPort = 4748
const path = '/mcp'

export interface McpHttpOptions extends GatewayAddress {
  readonly port?: string
  /** The folder in which all clients work. */
  readonly folder?: string
}

/** Runs until a signal. Requests of clients stay pending, and a client that repeats its call later finds its request again. */
export async function runMcpHttp({ port: given, folder: named, ...address }: McpHttpOptions): Promise<void> {
  const dataFolder = openDataFolder(address.home)
  const port = given === undefined ? defaultMcpPort : parsePort(given)
  const connect = () => connectTo(address)
  const folder = named === undefined ? {} : { folder: existingFolder(named) }
  const options = { dataFolder, connect, cwd: process.cwd(), clock: systemClock, ...folder }
  const serving = await serveMcpClients(port, options)
  const stop = abortOnSignal('SIGTERM', 'SIGINT', 'SIGHUP')
  console.log(mcpTexts.serving(serving.url, dataFolder.mcpTokenFile, folder.folder))
  // Without a gateway, only print a notice, because the server works as soon as a gateway runs.
  connect().catch((error: unknown) => printNotice(messageOf(error)))
  await once(stop, 'abort')
  await serving.close()
}

type ClientOptions = Omit<McpServerOptions, 'transport' | 'remote'>

/** Serves clients that know the token of MCP clients. Returns the URL for them. */
export async function serveMcpClients(
  port: number,
  options: ClientOptions,
): Promise<{ readonly url: string; close(): Promise<void> }> {
  const { mcpToken: token, mcpTokenFile } = options.dataFolder
  const clients = new HttpClients(options)
  // Read the token now, so that its file exists before a client needs the token, and so that a broken file is reported at once.
  token()
  const listening = await listenWithToken({
    port,
    token,
    tokenAdvice: mcpTexts.tokenNeeded(mcpTokenFile),
    headers: ['accept', 'content-type', 'last-event-id', 'mcp-protocol-version', 'mcp-session-id'],
    fetch: request => clients.handle(request),
    log,
  }).catch((error: NodeJS.ErrnoException) => throwListenError(error, port))
  const close = async () => {
    await clients.close()
    await listening.close()
  }
  return { url: `http://127.0.0.1:${listening.port}${path}`, close }
}

function existingFolder(path: string): string {
  if (!statSync(path, { throwIfNoEntry: false })?.isDirectory()) throw new Fault('bad_input', mcpTexts.noFolder(path))
  return realpathSync(path)
}

function parsePort(text: string): number {
  const port = Number(text)
  if (!/^\d{1,5}$/.test(text) || port > 65_535) throw new Fault('bad_input', mcpTexts.badPort(text))
  return port
}

/** A client that sent nothing for this time is forgotten. If it comes back, it has to introduce itself again, and finds its requests. */
const silentMaxMs = 24 * 3600 * 1000
const clientsMax = 200

/** The clients of one server, each with a transport and a server of its own. */
class HttpClients {
  readonly #options: ClientOptions
  readonly #transports = new Map<string, HttpTransport>()

  constructor(options: ClientOptions) {
    this.#options = options
  }

  async handle(request: Request): Promise<Response> {
    if (new URL(request.url).pathname !== path) return errorReply(404, mcpTexts.wrongPath(path))
    const id = request.headers.get('mcp-session-id')
    if (id === null) return this.#introduce(request)
    const transport = this.#transports.get(id)
    // The protocol tells the client to introduce itself again after this status.
    return transport ? transport.handle(request) : errorReply(404, mcpTexts.unknownSession)
  }

  async close(): Promise<void> {
    await Promise.all([...this.#transports.values()].map(transport => transport.close()))
  }

  /** Serves a client that has no id yet. If its message is `initialize`, the client gets an id. */
  async #introduce(request: Request): Promise<Response> {
    this.#forgetSilent()
    if (this.#transports.size >= clientsMax) return errorReply(503, mcpTexts.tooManyClients)
    const transport = new HttpTransport(this.#options.clock)
    const serving = this.#serve(transport)
    const response = await transport.handle(request)
    const { sessionId } = transport
    if (sessionId === undefined) await transport.close()
    else {
      this.#transports.set(sessionId, transport)
      void serving.then(() => this.#transports.delete(sessionId))
    }
    return response
  }

  async #serve(transport: HttpTransport): Promise<void> {
    try {
      const server = new McpServer({ ...this.#options, transport: transport as Transport, remote: transport }) // its optional fields are declared differently
      await server.serve()
    } catch (error) {
      log({ event: 'mcp.error', message: messageOf(error) })
    }
  }

  /** Forgets clients that have left, and the one that is silent for the longest time if there are too many. */
  #forgetSilent(): void {
    const bySilence = [...this.#transports].sort(([, a], [, b]) => b.silentMs - a.silentMs)
    for (const [id, transport] of bySilence) {
      const isFull = this.#transports.size >= clientsMax
      if (transport.isConnected || (transport.silentMs <= silentMaxMs && !isFull)) return
      this.#transports.delete(id)
      void transport.close()
    }
  }
}

/** The reply to a request that reaches no client's transport. MCP clients show the text of an error in this form. */
function errorReply(status: number, message: string): Response {
  return Response.json({ jsonrpc: '2.0', error: { code: -32000, message }, id: null }, { status })
}
