/** Runs `holdpoint mcp --http` as a process, and connects clients of the MCP SDK to it. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { pathToFileURL } from 'node:url'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import { ListRootsRequestSchema } from '@modelcontextprotocol/sdk/types.js'
import { type GatewayProcess, holdpoint } from '../../../../test/support/gateway.ts'
import { environmentFor } from './cli-process.ts'
import { connectClient, type McpConnection } from './mcp-client.ts'

export class McpHttpProcess {
  readonly #gateway: GatewayProcess
  readonly #options: readonly string[]
  #child: ChildProcess | null = null
  #port = 0

  constructor(gateway: GatewayProcess, ...options: readonly string[]) {
    this.#gateway = gateway
    this.#options = options
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}/mcp`
  }
  get port(): number {
    return this.#port
  }
  get token(): string {
    return readFileSync(this.#gateway.home.mcpTokenFile, 'utf8').trim()
  }

  /** Starts the server, or restarts it on its previous port. */
  async start(): Promise<void> {
    const child = spawn(
      process.execPath,
      [holdpoint, 'mcp', '--http', '--port', String(this.#port), ...this.#options],
      {
        cwd: this.#gateway.folder,
        env: environmentFor(this.#gateway),
        stdio: ['ignore', 'pipe', 'inherit'],
      },
    )
    this.#child = child
    const [line] = (await once(createInterface(child.stdout), 'line')) as [string] // Node documents this argument of the event
    this.#port = Number(/127\.0\.0\.1:(\d+)/.exec(line)?.[1])
  }

  async end(signal: NodeJS.Signals): Promise<void> {
    const child = this.#child
    if (!child || child.exitCode !== null || child.signalCode !== null) return
    const exited = once(child, 'exit')
    child.kill(signal)
    await exited
  }

  /** Connects a client. A client with a folder names it as its root. */
  connect({
    name = 'tester',
    folder,
    url = this.url,
    fetch,
  }: {
    name?: string
    folder?: string
    url?: string
    fetch?: typeof globalThis.fetch
  } = {}): Promise<McpConnection> {
    const client = new Client({ name, version: '1.0.0' }, { capabilities: folder === undefined ? {} : { roots: {} } })
    if (folder !== undefined)
      client.setRequestHandler(ListRootsRequestSchema, () => ({ roots: [{ uri: pathToFileURL(folder).href }] }))
    const transport = new StreamableHTTPClientTransport(new URL(url), {
      requestInit: { headers: { authorization: `Bearer ${this.token}` } },
      ...(fetch ? { fetch } : {}),
    })
    return connectClient(client, transport as Transport) // its optional fields are declared differently
  }
}

/** A network that can be cut: open connections end, and new ones wait until the network is back. */
export class Network {
  #cutter = new AbortController()
  #back: Promise<void> = Promise.resolve()

  readonly fetch: typeof globalThis.fetch = async (input, init) => {
    await this.#back
    const signals = [this.#cutter.signal, ...(init?.signal ? [init.signal] : [])]
    return fetch(input, { ...init, signal: AbortSignal.any(signals) })
  }

  /** Returns a function that makes the network available again. */
  cut(): () => void {
    let restore = () => {}
    this.#back = new Promise(resolve => {
      restore = resolve
    })
    const cutter = this.#cutter
    this.#cutter = new AbortController()
    cutter.abort(new Error('the network was cut'))
    return restore
  }
}
