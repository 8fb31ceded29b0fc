/** A bare client of the Agent Client Protocol, which gemini, goose, qwen, copilot, codex-acp and claude-agent-acp speak. */
import { Readable, Writable } from 'node:stream'
import {
  type ClientConnection,
  type CreateElicitationResponse,
  client,
  methods,
  ndJsonStream,
  PROTOCOL_VERSION,
  type RequestPermissionRequest,
  type RequestPermissionResponse,
} from '@agentclientprotocol/sdk'
import type { AgentRecipe } from '../recipes.ts'
import { AgentProcess, type BareClient, type Person } from './bare-client.ts'

export class AcpClient implements BareClient {
  readonly #process: AgentProcess
  readonly #connection: ClientConnection
  pieces: string[] = []
  #sessionId = ''

  private constructor(process: AgentProcess, person: Person) {
    this.#process = process
    const { stdin, stdout } = process.child
    if (!stdin || !stdout) throw new Error('the agent has no standard streams')
    this.#connection = client({ name: 'bare-client' })
      .onNotification(methods.client.session.update, ({ params: { update } }) => {
        if (update.sessionUpdate === 'agent_message_chunk' && update.content.type === 'text')
          this.pieces.push(update.content.text)
      })
      .onRequest(methods.client.session.requestPermission, ({ params }) => answerPermission(params, person))
      .onRequest(methods.client.elicitation.create, ({ params }) => answerForm(params, person))
      .connect(ndJsonStream(Writable.toWeb(stdin), Readable.toWeb(stdout) as ReadableStream<Uint8Array>)) // node types its own web streams differently
  }

  static async start(recipe: AgentRecipe, cwd: string, person: Person): Promise<AcpClient> {
    const bare = new AcpClient(new AgentProcess(recipe, cwd), person)
    const { agent } = bare.#connection
    await agent.request(methods.agent.initialize, {
      protocolVersion: PROTOCOL_VERSION,
      clientInfo: { name: 'bare-client', version: '0.0.0' },
      clientCapabilities: { elicitation: { form: {} } },
    })
    const { sessionId } = await agent.request(methods.agent.session.new, { cwd, mcpServers: [] })
    bare.#sessionId = sessionId
    return bare
  }

  async prompt(text: string): Promise<void> {
    this.pieces = []
    const prompt = [{ type: 'text' as const, text }]
    await this.#connection.agent.request(methods.agent.session.prompt, { sessionId: this.#sessionId, prompt })
  }

  async close(): Promise<void> {
    this.#connection.close()
    await this.#process.kill()
  }
}

async function answerPermission(
  { toolCall, options }: RequestPermissionRequest,
  person: Person,
): Promise<RequestPermissionResponse> {
  const questions = toolCall._meta?.qwenQuestions as readonly QwenQuestion[] | undefined
  const choices = questions?.map(({ question, options }) => {
    const labels = options.map(({ label }) => label)
    return person.choose(question, labels)
  })
  const text = `${toolCall.title} ${JSON.stringify(toolCall.rawInput ?? '')}`
  const decision = choices ? 'allow' : await person.decide(text)
  const option = options.find(({ kind }) => kind === (decision === 'allow' ? 'allow_once' : 'reject_once'))
  const outcome = option
    ? { outcome: 'selected' as const, optionId: option.optionId }
    : { outcome: 'cancelled' as const }
  return { outcome, ...(choices && { answers: { ...choices } }) }
}
/** Qwen sends questions with a permission request, and expects the answers, by index, beside the outcome of that request. The protocol does not define this. */
interface QwenQuestion {
  readonly question: string
  readonly options: readonly { readonly label: string }[]
}

/** Chooses an option for each field that has options. */
function answerForm(params: object, person: Person): CreateElicitationResponse {
  const { requestedSchema } = params as { requestedSchema: { properties: Readonly<Record<string, Field>> } } // a form has a schema with properties
  const content = Object.entries(requestedSchema.properties).flatMap(([name, { title = name, oneOf }]) => {
    const values = oneOf?.map(option => option.const)
    return values ? [[name, person.choose(title, values)]] : []
  })
  return { action: 'accept', content: Object.fromEntries(content) }
}
interface Field {
  readonly title?: string
  readonly oneOf?: readonly { readonly const: string }[]
}
