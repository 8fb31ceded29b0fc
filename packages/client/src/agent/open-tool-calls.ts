/** The tool calls of a session that are in the log and have not finished, so that the end of their turn can finish them. */
import type { AgentEvent, Event } from '@holdpoint/protocol'

/** The output of a tool call that its agent never finished. */
const notFinished = 'The agent did not finish this call'

export class OpenToolCalls {
  /** The agent path of each call, by block. */
  readonly #paths = new Map<string, readonly string[]>()

  /** Call this for every event that goes into the log or is read from it. */
  track(event: AgentEvent | Event): void {
    if (event.type === 'tool.started') this.#paths.set(event.block, event.agentPath ?? [])
    if (event.type === 'tool.finished') this.#paths.delete(event.block)
  }

  /** Returns events that finish the calls which the agent has left open, except those that `others` finish. */
  finish(others: readonly AgentEvent[]): readonly AgentEvent[] {
    const isFinished = new Set(others.flatMap(event => (event.type === 'tool.finished' ? event.block : [])))
    const open = [...this.#paths].filter(([block]) => !isFinished.has(block))
    return open.map(([block, agentPath]) => ({
      ...{ type: 'tool.finished', block, ok: false, output: notFinished },
      ...(agentPath.length > 0 ? { agentPath: [...agentPath] } : {}),
    }))
  }
}
