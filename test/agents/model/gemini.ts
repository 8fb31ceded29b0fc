/** The Gemini API, which gemini uses. */
import type { ServerResponse } from 'node:http'
import { type Dialect, type ReplyWriter, sendEvent, sendJson, startStream, tokens } from './dialect.ts'
import type { ModelMessage, ModelRequest, ToolCall } from './script.ts'

interface Content {
  readonly role?: string
  readonly parts?: readonly Part[]
}
interface Part {
  readonly text?: string
  readonly functionCall?: { readonly id?: string; readonly name: string; readonly args?: object }
  readonly functionResponse?: { readonly id?: string; readonly name: string; readonly response?: object }
}

export const gemini: Dialect = {
  name: 'gemini',
  handles: path => /:(?:streamGenerateContent|generateContent)$/.test(path),
  read: (body, path) => ({
    streams: path.endsWith(':streamGenerateContent'),
    model: /models\/([^:/]+):/.exec(path)?.[1] ?? '',
    messages: ((body.contents ?? []) as readonly Content[]).flatMap(messagesOf),
    tools: (body.tools ?? []).flatMap((tool: { functionDeclarations?: readonly { name: string }[] }) =>
      (tool.functionDeclarations ?? []).map(({ name }) => name),
    ),
  }),
  open: (response, request) => new GeminiWriter(response, request),
  error: (status, message) => ({ error: { code: status, message, status: 'SCRIPTED' } }),
}

/** The content of a model has text and calls; the content of a user has text, or results, or both. */
function messagesOf({ role, parts = [] }: Content): readonly ModelMessage[] {
  const text = parts.map(part => part.text ?? '').join('')
  const calls = parts.flatMap(({ functionCall }) =>
    functionCall ? [{ id: functionCall.id ?? '', name: functionCall.name, input: functionCall.args ?? {} }] : [],
  )
  if (role === 'model') return [{ role: 'assistant', text, calls }]
  const results = parts.flatMap(({ functionResponse }): ModelMessage[] =>
    functionResponse
      ? [{ role: 'result', id: functionResponse.id ?? '', text: JSON.stringify(functionResponse.response) }]
      : [],
  )
  return text === '' ? results : [...results, { role: 'user', text }]
}

class GeminiWriter implements ReplyWriter {
  readonly #response: ServerResponse
  readonly #request: ModelRequest
  readonly #parts: Part[] = []

  constructor(response: ServerResponse, request: ModelRequest) {
    this.#response = response
    this.#request = request
    if (request.streams) startStream(response)
  }

  text(piece: string): void {
    this.#add({ text: piece })
  }
  call({ id, name, input }: ToolCall): void {
    this.#add({ functionCall: { id, name, args: input } })
  }
  end(): void {
    if (this.#request.streams) {
      sendEvent(this.#response, this.#reply([], true))
      this.#response.end()
    } else sendJson(this.#response, this.#reply(this.#parts, true))
  }

  #add(part: Part): void {
    this.#parts.push(part)
    if (this.#request.streams) sendEvent(this.#response, this.#reply([part], false))
  }
  #reply(parts: readonly Part[], isLast: boolean): object {
    const usageMetadata = {
      promptTokenCount: tokens.input,
      candidatesTokenCount: tokens.output,
      totalTokenCount: tokens.input + tokens.output,
    }
    const candidate = { index: 0, content: { role: 'model', parts }, ...(isLast && { finishReason: 'STOP' }) }
    return { candidates: [candidate], modelVersion: this.#request.model, ...(isLast && { usageMetadata }) }
  }
}
