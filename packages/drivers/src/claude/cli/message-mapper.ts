/** What Claude Code says, in our words: text and tool input as they stream, finished blocks, tool results, subagents by their names. */
import type { SDKMessage } from '@anthropic-ai/claude-agent-sdk'
import { type AgentEvent, type Json, type JsonObject, limits } from '@holdpoint/protocol'
import { jsonCopy } from '../../generator/json-copy.ts'
import { errorFrom, modelError } from '../error-events.ts'
import { agentName, SubagentTree } from './subagents.ts'

type Message<T extends SDKMessage['type']> = Extract<SDKMessage, { readonly type: T }>
/** A block as it streams. */
interface Stream {
  readonly message: string
  block: string
  tool?: string
  said: number
}

export class MessageMapper {
  readonly family = new SubagentTree()
  /** By the call that an agent runs under; the main agent's under ''. */
  readonly #streams = new Map<string, Stream>()
  readonly #blocks = new Map<string, number>()

  tell(message: SDKMessage): readonly AgentEvent[] {
    const trouble = errorFrom(message)
    if (trouble) return [trouble]
    switch (message.type) {
      case 'stream_event':
        return this.#streamed(message)
      case 'assistant':
        return this.#finished(message)
      case 'user':
        return this.#results(message)
      case 'system':
        if (message.subtype === 'task_started') this.family.addTask(message.task_id, message.tool_use_id)
        return []
      default:
        return []
    }
  }

  #streamed({ event, parent_tool_use_id: under }: Message<'stream_event'>): readonly AgentEvent[] {
    const who = under ?? ''
    if (event.type === 'message_start') {
      this.#streams.set(who, { message: event.message.id, block: '', said: 0 })
      return []
    }
    const stream = this.#streams.get(who)
    if (!stream) return []
    if (event.type === 'content_block_start') {
      const { content_block: begun, index } = event
      stream.said = 0
      stream.block = begun.type === 'tool_use' ? begun.id : `${stream.message}.${index}`
      if (begun.type === 'tool_use') stream.tool = begun.name
      else delete stream.tool
      return []
    }
    if (event.type !== 'content_block_delta') return []
    const { delta } = event
    const text = delta.type === 'text_delta' ? delta.text : delta.type === 'input_json_delta' ? delta.partial_json : ''
    if (text === '') return []
    const offset = stream.said
    stream.said += text.length
    const where = { block: stream.block, offset, text, ...this.#path(under) }
    return [
      stream.tool === undefined
        ? { type: 'message.delta', ...where }
        : { type: 'tool.delta', ...where, tool: clip(stream.tool) },
    ]
  }

  #finished({ message, error, parent_tool_use_id: under }: Message<'assistant'>): readonly AgentEvent[] {
    const path = this.#path(under)
    const sayings: AgentEvent[] = []
    const texts: string[] = []
    for (const block of message.content) {
      // Each message of the CLI's carries the next block of the model's; their count is the index under which it streamed.
      const index = this.#blocks.get(message.id) ?? 0
      this.#blocks.set(message.id, index + 1)
      if (block.type === 'text' && block.text !== '') {
        texts.push(block.text)
        if (!error)
          sayings.push({ type: 'message.added', block: `${message.id}.${index}`, text: cut(block.text), ...path })
      } else if (block.type === 'tool_use') {
        const input = jsonCopy(block.input ?? {}, 'the input') as JsonObject // tools take objects
        this.family.addCall(block.id, under, agentName(block.name, input))
        sayings.push({ type: 'tool.started', block: block.id, tool: clip(block.name), input: bounded(input), ...path })
      }
    }
    return error ? [modelError(error, texts.join('\n'))] : sayings
  }

  #results({ message, parent_tool_use_id: under }: Message<'user'>): readonly AgentEvent[] {
    return resultsIn(message.content).map(({ id, failed, content }) => ({
      type: 'tool.finished',
      block: id,
      ok: !failed,
      output: shown(content),
      ...this.#path(under),
    }))
  }

  #path(under: string | null): { agentPath?: string[] } {
    const path = this.family.pathUnder(under)
    return path.length > 0 ? { agentPath: [...path] } : {}
  }
}

/** The tool results that a message of the CLI's carries. */
export function resultsIn(content: unknown): readonly { id: string; failed: boolean; content: unknown }[] {
  if (!Array.isArray(content)) return []
  return content
    .map(block => Object(block))
    .filter(block => block.type === 'tool_result' && typeof block.tool_use_id === 'string')
    .map(block => ({ id: block.tool_use_id, failed: block.is_error === true, content: block.content }))
}

/** Pictures are told of, not kept; text is cut where nobody reads on. */
function shown(content: unknown): Json {
  if (typeof content === 'string') return cut(content)
  if (!Array.isArray(content)) return null
  return content.map((part): Json => {
    const { type, text } = Object(part)
    return typeof text === 'string' ? { type: 'text', text: cut(text) } : { type: String(type) }
  })
}
function cut(text: string): string {
  const whole = text.toWellFormed()
  return whole.length > limits.textMax / 2 ? `${whole.slice(0, limits.textMax / 2).toWellFormed()}…` : whole
}
function bounded(input: JsonObject): JsonObject {
  return JSON.stringify(input).length > limits.textMax ? { tooLargeToShow: true } : input
}
function clip(name: string): string {
  return name.slice(0, limits.nameMax)
}
