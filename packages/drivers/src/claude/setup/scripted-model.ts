/** A local HTTP server that implements the part of the Messages API that Claude Code uses, and sends scripted replies. The self-test and the tests run the real CLI against this server. */
import { randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export type ModelBlock =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'tool_use'; readonly id: string; readonly name: string; readonly input: object }

/** The body of a request that Claude Code sends to the model. */
export interface ModelRequest {
  readonly model: string
  readonly stream?: boolean
  readonly system?: unknown
  readonly tools?: readonly { readonly name: string }[]
  readonly messages: readonly { readonly role: string; readonly content: unknown }[]
}
export type ModelResponder = (request: ModelRequest) => readonly ModelBlock[] | Promise<readonly ModelBlock[]>

export interface ScriptedModel {
  readonly url: string
  close(): Promise<void>
}

export async function startScriptedModel(respond: ModelResponder): Promise<ScriptedModel> {
  const server = createServer((request, response) => {
    handleRequest(request, response, respond).catch(() => response.destroy())
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo // the server listens on a TCP port, so its address is not a string
  return {
    url: `http://127.0.0.1:${port}`,
    close: () =>
      new Promise<void>(resolve => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

async function handleRequest(
  request: IncomingMessage,
  response: ServerResponse,
  respond: ModelResponder,
): Promise<void> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk)
  if (request.url?.includes('count_tokens')) return void response.end('{"input_tokens":1}')
  const modelRequest = JSON.parse(Buffer.concat(chunks).toString('utf8')) as ModelRequest // only the CLI calls this server, and it sends requests in this format
  const blocks = await respond(modelRequest)
  const send = (type: string, data: object) =>
    response.write(`event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`)
  const message = {
    id: `msg_${randomUUID()}`,
    type: 'message',
    role: 'assistant',
    model: modelRequest.model,
    content: [],
  }
  const usage = { input_tokens: 1, output_tokens: 1 }
  if (!modelRequest.stream) {
    response.setHeader('content-type', 'application/json')
    return void response.end(JSON.stringify({ ...message, content: blocks, stop_reason: 'end_turn', usage }))
  }
  response.setHeader('content-type', 'text/event-stream')
  send('message_start', { message: { ...message, stop_reason: null, usage } })
  blocks.forEach((block, index) => {
    const isText = block.type === 'text'
    send('content_block_start', { index, content_block: isText ? { type: 'text', text: '' } : { ...block, input: {} } })
    const delta = isText
      ? { type: 'text_delta', text: block.text }
      : { type: 'input_json_delta', partial_json: JSON.stringify(block.input) }
    send('content_block_delta', { index, delta })
    send('content_block_stop', { index })
  })
  const stop = blocks.some(block => block.type === 'tool_use') ? 'tool_use' : 'end_turn'
  send('message_delta', { delta: { stop_reason: stop }, usage: { output_tokens: 1 } })
  send('message_stop', {})
  response.end()
}

/** Returns environment variables that make the CLI talk only to the scripted model and use a separate home folder. */
export function scriptedEnvironment(url: string, home: string): Readonly<Record<string, string | undefined>> {
  return {
    PATH: process.env.PATH,
    HOME: home,
    CLAUDE_CONFIG_DIR: `${home}/config`,
    ANTHROPIC_BASE_URL: url,
    ANTHROPIC_API_KEY: 'scripted',
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    DISABLE_AUTOUPDATER: '1',
    DISABLE_TELEMETRY: '1',
    // As root, the CLI refuses bypassPermissions unless this variable says that it runs in a sandbox.
    IS_SANDBOX: '1',
  }
}
