/** The tree of subagents. Finds a subagent's path by the call that started the subagent, or by the CLI's id of the subagent. */
import { type JsonObject, limits } from '@holdpoint/protocol'

export class SubagentTree {
  readonly #calls = new Map<string, { readonly parentCall: string | null; readonly name: string }>()
  readonly #callByTask = new Map<string, string>()

  /** Records the subagent that a call starts. Ignores calls that start no subagent. */
  addCall(id: string, parentCall: string | null, name: string | null): void {
    if (name !== null) this.#calls.set(id, { parentCall, name })
  }
  addTask(task: string, call: string | undefined): void {
    if (call !== undefined) this.#callByTask.set(task, call)
  }

  /** Returns the names of the subagent that this call started and of the subagents above it, outermost first. */
  pathOfCall(call: string | null): readonly string[] {
    const path: string[] = []
    for (let id = call; id !== null && path.length < limits.agentPathMax; ) {
      const found = this.#calls.get(id)
      path.unshift(found?.name ?? 'agent')
      id = found?.parentCall ?? null
    }
    return path
  }
  pathOfAgent(id: string | undefined): readonly string[] {
    return id === undefined ? [] : this.pathOfCall(this.#callByTask.get(id) ?? id)
  }
}

/** Returns the name of the subagent that a call starts, or null if the call starts none. */
export function subagentName(tool: string, { description, subagent_type: type }: JsonObject): string | null {
  if (tool !== 'Agent' && tool !== 'Task') return null
  const name = [description, type].find(part => typeof part === 'string' && part !== '')
  return typeof name === 'string' ? name.slice(0, limits.nameMax).toWellFormed() : 'agent'
}
