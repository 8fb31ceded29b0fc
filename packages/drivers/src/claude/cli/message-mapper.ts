/** Converts SDK messages (streamed text and tool input, finished blocks, tool results, errors) to events of the session log, and records which calls start subagents. */
import type { SDKMessage } from '@anthropic-ai/claude-agent-sdk'
import { jsonCopy } from '@holdpoint/client'
import { type AgentEvent, type Json, type JsonObject, limits } from '@holdpoint/protocol'
import { loggedAction } from '../../session/started-action.ts'
import { actionFor } from '../approvals/action.ts'
import { errorFrom, modelError } from '../error-events.ts'
import { TurnTokens } from '../token-usage.ts'
import { exitCodeIn } from '../tool-result.ts'
import { isRecord, toolResultsIn } from './content-blocks.ts'
import { SubagentTree, subagentName } from './subagents.ts'

type Message<T extends SDKMessage['type']> = Extract<SDKMessage, { readonly type: T }>
/** The block that one agent is streaming. */
interface Stream {
  readonly messageId: string
  block: string
  tool?: string
  length: number
}

export class MessageMapper {
  readonly subagents = new SubagentTree()
  readonly #cwd: string
  /** Blocks that are being streamed, by the id of the call that started the agent; the main agent has the key ''. */
  readonly #streams = new Map<string, Stream>()
  readonly #blockCounts = new Map<string, number>()
  readonly #tokens = new TurnTokens()

  constructor(cwd: string) {
    this.#cwd = cwd
  }

  toEvents(message: SDKMessage): readonly AgentEvent[] {
    const error = errorFrom(message)
    if (error) return [error]
    switch (message.type) {
      case 'stream_event':
        return this.#fromStreamEvent(message)
      case 'assistant':
        return this.#fromAssistant(message)
      case 'user':
        return this.#fromUser(message)
      case 'result':
        this.#tokens.clear()
        return []
      case 'system':
        if (message.subtype === 'task_started') this.subagents.addTask(message.task_id, message.tool_use_id)
        return []
      default:
        return []
    }
  }

  #fromStreamEvent({ event, parent_tool_use_id: parentCall }: Message<'stream_event'>): readonly AgentEvent[] {
    const streamKey = parentCall ?? ''
    if (event.type === 'message_start') {
      this.#streams.set(streamKey, { messageId: event.message.id, block: '', length: 0 })
      return []
    }
    const stream = this.#streams.get(streamKey)
    if (!stream) return []
    if (event.type === 'content_block_start') {
      const { content_block: block, index } = event
      stream.length = 0
      stream.block = block.type === 'tool_use' ? block.id : `${stream.messageId}.${index}`
      if (block.type === 'tool_use') stream.tool = block.name
      else delete stream.tool
      return []
    }
    if (event.type !== 'content_block_delta') return []
    const { delta } = event
    const text = delta.type === 'text_delta' ? delta.text : delta.type === 'input_json_delta' ? delta.partial_json : ''
    if (text === '') return []
    const offset = stream.length
    stream.length += text.length
    const common = { block: stream.block, offset, text, ...this.#agentPath(parentCall) }
    return [
      stream.tool === undefined
        ? { type: 'message.delta', ...common }
        : { type: 'tool.delta', ...common, tool: truncateName(stream.tool) },
    ]
  }

  #fromAssistant({ message, error, parent_tool_use_id: parentCall }: Message<'assistant'>): readonly AgentEvent[] {
    const path = this.#agentPath(parentCall)
    const events: AgentEvent[] = []
    const texts: string[] = []
    const turnUsage = this.#tokens.add(message.id, message.usage)
    for (const block of message.content) {
      // The CLI sends each block of the model's message as a separate message. Count these messages to get the index under which the block was streamed.
      const index = this.#blockCounts.get(message.id) ?? 0
      this.#blockCounts.set(message.id, index + 1)
      if (block.type === 'text' && block.text !== '') {
        texts.push(block.text)
        const text = truncateText(block.text)
        if (!error) events.push({ type: 'message.added', block: `${message.id}.${index}`, text, ...path })
      } else if (block.type === 'tool_use') {
        const input = jsonCopy(block.input ?? {}, 'the input') as JsonObject // tool inputs are objects
        this.subagents.addCall(block.id, parentCall, subagentName(block.name, input))
        const tool = truncateName(block.name)
        const action = loggedAction(actionFor(block.name, input, this.#cwd), input)
        // A limit of watchers counts at the next call, so the usage is reported with it.
        if (turnUsage.inputTokens > 0) events.push({ type: 'session.changed', turnUsage })
        events.push({ type: 'tool.started', block: block.id, tool, input: limitInput(input), ...action, ...path })
      }
    }
    return error ? [modelError(error, texts.join('\n'))] : events
  }

  #fromUser({ message, parent_tool_use_id: parentCall }: Message<'user'>): readonly AgentEvent[] {
    return toolResultsIn(message.content).map(({ id, failed, content }) => ({
      type: 'tool.finished',
      block: id,
      ok: !failed,
      output: toOutput(content),
      ...(failed && typeof content === 'string' ? exitCodeIn(content) : {}),
      ...this.#agentPath(parentCall),
    }))
  }

  #agentPath(parentCall: string | null): { agentPath?: string[] } {
    const path = this.subagents.pathOfCall(parentCall)
    return path.length > 0 ? { agentPath: [...path] } : {}
  }
}

/** Returns a tool's output with its texts truncated. Of images and other parts, only the type is kept. */
function toOutput(content: unknown): Json {
  if (typeof content === 'string') return truncateText(content)
  if (!Array.isArray(content)) return null
  return content.map((part: unknown): Json => {
    const { type, text } = isRecord(part) ? part : {}
    return typeof text === 'string' ? { type: 'text', text: truncateText(text) } : { type: String(type) }
  })
}
function truncateText(text: string): string {
  const wellFormed = text.toWellFormed()
  const lengthMax = limits.textMax / 2
  return wellFormed.length > lengthMax ? `${wellFormed.slice(0, lengthMax).toWellFormed()}…` : wellFormed
}
function limitInput(input: JsonObject): JsonObject {
  return JSON.stringify(input).length > limits.textMax ? { tooLargeToShow: true } : input
}
function truncateName(name: string): string {
  return name.slice(0, limits.nameMax).toWellFormed()
}
