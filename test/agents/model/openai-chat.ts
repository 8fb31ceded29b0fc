/** The Chat Completions API of OpenAI, which opencode, goose, qwen and copilot use. */
import { randomUUID } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import { type Dialect, type ReplyWriter, sendEvent, sendJson, startStream, textOf, tokens } from './dialect.ts'
import type { ModelMessage, ModelRequest, ToolCall } from './script.ts'

interface ChatMessage {
  readonly role: string
  readonly content?: unknown
  readonly tool_call_id?: string
  readonly tool_calls?: readonly ChatToolCall[]
}
interface ChatToolCall {
  readonly id: string
  readonly type: 'function'
  readonly function: { readonly name: string; readonly arguments: string }
}

export const openaiChat: Dialect = {
  name: 'openai-chat',
  handles: path => path.endsWith('/chat/completions'),
  read: body => ({
    streams: body.stream === true,
    model: body.model,
    messages: (body.messages as readonly ChatMessage[]).flatMap(messageOf),
    tools: (body.tools ?? []).map((tool: { function: { name: string } }) => tool.function.name),
  }),
  open: (response, request) => new ChatWriter(response, request),
  error: (status, message) => ({ error: { message, type: 'scripted', code: String(status) } }),
}

function messageOf({ role, content, tool_call_id = '', tool_calls = [] }: ChatMessage): readonly ModelMessage[] {
  const text = textOf(content)
  if (role === 'user') return [{ role, text }]
  if (role === 'tool') return [{ role: 'result', id: tool_call_id, text }]
  if (role !== 'assistant') return []
  const calls = tool_calls.map(call => ({
    id: call.id,
    name: call.function.name,
    input: JSON.parse(call.function.arguments || '{}'),
  }))
  return [{ role, text, calls }]
}

class ChatWriter implements ReplyWriter {
  readonly #response: ServerResponse
  readonly #request: ModelRequest
  readonly #id = `chatcmpl_${randomUUID()}`
  readonly #calls: ChatToolCall[] = []
  #text = ''

  constructor(response: ServerResponse, request: ModelRequest) {
    this.#response = response
    this.#request = request
    if (!request.streams) return
    startStream(response)
    this.#send({ role: 'assistant', content: '' })
  }

  text(piece: string): void {
    this.#text += piece
    this.#send({ content: piece })
  }
  call({ id, name, input }: ToolCall): void {
    const call: ChatToolCall = { id, type: 'function', function: { name, arguments: JSON.stringify(input) } }
    this.#send({ tool_calls: [{ index: this.#calls.length, ...call }] })
    this.#calls.push(call)
  }
  end(): void {
    const finish_reason = this.#calls.length > 0 ? 'tool_calls' : 'stop'
    const usage = {
      prompt_tokens: tokens.input,
      completion_tokens: tokens.output,
      total_tokens: tokens.input + tokens.output,
    }
    if (!this.#request.streams) {
      const calls = this.#calls.length > 0 ? { tool_calls: this.#calls } : {}
      const message = { role: 'assistant', content: this.#text, ...calls }
      const choices = [{ index: 0, message, finish_reason }]
      sendJson(this.#response, { ...this.#frame('chat.completion'), choices, usage })
    } else {
      this.#send({}, finish_reason)
      sendEvent(this.#response, { ...this.#frame('chat.completion.chunk'), choices: [], usage })
      this.#response.end('data: [DONE]\n\n')
    }
  }

  #frame(object: string): object {
    return { id: this.#id, object, created: 1, model: this.#request.model }
  }
  #send(delta: object, finish_reason: string | null = null): void {
    if (!this.#request.streams) return
    const choices = [{ index: 0, delta, finish_reason }]
    sendEvent(this.#response, { ...this.#frame('chat.completion.chunk'), choices })
  }
}
