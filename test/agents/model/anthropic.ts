/** The Messages API of Anthropic, which Claude Code uses. */
import { randomUUID } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import { type Dialect, type ReplyWriter, sendEvent, sendJson, startStream, textOf, tokens } from './dialect.ts'
import type { ModelMessage, ModelRequest, ToolCall } from './script.ts'

interface Block {
  readonly type: string
  readonly text?: string
  readonly id?: string
  readonly name?: string
  readonly input?: object
  readonly tool_use_id?: string
  readonly content?: unknown
}

export const anthropic: Dialect = {
  name: 'anthropic',
  handles: path => path.endsWith('/v1/messages'),
  read: body => ({
    streams: body.stream === true,
    model: body.model,
    messages: (body.messages as readonly { role: string; content: unknown }[]).flatMap(messagesOf),
    tools: (body.tools ?? []).map((tool: { name: string }) => tool.name),
  }),
  open: (response, request) => new MessageWriter(response, request),
  error: (_, message) => ({ type: 'error', error: { type: 'api_error', message } }),
}

/** The message of a user has text, or results, or both. */
function messagesOf({ role, content }: { role: string; content: unknown }): readonly ModelMessage[] {
  const blocks = (typeof content === 'string' ? [{ type: 'text', text: content }] : content) as readonly Block[] // the API allows only these two forms
  const text = blocks.map(block => (block.type === 'text' ? (block.text ?? '') : '')).join('')
  if (role === 'assistant') {
    const calls = blocks.flatMap(({ type, id = '', name = '', input = {} }) =>
      type === 'tool_use' ? [{ id, name, input }] : [],
    )
    return [{ role, text, calls }]
  }
  const results = blocks.flatMap(({ type, tool_use_id = '', content: result }): ModelMessage[] =>
    type === 'tool_result' ? [{ role: 'result', id: tool_use_id, text: textOf(result) }] : [],
  )
  return text === '' ? results : [...results, { role: 'user', text }]
}

class MessageWriter implements ReplyWriter {
  readonly #response: ServerResponse
  readonly #request: ModelRequest
  readonly #message
  readonly #blocks: { readonly type: string; text?: string }[] = []

  constructor(response: ServerResponse, request: ModelRequest) {
    this.#response = response
    this.#request = request
    const usage = { input_tokens: tokens.input, output_tokens: 1 }
    const { model } = request
    this.#message = { id: `msg_${randomUUID()}`, type: 'message', role: 'assistant', model, content: [], usage }
    if (!request.streams) return
    startStream(response)
    this.#send('message_start', { message: { ...this.#message, stop_reason: null } })
  }

  text(piece: string): void {
    const last = this.#blocks.at(-1)
    if (last?.type === 'text') last.text += piece
    else this.#open({ type: 'text', text: piece }, { type: 'text', text: '' })
    this.#send('content_block_delta', { index: this.#blocks.length - 1, delta: { type: 'text_delta', text: piece } })
  }
  call({ id, name, input }: ToolCall): void {
    const block = { type: 'tool_use', id, name, input }
    this.#open(block, { ...block, input: {} })
    const delta = { type: 'input_json_delta', partial_json: JSON.stringify(input) }
    this.#send('content_block_delta', { index: this.#blocks.length - 1, delta })
  }
  end(): void {
    const stop_reason = this.#blocks.some(block => block.type === 'tool_use') ? 'tool_use' : 'end_turn'
    const usage = { input_tokens: tokens.input, output_tokens: tokens.output }
    if (this.#request.streams) {
      this.#close()
      this.#send('message_delta', { delta: { stop_reason }, usage })
      this.#send('message_stop', {})
      this.#response.end()
    } else sendJson(this.#response, { ...this.#message, content: this.#blocks, stop_reason, usage })
  }

  #open(block: { readonly type: string; text?: string }, empty: object): void {
    this.#close()
    this.#blocks.push(block)
    this.#send('content_block_start', { index: this.#blocks.length - 1, content_block: empty })
  }
  #close(): void {
    if (this.#blocks.length > 0) this.#send('content_block_stop', { index: this.#blocks.length - 1 })
  }
  #send(type: string, data: object): void {
    if (this.#request.streams) sendEvent(this.#response, { type, ...data }, type)
  }
}
