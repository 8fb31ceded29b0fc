/** A bare client of the Agent Client Protocol, which gemini, goose, qwen, copilot, codex-acp and claude-agent-acp speak. */
import { Readable, Writable } from 'node:stream'
import { type ClientConnection, client, methods, ndJsonStream, PROTOCOL_VERSION } from '@agentclientprotocol/sdk'
import type { AgentRecipe } from '../recipes.ts'
import { AgentProcess, type BareClient, type BareTurn, type Decide } from './bare-client.ts'

export class AcpClient implements BareClient {
  readonly #process: AgentProcess
  readonly #connection: ClientConnection
  readonly #pieces: string[] = []
  #sessionId = ''

  private constructor(process: AgentProcess, decide: Decide) {
    this.#process = process
    const { stdin, stdout } = process.child
    if (!stdin || !stdout) throw new Error('the agent has no standard streams')
    this.#connection = client({ name: 'bare-client' })
      .onNotification(methods.client.session.update, ({ params: { update } }) => {
        if (update.sessionUpdate === 'agent_message_chunk' && update.content.type === 'text')
          this.#pieces.push(update.content.text)
      })
      .onRequest(methods.client.session.requestPermission, async ({ params: { toolCall, options } }) => {
        const decision = await decide(`${toolCall.title} ${JSON.stringify(toolCall.rawInput ?? '')}`)
        const option = options.find(({ kind }) => kind === (decision === 'allow' ? 'allow_once' : 'reject_once'))
        return { outcome: option ? { outcome: 'selected', optionId: option.optionId } : { outcome: 'cancelled' } }
      })
      .connect(ndJsonStream(Writable.toWeb(stdin), Readable.toWeb(stdout) as ReadableStream<Uint8Array>)) // node types its own web streams differently
  }

  static async start(recipe: AgentRecipe, cwd: string, decide: Decide): Promise<AcpClient> {
    const bare = new AcpClient(new AgentProcess(recipe, cwd), decide)
    const { agent } = bare.#connection
    await agent.request(methods.agent.initialize, {
      protocolVersion: PROTOCOL_VERSION,
      clientInfo: { name: 'bare-client', version: '0.0.0' },
      clientCapabilities: {},
    })
    const { sessionId } = await agent.request(methods.agent.session.new, { cwd, mcpServers: [] })
    bare.#sessionId = sessionId
    return bare
  }

  async prompt(text: string): Promise<BareTurn> {
    this.#pieces.length = 0
    const prompt = [{ type: 'text' as const, text }]
    await this.#connection.agent.request(methods.agent.session.prompt, { sessionId: this.#sessionId, prompt })
    return { pieces: [...this.#pieces] }
  }

  async close(): Promise<void> {
    this.#connection.close()
    await this.#process.kill()
  }
}
