/** Turns the items of Codex (messages, commands, file changes, tool calls) into text and events of the session's log. */
import { type Action, type AgentEvent, callTitles, type Json, type JsonObject, limits } from '@holdpoint/protocol'
import type { AgentOutput, TurnUsage } from '../session/agent-connection.ts'
import { loggedAction } from '../session/started-action.ts'
import { pathsOf } from './file-approvals.ts'
import { codexLog } from './messages.ts'
import { unwrapShell } from './shell-words.ts'
import type { CodexItem, FileChange } from './wire.ts'

export interface ItemOrigin {
  readonly threadId: string
  readonly turnId: string
  readonly agentPath: readonly string[]
}
interface OpenItem extends ItemOrigin {
  readonly item: CodexItem
}
type ToolDescription = {
  readonly tool: string
  readonly title?: string
  readonly input: JsonObject
  readonly action?: Action
}

/** The ids of texts that the driver sends have this prefix. Texts without it were typed in a terminal. */
const ownPrefix = 'holdpoint/'
/** The id of a note for the agent. */
export const ownNoteId = `${ownPrefix}note`
export const ownMessagePrefix = `${ownPrefix}message/`

export class ItemLog {
  readonly #emit: (output: AgentOutput) => Promise<void>
  readonly #usage: () => TurnUsage | null
  /** Tool calls that have started and not finished, by block. */
  readonly #open = new Map<string, OpenItem>()
  /** How much of a message was streamed, by block. */
  readonly #streamed = new Map<string, number>()
  /** The block of the last message, if nothing came after it. */
  #lastText: string | null = null

  /** `usage` returns what the turn has used so far; null if Codex has not reported it yet. */
  constructor(emit: (output: AgentOutput) => Promise<void>, usage: () => TurnUsage | null = () => null) {
    this.#emit = emit
    this.#usage = usage
  }

  async start(item: CodexItem, origin: ItemOrigin): Promise<void> {
    const block = blockOf(item, origin)
    const call = describe(item)
    if (!call || this.#open.has(block)) return
    this.#open.set(block, { item, ...origin })
    const usage = this.#usage()
    await this.#add(...(usage ? [{ type: 'session.changed', turnUsage: usage } as const] : []), {
      type: 'tool.started',
      block,
      ...call,
      ...pathOf(origin),
    })
  }

  /** Only the main agent's text is streamed. A subagent can write between turns, when the session loop would not end a block of text. */
  async stream(itemId: string, text: string, origin: ItemOrigin): Promise<void> {
    if (origin.agentPath.length > 0) return
    const block = `${origin.turnId}:${itemId}`
    this.#streamed.set(block, (this.#streamed.get(block) ?? 0) + text.length)
    await this.#write(block, text)
  }

  async complete(item: CodexItem, origin: ItemOrigin): Promise<void> {
    const block = blockOf(item, origin)
    switch (item.type) {
      case 'agentMessage':
      case 'plan': {
        const rest = item.text.slice(this.#streamed.get(block) ?? 0)
        this.#streamed.delete(block)
        if (rest === '') return
        return origin.agentPath.length > 0 ? this.#addMessage(block, rest, origin) : this.#write(block, rest)
      }
      case 'userMessage':
        return this.#addTyped(item, block, origin)
      default: {
        await this.start(item, origin)
        if (!this.#open.delete(block)) return
        await this.#add({ type: 'tool.finished', block, ...outcomeOf(item), ...pathOf(origin) })
      }
    }
  }

  /** Call this when something other than an item has ended a block of text: a request, or the end of a turn. */
  endText(): void {
    this.#lastText = null
  }

  /** Finishes the tool calls that Codex will not finish, because their turn or their process has ended. */
  async finishOpen(isLeft: (open: OpenItem) => boolean): Promise<void> {
    const events: AgentEvent[] = []
    for (const [block, open] of this.#open) {
      if (isLeft(open)) continue
      this.#open.delete(block)
      events.push({ type: 'tool.finished', block, ok: false, output: codexLog.notFinished, ...pathOf(open) })
    }
    if (events.length > 0) await this.#add(...events)
  }

  get openItems(): readonly OpenItem[] {
    return [...this.#open.values()]
  }
  changesOf(itemId: string, turnId: string): readonly FileChange[] | null {
    const { item } = this.#open.get(`${turnId}:${itemId}`) ?? {}
    return item?.type === 'fileChange' ? item.changes : null
  }

  /** Shows a message that a person typed in a terminal, because the log would otherwise contain only what Codex wrote about it. */
  async #addTyped(
    { clientId, content }: Extract<CodexItem, { type: 'userMessage' }>,
    block: string,
    origin: ItemOrigin,
  ): Promise<void> {
    // The instruction for a subagent is shown with the call that started it.
    if (clientId?.startsWith(ownPrefix) || origin.agentPath.length > 0) return
    const typed = content.map(part => Object(part).text).filter(text => typeof text === 'string')
    if (typed.length === 0) return
    await this.#addMessage(block, codexLog.typedInTerminal(typed.join('\n')), origin)
  }

  async #addMessage(block: string, text: string, origin: ItemOrigin): Promise<void> {
    await this.#add({ type: 'message.added', block, text: limitText(text), ...pathOf(origin) })
  }

  async #add(...events: readonly AgentEvent[]): Promise<void> {
    this.endText()
    await this.#emit({ type: 'events', events })
  }

  /** Separates two messages that follow each other. */
  async #write(block: string, text: string): Promise<void> {
    const separator = this.#lastText === null || this.#lastText === block ? '' : '\n\n'
    this.#lastText = block
    await this.#emit({ type: 'text', text: `${separator}${text}` })
  }
}

function blockOf(item: CodexItem, { turnId }: ItemOrigin): string {
  return `${turnId}:${item.id}`.slice(0, limits.keyMax).toWellFormed()
}
function pathOf({ agentPath }: ItemOrigin): { agentPath?: string[] } {
  return agentPath.length > 0 ? { agentPath: [...agentPath] } : {}
}

/** Returns the tool call that an item represents, or null if the item is not a tool call. */
function describe(item: CodexItem): ToolDescription | null {
  switch (item.type) {
    case 'commandExecution': {
      const { command, cwd } = item
      const script = unwrapShell(command)
      return toolCall('exec_command', { command, cwd }, { shell: script, cwd }, callTitles.run(script))
    }
    case 'fileChange': {
      const changes = item.changes.map(({ path, kind, diff }) => ({ path, kind: kind.type, diff }))
      const paths = pathsOf(item.changes)
      return toolCall('apply_patch', { changes }, { write: [...paths] }, callTitles.change(paths))
    }
    case 'mcpToolCall': {
      const { server, tool } = item
      return toolCall(`mcp__${server}__${tool}`, { ...Object(item.arguments) }, { mcp: server, tool })
    }
    case 'collabAgentToolCall':
      return toolCall(item.tool, item.prompt ? { prompt: item.prompt } : {})
    case 'webSearch':
      return toolCall('web_search', item.query ? { query: item.query } : {})
    case 'imageView':
      return toolCall('view_image', { path: item.path }, { read: [item.path] })
    default:
      return null
  }
}

function toolCall(tool: string, input: JsonObject, action: Action = { other: tool }, title?: string): ToolDescription {
  const shown = JSON.stringify(input).length > limits.textMax ? { tooLargeToShow: true } : input
  const name = tool.slice(0, limits.nameMax).toWellFormed()
  const titled = title === undefined ? {} : { title: title.slice(0, limits.titleMax).toWellFormed() }
  return { tool: name, input: shown, ...loggedAction(action, shown), ...titled }
}

function outcomeOf(item: CodexItem): { readonly ok: boolean; readonly output: Json; readonly exitCode?: number } {
  switch (item.type) {
    case 'commandExecution': {
      const text = item.aggregatedOutput ?? (item.status === 'declined' ? codexLog.declined : '')
      const exitCode = typeof item.exitCode === 'number' ? { exitCode: item.exitCode } : {}
      return { ok: item.status === 'completed', output: limitText(text), ...exitCode }
    }
    case 'fileChange':
      return { ok: item.status === 'completed', output: item.status }
    case 'mcpToolCall': {
      const parts = (item.result?.content ?? []).map(part => Object(part).text ?? `(${Object(part).type})`)
      return { ok: item.status === 'completed', output: limitText(item.error?.message ?? parts.join('\n')) }
    }
    case 'collabAgentToolCall':
      return { ok: item.status === 'completed', output: item.status }
    default:
      return { ok: true, output: null }
  }
}

function limitText(text: string): string {
  const wellFormed = text.toWellFormed()
  const lengthMax = limits.textMax / 2
  return wellFormed.length > lengthMax ? `${wellFormed.slice(0, lengthMax).toWellFormed()}…` : wellFormed
}
