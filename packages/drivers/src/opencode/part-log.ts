/** Passes on the text and the tool calls of a conversation, which opencode describes in parts of messages. */
import { type AgentEvent, type JsonObject, limits } from '@holdpoint/protocol'
import type { AgentOutput, AgentTurnEnd } from '../session/agent-connection.ts'
import { loggedAction } from '../session/started-action.ts'
import { opencodeLog } from './messages.ts'
import { isAsked } from './permission-settings.ts'
import { describeToolCall, type OpencodeContext } from './tool-calls.ts'
import type { Part, ToolPart } from './wire.ts'

interface PartLogOptions {
  readonly emit: (output: AgentOutput) => Promise<void>
  readonly place: () => OpencodeContext
}

export class PartLog {
  readonly #options: PartLogOptions
  /** The ids of the messages of this turn that the agent wrote. */
  readonly #ownMessages = new Set<string>()
  /** How many characters of each text are passed on. */
  readonly #texts = new Map<string, number>()
  readonly #tools = new Map<string, ToolPart>()
  /** The tool calls that are in the log and have not finished, with the path of their agent. */
  readonly #open = new Map<string, readonly string[]>()
  /** Reports about calls that opencode is about to ask about. They wait for the permission, so that the gateway stores both at once. */
  #held: AgentEvent[] = []
  #usage = { inputTokens: 0, outputTokens: 0 }
  #cost = 0

  constructor(options: PartLogOptions) {
    this.#options = options
  }

  addOwnMessage(id: string): void {
    this.#ownMessages.add(id)
  }
  /** Returns the tool call with these ids. opencode's permission requests name their tool call by these ids. */
  toolCall(messageID: string, callID: string): ToolPart | undefined {
    return this.#tools.get(`${messageID}:${callID}`)
  }

  async delta(partID: string, text: string, agentPath: readonly string[]): Promise<void> {
    const length = this.#texts.get(partID)
    // Texts without an entry belong to the person's message, or to the thoughts of the model.
    if (length === undefined || text === '') return
    this.#texts.set(partID, length + text.length)
    await this.writeHeld()
    await this.#options.emit({ type: 'text', text, agentPath })
  }

  async update(part: Part, agentPath: readonly string[]): Promise<void> {
    switch (part.type) {
      case 'text': {
        if (!this.#ownMessages.has(part.messageID)) return
        const rest = part.text.slice(this.#texts.get(part.id) ?? 0)
        this.#texts.set(part.id, part.text.length)
        if (rest === '') return
        await this.writeHeld()
        return this.#options.emit({ type: 'text', text: rest, agentPath })
      }
      case 'step-finish':
        this.#cost += part.cost
        this.#usage.inputTokens += inputTokensOf(part.tokens)
        this.#usage.outputTokens += part.tokens?.output ?? 0
        return
      case 'tool':
        return this.#updateTool(part, agentPath)
    }
  }

  async #updateTool(part: ToolPart, agentPath: readonly string[]): Promise<void> {
    const { id, tool, state } = part
    this.#tools.set(`${part.messageID}:${part.callID}`, part)
    const isFinished = state.status === 'completed' || state.status === 'error'
    // opencode first announces a call without its input.
    if (state.status === 'pending' || (isFinished && !this.#open.has(id))) return
    const events: AgentEvent[] = []
    const isNew = !this.#open.has(id)
    if (isNew) {
      this.#open.set(id, agentPath)
      const { title, action } = describeToolCall(tool, state.input, this.#options.place())
      const input = state.input as JsonObject // it arrived as JSON
      if (this.#usage.inputTokens + this.#usage.outputTokens > 0)
        events.push({ type: 'session.changed', turnUsage: { ...this.#usage, cost: this.#cost } })
      events.push({
        type: 'tool.started',
        block: id,
        tool: tool.slice(0, limits.nameMax).toWellFormed(),
        title,
        input,
        ...loggedAction(action, input),
        agentPath: [...agentPath],
      })
    }
    if (isFinished) {
      this.#open.delete(id)
      const output = (state.output ?? state.error ?? '').slice(0, limits.textMax).toWellFormed()
      const { exit } = state.metadata
      events.push({
        type: 'tool.finished',
        block: id,
        // opencode reports a command that failed as completed.
        ok: state.status === 'completed' && (exit ?? 0) === 0,
        output,
        ...(exit === undefined ? {} : { exitCode: exit }),
        agentPath: [...agentPath],
      })
    }
    this.#held.push(...events)
    // opencode changes a call a second time only when it runs the call, so only a new call can still be asked about.
    const isHeld = isNew && isAsked(tool, this.#options.place().servers)
    if (!isHeld) await this.writeHeld()
  }

  /** Writes the reports that wait for a permission. Call this before a permission is opened. */
  async writeHeld(): Promise<void> {
    const events = this.#held
    this.#held = []
    if (events.length > 0) await this.#options.emit({ type: 'events', events })
  }

  /** Finishes the calls that opencode will not finish, because its turn or its process has ended. */
  async finishOpen(): Promise<void> {
    await this.writeHeld()
    const events = [...this.#open].map(
      ([block, agentPath]): AgentEvent => ({
        ...{ type: 'tool.finished', block, ok: false, output: opencodeLog.notFinished },
        agentPath: [...agentPath],
      }),
    )
    this.#open.clear()
    if (events.length > 0) await this.#options.emit({ type: 'events', events })
  }

  /** Returns the usage of the turn, and resets the state for the next turn. */
  takeFigures(): Pick<AgentTurnEnd, 'usage' | 'cost'> {
    const usage = this.#usage
    const cost = this.#cost
    this.#usage = { inputTokens: 0, outputTokens: 0 }
    this.#cost = 0
    this.#ownMessages.clear()
    this.#texts.clear()
    this.#tools.clear()
    const isKnown = usage.inputTokens + usage.outputTokens > 0
    return { ...(isKnown ? { usage } : {}), ...(cost > 0 ? { cost } : {}) }
  }
}

type StepTokens = Extract<Part, { readonly type: 'step-finish' }>['tokens']

/** opencode counts tokens that are read from the cache or written to it apart from the other input. */
function inputTokensOf(tokens: StepTokens): number {
  return (tokens?.input ?? 0) + (tokens?.cache?.read ?? 0) + (tokens?.cache?.write ?? 0)
}
