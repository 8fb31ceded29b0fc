/** The conversations on one app-server that belong to a session: its own, and those of the subagents that it starts. */
import { z } from 'zod'
import type { RpcClient } from './rpc-client.ts'

const ThreadInfo = z.object({
  thread: z.object({
    parentThreadId: z.string().nullish(),
    agentNickname: z.string().nullish(),
    agentRole: z.string().nullish(),
  }),
})
const LoadedThreads = z.object({ data: z.array(z.string()) })

export class Threads {
  main = ''
  /** The names of the subagents down to each conversation; null for a conversation that belongs to somebody else, such as a terminal. */
  readonly #paths = new Map<string, readonly string[] | null>()
  /** The running turns, by conversation. */
  readonly #turns = new Map<string, string>()

  setMain(id: string): void {
    this.main = id
    this.#paths.set(id, [])
  }

  /** Returns the names of the subagents down to the one with this conversation, or null if the conversation does not belong to the session. */
  async pathOf(id: string, rpc: RpcClient): Promise<readonly string[] | null> {
    const known = this.#paths.get(id)
    if (known !== undefined) return known
    const path = await this.#findPath(id, rpc).catch(() => null)
    // A conversation that Codex does not let this driver read belongs to somebody else. If the connection was lost instead, Codex is asked again on the next connection.
    if (path !== null || rpc.isOpen) this.#paths.set(id, path)
    return path
  }

  async #findPath(id: string, rpc: RpcClient): Promise<readonly string[] | null> {
    const { thread } = await rpc.request('thread/read', { threadId: id, includeTurns: false }, ThreadInfo)
    const parent = thread.parentThreadId ? await this.pathOf(thread.parentThreadId, rpc) : null
    return parent && [...parent, thread.agentNickname ?? thread.agentRole ?? 'agent']
  }

  /** Returns the conversations of subagents that the server has loaded. */
  async subagents(rpc: RpcClient): Promise<readonly string[]> {
    const { data } = await rpc.request('thread/loaded/list', {}, LoadedThreads)
    const paths = await Promise.all(data.map(id => this.pathOf(id, rpc)))
    return data.filter((id, index) => id !== this.main && paths[index])
  }

  startTurn(thread: string, turn: string): void {
    this.#turns.set(thread, turn)
  }
  endTurn(thread: string): void {
    this.#turns.delete(thread)
  }
  turnOf(thread: string): string | undefined {
    return this.#turns.get(thread)
  }
  get turns(): readonly { readonly threadId: string; readonly turnId: string }[] {
    return [...this.#turns].map(([threadId, turnId]) => ({ threadId, turnId }))
  }
  /** Returns how many subagents are working. */
  get busySubagents(): number {
    return [...this.#turns.keys()].filter(thread => thread !== this.main).length
  }
}
