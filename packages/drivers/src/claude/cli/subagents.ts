/** The tree of subagents: finds an agent's path by the call that started it, or by the id that the CLI gave it. */
import { type JsonObject, limits } from '@holdpoint/protocol'

export class SubagentTree {
  readonly #calls = new Map<string, { readonly parentCall: string | null; readonly name: string }>()
  readonly #callByTask = new Map<string, string>()

  /** Ignores calls that start no subagent, which have no name. */
  addCall(id: string, parentCall: string | null, name: string | null): void {
    if (name !== null) this.#calls.set(id, { parentCall, name })
  }
  addTask(task: string, call: string | undefined): void {
    if (call !== undefined) this.#callByTask.set(task, call)
  }

  /** The names from the main agent's first subagent down to the one that this call started. */
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

/** The name of the subagent that a call starts; null if it starts none. */
export function subagentName(tool: string, { description, subagent_type: type }: JsonObject): string | null {
  if (tool !== 'Agent' && tool !== 'Task') return null
  const name = [description, type].find(part => typeof part === 'string' && part !== '')
  return typeof name === 'string' ? name.slice(0, limits.nameMax) : 'agent'
}
