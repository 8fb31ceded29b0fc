/** The scripted model of a test: what it says next is a function of the conversation, and what it was told is kept. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import {
  type ModelBlock,
  type ModelTurn,
  type ScriptedModel,
  startModel,
} from '../../src/claude/setup/scripted-model.ts'

/** What the model sees when it is its turn. */
export interface Scene {
  readonly turn: ModelTurn
  /** Results of its calls so far, in the order in which it reads them. */
  readonly results: readonly { readonly id: string; readonly text: string; readonly failed: boolean }[]
  /** The text of the person's last message. */
  readonly prompt: string
  /** The whole conversation, to look for something in it. */
  readonly all: string
}
export type Play = (scene: Scene) => readonly ModelBlock[] | Promise<readonly ModelBlock[]>

export const say = (text: string): ModelBlock => ({ type: 'text', text })
export const call = (name: string, input: object, id: string): ModelBlock => ({ type: 'tool_use', id, name, input })
export const bash = (command: string, id = 'toolu_1') => call('Bash', { command, description: 'a command' }, id)

/** One step per number of results read so far; then it is done. */
export function steps(...list: readonly (readonly ModelBlock[])[]): Play {
  return ({ results }) => list[results.length] ?? [say('done')]
}

export class Model {
  /** Every scene with tools in it, in order: titles and the like are no part of the play. */
  readonly scenes: Scene[] = []
  readonly server: ScriptedModel

  private constructor(server: ScriptedModel) {
    this.server = server
  }

  static async open(play: Play): Promise<Model> {
    const scenes: Scene[] = []
    const server = await startModel(async turn => {
      if (!turn.tools?.some(tool => tool.name === 'Bash')) return [say('a title')]
      const scene = sceneOf(turn)
      scenes.push(scene)
      return play(scene)
    })
    const model = new Model(server)
    return Object.assign(model, { scenes })
  }

  /** What it was told about a call. */
  told(id = 'toolu_1'): string | undefined {
    return this.scenes.flatMap(scene => scene.results).find(result => result.id === id)?.text
  }
  /** Whether it ever read this. */
  read(text: string): boolean {
    return this.scenes.some(scene => scene.all.includes(JSON.stringify(text).slice(1, -1)))
  }
}

export interface Refusal {
  readonly status: number
  readonly type: string
  readonly message: string
  readonly headers?: Readonly<Record<string, string>>
}
/** The model's service in front of that model: it refuses what the test wants refused. */
export async function serviceBefore(
  model: () => string,
  refuses: (turn: ModelTurn) => Refusal | null,
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
    const answer = await fetch(model() + request.url, { method: 'POST', body })
    response.writeHead(answer.status, { 'content-type': answer.headers.get('content-type') ?? 'application/json' })
    response.end(await answer.text())
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo // it listens on TCP
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

function sceneOf(turn: ModelTurn): Scene {
  const blocks = turn.messages.flatMap(message =>
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
  return { turn, results, prompt, all: JSON.stringify(turn.messages) }
}
