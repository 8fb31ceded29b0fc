/** The scripted model for tests. A script computes each reply from the conversation, and every call is recorded. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import {
  type ModelBlock,
  type ModelRequest,
  type ScriptedModel,
  scriptedEnvironment,
  startScriptedModel,
} from '../../src/claude/setup/scripted-model.ts'

/** One call of the model, as passed to a script. */
export interface ModelCall {
  readonly request: ModelRequest
  /** Tool results in the conversation, in order. */
  readonly results: readonly { readonly id: string; readonly text: string; readonly failed: boolean }[]
  /** The text of the person's last message. */
  readonly prompt: string
  /** All messages of the conversation as JSON text, so that tests can search them. */
  readonly conversation: string
}
export type ModelScript = (call: ModelCall) => readonly ModelBlock[] | Promise<readonly ModelBlock[]>

export const say = (text: string): ModelBlock => ({ type: 'text', text })
export const toolUse = (name: string, input: object, id: string): ModelBlock => ({ type: 'tool_use', id, name, input })
export const bash = (command: string, id = 'toolu_1') => toolUse('Bash', { command, description: 'a command' }, id)

/** Returns a script that replies with `list[n]` after n tool results, and with “done” after the last entry. */
export function steps(...list: readonly (readonly ModelBlock[])[]): ModelScript {
  return ({ results }) => list[results.length] ?? [say('done')]
}

export class TestModel {
  /** All calls that offer tools, in order. Claude Code also calls the model without tools, for example for titles. */
  readonly calls: ModelCall[] = []
  readonly server: ScriptedModel

  private constructor(server: ScriptedModel) {
    this.server = server
  }

  static async open(script: ModelScript): Promise<TestModel> {
    const calls: ModelCall[] = []
    const server = await startScriptedModel(async request => {
      if (!request.tools?.some(tool => tool.name === 'Bash')) return [say('a title')]
      const call = describeCall(request)
      calls.push(call)
      return script(call)
    })
    const model = new TestModel(server)
    return Object.assign(model, { calls })
  }

  /** Returns the text of a tool call's result as the model received it. */
  toolResult(id = 'toolu_1'): string | undefined {
    return this.calls.flatMap(call => call.results).find(result => result.id === id)?.text
  }
  /** Returns whether any conversation that was sent to the model contains the text. */
  hasRead(text: string): boolean {
    return this.calls.some(call => call.conversation.includes(JSON.stringify(text).slice(1, -1)))
  }
}

/** Returns the environment in which Claude Code calls the scripted model. Without garbage collection and compilation to machine code, Claude Code needs a third less CPU time and hardly more memory, because its processes are short-lived. */
export function claudeEnvironment(model: TestModel, home: string): Readonly<Record<string, string | undefined>> {
  return { ...scriptedEnvironment(model.server.url, home), BUN_JSC_useGC: '0', BUN_JSC_useBaselineJIT: '0' }
}

export interface ApiError {
  readonly status: number
  readonly type: string
  readonly message: string
  readonly headers?: Readonly<Record<string, string>>
}
/** Starts a proxy in front of a scripted model. If `refuses` returns an API error for a request, the proxy replies with that error; otherwise it forwards the request. */
export async function startModelProxy(
  modelUrl: () => string,
  refuses: (request: ModelRequest) => ApiError | null,
): Promise<{ readonly url: string; close(): void }> {
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const body = Buffer.concat(chunks).toString('utf8')
    const refusal = refuses(JSON.parse(body || '{}'))
    if (refusal) {
      const { status, type, message, headers } = refusal
      response.writeHead(status, { 'content-type': 'application/json', ...headers })
      return void response.end(JSON.stringify({ type: 'error', error: { type, message } }))
    }
    const reply = await fetch(modelUrl() + request.url, { method: 'POST', body })
    response.writeHead(reply.status, { 'content-type': reply.headers.get('content-type') ?? 'application/json' })
    response.end(await reply.text())
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo // the server listens on a TCP port, so its address is not a string
  return { url: `http://127.0.0.1:${port}`, close: () => void server.close(() => {}).closeAllConnections() }
}

interface Block {
  readonly type?: string
  readonly text?: string
  readonly content?: unknown
  readonly tool_use_id?: string
  readonly is_error?: boolean
}
const blocksOf = (content: unknown): readonly Block[] =>
  typeof content === 'string' ? [{ type: 'text', text: content }] : Array.isArray(content) ? content : []

function describeCall(request: ModelRequest): ModelCall {
  const blocks = request.messages.flatMap(message =>
    blocksOf(message.content).map(block => ({ role: message.role, block })),
  )
  const results = blocks
    .filter(({ block }) => block.type === 'tool_result')
    .map(({ block }) => ({
      id: block.tool_use_id ?? '',
      text: blocksOf(block.content)
        .map(part => part.text ?? '')
        .join(''),
      failed: block.is_error === true,
    }))
  const prompts = blocks.filter(({ role, block }) => role === 'user' && block.type === 'text')
  const prompt = prompts.findLast(({ block }) => !block.text?.startsWith('<system-reminder>'))?.block.text ?? ''
  return { request, results, prompt, conversation: JSON.stringify(request.messages) }
}
