/** Who works for whom: agents under the agent, found by the call that started them or by the id that the CLI gave them. */
import { type JsonObject, limits } from '@holdpoint/protocol'

export class SubagentTree {
  readonly #calls = new Map<string, { readonly under: string | null; readonly name: string }>()
  readonly #tasks = new Map<string, string>()

  /** A call that starts an agent; any other is of no interest. */
  addCall(id: string, under: string | null, name: string | null): void {
    if (name !== null) this.#calls.set(id, { under, name })
  }
  addTask(task: string, call: string | undefined): void {
    if (call !== undefined) this.#tasks.set(task, call)
  }

  /** The names from the main agent down to the one that this call started. */
  pathUnder(call: string | null): readonly string[] {
    const path: string[] = []
    for (let at = call; at !== null && path.length < limits.agentPathMax; ) {
      const found = this.#calls.get(at)
      path.unshift(found?.name ?? 'agent')
      at = found?.under ?? null
    }
    return path
  }
  pathOf(task: string | undefined): readonly string[] {
    return task === undefined ? [] : this.pathUnder(this.#tasks.get(task) ?? task)
  }
}

/** How the agent that a call starts is called; null where it starts none. */
export function agentName(tool: string, { description, subagent_type: type }: JsonObject): string | null {
  if (tool !== 'Agent' && tool !== 'Task') return null
  const name = [description, type].find(part => typeof part === 'string' && part !== '')
  return typeof name === 'string' ? name.slice(0, limits.nameMax) : 'agent'
}
