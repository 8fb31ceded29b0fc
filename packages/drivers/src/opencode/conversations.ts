/** The conversations of one session: the main one, and those of the subagents that it started. */
import { limits } from '@holdpoint/protocol'
import { OpencodeRefusal } from './server.ts'
import type { SessionInfo } from './wire.ts'

export class SessionTree {
  readonly main: string
  readonly #find: (id: string) => Promise<SessionInfo>
  readonly #paths = new Map<string, readonly string[] | null>()

  /** `find` asks opencode about a conversation. */
  constructor(main: string, find: (id: string) => Promise<SessionInfo>) {
    this.main = main
    this.#find = find
    this.#paths.set(main, [])
  }

  /** Returns the names of the subagents down to this conversation, or null if the conversation does not belong to the session. */
  async pathOf(id: string): Promise<readonly string[] | null> {
    const known = this.#paths.get(id)
    if (known !== undefined) return known
    const found = await this.#find(id).catch(ignoreUnknown)
    const parent = found?.parentID === undefined ? null : await this.pathOf(found.parentID)
    const name = (found?.title || found?.agent || 'subagent').slice(0, limits.nameMax).toWellFormed()
    const path = parent === null ? null : [...parent, name].slice(-limits.agentPathMax)
    this.#paths.set(id, path)
    return path
  }
}

/** A conversation that opencode does not know, for example because it was deleted, counts as one of somebody else. Any other error ends the connection: a subagent whose permissions nobody sees would wait forever. */
function ignoreUnknown(error: unknown): null {
  if (error instanceof OpencodeRefusal) return null
  throw error
}
