/** Writes the tool calls of an agent to the session's log. Agents announce, change and finish them in different orders, and some never finish them. */
import { type AgentEvent, type Json, limits } from '@holdpoint/protocol'
import type { AgentOutput } from '../session/agent-connection.ts'
import { loggedAction } from '../session/started-action.ts'
import type { AcpProfile } from './profiles.ts'
import { describeCall, type KnownCall, mergeCall, textsOf } from './tool-calls.ts'

export class ToolLog {
  readonly #profile: AcpProfile
  readonly #cwd: string
  readonly #emit: (output: AgentOutput) => Promise<void>
  /** The calls of this turn, as the agent has described them so far. */
  readonly #calls = new Map<string, KnownCall>()
  /** The blocks of the calls that are in the log and have not finished, by the id of the call. */
  readonly #open = new Map<string, string>()
  /** The ids of the calls that have finished. */
  readonly #finished = new Set<string>()
  #count = 0

  constructor(profile: AcpProfile, cwd: string, emit: (output: AgentOutput) => Promise<void>) {
    this.#profile = profile
    this.#cwd = cwd
    this.#emit = emit
  }

  known(id: string): KnownCall | undefined {
    return this.#calls.get(id)
  }

  /** Call this when the agent changes a call. Changes of a finished call are ignored, because some agents report a denied call once more, as failed. */
  async change(update: KnownCall): Promise<void> {
    if (!this.#finished.has(update.toolCallId)) await this.update(update)
  }

  /** Call this when the agent announces a call, or asks for it. The id may be that of an earlier call. */
  async update(update: KnownCall): Promise<void> {
    const { toolCallId: id } = update
    this.#finished.delete(id)
    const call = mergeCall(this.#calls.get(id), update)
    this.#calls.set(id, call)
    const isFinished = call.status === 'completed' || call.status === 'failed'
    // Some agents first announce a call without its input.
    if (!this.#open.has(id) && (isFinished || isDescribed(call))) await this.#start(id, call)
    if (isFinished) await this.finish(id, call.status === 'completed', outputOf(call))
  }

  async #start(id: string, call: KnownCall): Promise<void> {
    const block = `${this.#startedAt}:${++this.#count}:${id}`.slice(0, limits.keyMax).toWellFormed()
    this.#open.set(id, block)
    const { tool, title, input, action } = describeCall(call, this.#profile, this.#cwd)
    const event = { type: 'tool.started', block, tool, title, input, ...loggedAction(action, input) } as const
    await this.#emit({ type: 'events', events: [event] })
  }
  /** Makes the blocks unique: the ids of tool calls can repeat, also after the process was started again. */
  readonly #startedAt = Date.now().toString(36)

  async finish(id: string, ok: boolean, output: Json): Promise<void> {
    const block = this.#open.get(id)
    this.#calls.delete(id)
    if (block === undefined) return
    this.#open.delete(id)
    this.#finished.add(id)
    await this.#emit({ type: 'events', events: [{ type: 'tool.finished', block, ok, output }] })
  }

  /** Finishes the calls that the agent will not finish, because its turn or its process has ended. */
  async finishOpen(output: string): Promise<void> {
    const events = [...this.#open.values()].map(
      (block): AgentEvent => ({ type: 'tool.finished', block, ok: false, output }),
    )
    for (const id of this.#open.keys()) this.#finished.add(id)
    this.#open.clear()
    this.#calls.clear()
    if (events.length > 0) await this.#emit({ type: 'events', events })
  }
}

function isDescribed({ rawInput, content, locations }: KnownCall): boolean {
  return Object.keys(Object(rawInput)).length > 0 || Boolean(content?.length) || Boolean(locations?.length)
}

function outputOf({ content, rawOutput }: KnownCall): Json {
  const texts = textsOf(content)
  if (texts.length > 0) return texts.join('\n').slice(0, limits.textMax).toWellFormed()
  if (typeof rawOutput === 'string') return rawOutput.slice(0, limits.textMax).toWellFormed()
  return (rawOutput ?? '') as Json // the protocol sends JSON
}
