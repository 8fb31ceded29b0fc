/** A bare client of Claude Code, through its SDK. */
import { type Query, query, type SDKUserMessage } from '@anthropic-ai/claude-agent-sdk'
import type { AgentRecipe } from '../recipes.ts'
import { AgentProcess, type BareClient, type Person } from './bare-client.ts'

export class ClaudeClient implements BareClient {
  readonly #query: Query
  #process: AgentProcess | null = null
  pieces: string[] = []
  #turnEnded: (() => void) | null = null
  #send: (message: SDKUserMessage) => void = () => {}

  private constructor({ command, env }: AgentRecipe, cwd: string, person: Person) {
    this.#query = query({
      prompt: this.#messages(),
      options: {
        cwd,
        env,
        pathToClaudeCodeExecutable: command,
        settingSources: [],
        includePartialMessages: true,
        canUseTool: (name, input) => answer(name, input, person),
        spawnClaudeCodeProcess: ({ command, args, env }) => {
          const agent = new AgentProcess({ command, args, env }, cwd)
          this.#process = agent
          const { stdin, stdout } = agent.child
          if (!stdin || !stdout) throw new Error('Claude Code has no standard streams')
          return Object.assign(agent.child, { stdin, stdout })
        },
      },
    })
    this.#read().catch(() => {}) // closing the client ends the messages with an error
  }

  static async start(recipe: AgentRecipe, cwd: string, person: Person): Promise<ClaudeClient> {
    return new ClaudeClient(recipe, cwd, person)
  }

  async prompt(text: string): Promise<void> {
    this.pieces = []
    const ended = new Promise<void>(resolve => {
      this.#turnEnded = resolve
    })
    this.#send({ type: 'user', message: { role: 'user', content: text }, parent_tool_use_id: null })
    await ended
  }

  /** Passes on messages for as long as the client is open. */
  #messages(): AsyncIterable<SDKUserMessage> {
    const stream = new ReadableStream<SDKUserMessage>({
      start: controller => {
        this.#send = message => controller.enqueue(message)
      },
    })
    return stream as AsyncIterable<SDKUserMessage> // node's streams are iterable, but the types of the browser's are not
  }

  async #read(): Promise<void> {
    for await (const message of this.#query) {
      if (message.type === 'result') this.#turnEnded?.()
      if (message.type !== 'stream_event' || message.event.type !== 'content_block_delta') continue
      if (message.event.delta.type === 'text_delta') this.pieces.push(message.event.delta.text)
    }
  }

  async close(): Promise<void> {
    await this.#process?.kill()
  }
}

async function answer(name: string, input: Record<string, unknown>, person: Person) {
  if (name !== 'AskUserQuestion') {
    const decision = await person.decide(`${name} ${JSON.stringify(input)}`)
    if (decision === 'allow') return { behavior: 'allow' as const, updatedInput: input }
    return { behavior: 'deny' as const, message: 'Not this command.' }
  }
  const questions = input.questions as readonly { question: string; options: readonly { label: string }[] }[] // the input of this tool
  const answers = questions.map(({ question, options }) => {
    const labels = options.map(({ label }) => label)
    return [question, person.choose(question, labels)]
  })
  return { behavior: 'allow' as const, updatedInput: { ...input, answers: Object.fromEntries(answers) } }
}
