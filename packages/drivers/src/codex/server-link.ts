/** Keeps the driver connected to its app-server: connects when the server listens, connects again if only the connection is lost, and reports when the server has ended. */
import { setTimeout as delay } from 'node:timers/promises'
import { messageOf } from '@holdpoint/protocol'
import type { AgentExit } from '../session/agent-connection.ts'
import type { AppServer } from './app-server.ts'
import { codexExit } from './messages.ts'
import { RpcClient, type RpcMessage } from './rpc-client.ts'

export interface ServerLinkOptions {
  /** Finds or starts the server. */
  readonly server: () => AppServer
  /** Prepares a new connection. Messages that arrive during the preparation are handled after it. */
  readonly attach: (rpc: RpcClient) => Promise<void>
  readonly handle: (message: RpcMessage, rpc: RpcClient) => Promise<void>
  /** Called once, when the server has ended or cannot be used. */
  readonly onExit: (exit: Omit<AgentExit, 'type'>) => Promise<void>
}

const retryMs = 25
/** How long to try to connect again to a server that still runs. */
const reconnectMaxMs = 5000

export class ServerLink {
  readonly #options: ServerLinkOptions
  #server: AppServer | null = null
  #rpc: Promise<RpcClient>
  #resolveRpc: (rpc: RpcClient) => void = () => {}
  #rejectRpc: (error: Error) => void = () => {}
  /** The reason why the server must end, or null if it should run. */
  #endReason: string | null = null
  readonly #done: Promise<void>

  constructor(options: ServerLinkOptions) {
    this.#options = options
    this.#rpc = this.#nextRpc()
    this.#done = this.#run()
  }

  get server(): AppServer | null {
    return this.#server
  }
  /** Resolves with the connection as soon as it is prepared. Rejects if the server has ended. */
  get rpc(): Promise<RpcClient> {
    return this.#rpc
  }

  /** Ends the server. Resolves after `onExit`. */
  async end(how: string): Promise<void> {
    this.#endReason ??= how
    await this.#server?.end()
    await this.#done
  }

  async #run(): Promise<void> {
    let problem: string | null = null
    try {
      this.#server = this.#options.server()
      for (let isFirst = true; this.#endReason === null && this.#server.isRunning; isFirst = false)
        await this.#connect(this.#server, isFirst ? Number.POSITIVE_INFINITY : reconnectMaxMs)
    } catch (error) {
      problem = messageOf(error)
    }
    const server = this.#server
    const hasEnded = server !== null && !server.isRunning
    const how = this.#endReason ?? (hasEnded ? server.howItEnded : (problem ?? codexExit.disconnected))
    await server?.end()
    this.#rejectRpc(new Error(how))
    const lastOutput = this.#endReason === null && hasEnded ? server.lastOutput : ''
    await this.#options.onExit({ how, ...(lastOutput === '' ? {} : { lastOutput }) })
  }

  /** Resolves when the connection was lost. */
  async #connect(server: AppServer, maxMs: number): Promise<void> {
    const rpc = await open(server, maxMs)
    if (!rpc) return
    const attached = this.#options.attach(rpc)
    let handled = attached
    rpc.onMessage = message => {
      handled = handled.then(() => this.#options.handle(message, rpc))
      // After an error, nothing more can be written.
      handled.catch(() => rpc.close())
    }
    try {
      await attached
    } catch (error) {
      rpc.close()
      if (server.isRunning || this.#endReason !== null) throw error
      return
    }
    this.#resolveRpc(rpc)
    await rpc.closed
    this.#rpc = this.#nextRpc()
    await handled
  }

  #nextRpc(): Promise<RpcClient> {
    const next = new Promise<RpcClient>((resolve, reject) => {
      this.#resolveRpc = resolve
      this.#rejectRpc = reject
    })
    // Ignore an error here, because there may be no caller that awaits the connection; `onExit` reports it.
    next.catch(() => {})
    return next
  }
}

/** Returns null if the server ends before it can be reached. */
async function open(server: AppServer, maxMs: number): Promise<RpcClient | null> {
  for (let waited = 0; server.isRunning; waited += retryMs) {
    try {
      return await RpcClient.open(server.socket)
    } catch (error) {
      if (waited >= maxMs) throw new Error(codexExit.noReply(messageOf(error)))
      await delay(retryMs)
    }
  }
  return null
}
