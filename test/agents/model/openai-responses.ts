/** The Responses API of OpenAI, which codex uses. */
import { randomUUID } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import { type Dialect, type ReplyWriter, sendEvent, startStream, textOf, tokens } from './dialect.ts'
import type { ModelMessage, ToolCall } from './script.ts'

interface Item {
  readonly type?: string
  readonly role?: string
  readonly content?: unknown
  readonly call_id?: string
  readonly name?: string
  readonly namespace?: string
  readonly arguments?: string
  readonly output?: unknown
}

export const openaiResponses: Dialect = {
  name: 'openai-responses',
  handles: path => path.endsWith('/responses'),
  read: body => ({
    streams: true,
    model: body.model,
    messages: (body.input as readonly Item[]).flatMap(messageOf),
    tools: (body.tools ?? []).map((tool: { name?: string; type: string }) => tool.name ?? tool.type),
  }),
  open: response => new ResponseWriter(response),
  error: (status, message) => ({ error: { message, type: 'scripted', code: String(status) } }),
}

function messageOf(item: Item): readonly ModelMessage[] {
  if (item.type === 'function_call') return [{ role: 'assistant', text: '', calls: [callOf(item)] }]
  if (item.type === 'function_call_output') return [{ role: 'result', id: item.call_id ?? '', text: outputOf(item) }]
  if (item.role === 'user') return [{ role: 'user', text: textOf(item.content) }]
  if (item.role === 'assistant') return [{ role: 'assistant', text: textOf(item.content), calls: [] }]
  return []
}
function callOf({ call_id = '', name = '', namespace, arguments: input = '{}' }: Item): ToolCall {
  return { id: call_id, name, input: JSON.parse(input), ...(namespace !== undefined && { namespace }) }
}
function outputOf({ output }: Item): string {
  return typeof output === 'string' ? output : textOf(output) || JSON.stringify(output)
}

class ResponseWriter implements ReplyWriter {
  readonly #response: ServerResponse
  readonly #id = `resp_${randomUUID()}`
  readonly #output: object[] = []
  /** The message that is being streamed. */
  #message: { readonly id: string; text: string } | null = null
  #sequence = 0

  constructor(response: ServerResponse) {
    this.#response = response
    startStream(response)
    this.#send('response.created', {
      response: { id: this.#id, object: 'response', status: 'in_progress', output: [] },
    })
  }

  text(piece: string): void {
    if (this.#message === null) {
      this.#message = { id: `msg_${randomUUID()}`, text: '' }
      const item = this.#messageItem('in_progress')
      this.#send('response.output_item.added', { output_index: this.#output.length, item })
    }
    this.#message.text += piece
    const position = { item_id: this.#message.id, output_index: this.#output.length, content_index: 0 }
    this.#send('response.output_text.delta', { ...position, delta: piece })
  }

  call({ id, name, input, namespace }: ToolCall): void {
    this.#endMessage()
    const item = {
      type: 'function_call',
      id: `fc_${randomUUID()}`,
      call_id: id,
      name,
      arguments: JSON.stringify(input),
      status: 'completed',
      ...(namespace !== undefined && { namespace }),
    }
    this.#send('response.output_item.added', { output_index: this.#output.length, item: { ...item, arguments: '' } })
    this.#finish(item)
  }

  end(): void {
    this.#endMessage()
    const usage = {
      input_tokens: tokens.input,
      input_tokens_details: { cached_tokens: 0 },
      output_tokens: tokens.output,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: tokens.input + tokens.output,
    }
    const response = { id: this.#id, object: 'response', status: 'completed', output: this.#output, usage }
    this.#send('response.completed', { response })
    this.#response.end()
  }

  #endMessage(): void {
    if (this.#message === null) return
    this.#finish(this.#messageItem('completed'))
    this.#message = null
  }
  #messageItem(status: string): object {
    const text = this.#message?.text ?? ''
    const content = status === 'completed' ? [{ type: 'output_text', text, annotations: [] }] : []
    return { type: 'message', id: this.#message?.id, role: 'assistant', status, content }
  }
  #finish(item: object): void {
    this.#send('response.output_item.done', { output_index: this.#output.length, item })
    this.#output.push(item)
  }
  #send(type: string, data: object): void {
    sendEvent(this.#response, { type, sequence_number: this.#sequence++, ...data }, type)
  }
}
