/** A bare client of `codex app-server`, over its standard streams or a WebSocket. */
import { createInterface } from 'node:readline'
import { WebSocket } from 'ws'
import type { AgentRecipe } from '../recipes.ts'
import { AgentProcess, type BareClient, type Person } from './bare-client.ts'

interface Message {
  readonly id?: number
  readonly method?: string
  readonly params?: Params
  readonly result?: Params
  readonly error?: { readonly message: string }
}
interface Question {
  readonly id: string
  readonly question: string
  readonly options: readonly { readonly label: string }[]
}
// biome-ignore lint/suspicious/noExplicitAny: this client reads a few fields of many messages
type Params = any

export class CodexClient implements BareClient {
  readonly #send: (message: object) => void
  readonly #process: AgentProcess
  readonly #person: Person
  readonly #replies = new Map<number, (message: Message) => void>()
  pieces: string[] = []
  #lastId = 0
  #threadId = ''
  #turnEnded: (() => void) | null = null

  private constructor(process: AgentProcess, person: Person, send: (message: object) => void) {
    this.#process = process
    this.#person = person
    this.#send = send
  }

  /** Starts codex with its standard streams as the transport. */
  static async start(recipe: AgentRecipe, cwd: string, person: Person): Promise<CodexClient> {
    const agent = new AgentProcess(recipe, cwd)
    const { stdin, stdout } = agent.child
    if (!stdin || !stdout) throw new Error('codex has no standard streams')
    const client = new CodexClient(agent, person, message => stdin.write(`${JSON.stringify(message)}\n`))
    createInterface({ input: stdout }).on('line', line => client.#receive(JSON.parse(line)))
    await client.#begin(cwd)
    return client
  }

  /** Starts codex with a WebSocket as the transport. Codex chooses the port and reports it on its standard error. */
  static async startWebSocket(recipe: AgentRecipe, cwd: string, person: Person): Promise<CodexClient> {
    const agent = new AgentProcess({ ...recipe, args: [...recipe.args, '--listen', 'ws://127.0.0.1:0'] }, cwd)
    const url = await agent.findInOutput('stderr', /ws:\/\/127\.0\.0\.1:\d+/)
    const socket = new WebSocket(url)
    await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject))
    const client = new CodexClient(agent, person, message => socket.send(JSON.stringify(message)))
    socket.on('message', data => client.#receive(JSON.parse(String(data))))
    await client.#begin(cwd)
    return client
  }

  async #begin(cwd: string): Promise<void> {
    const clientInfo = { name: 'bare-client', title: 'Bare client', version: '0.0.0' }
    await this.request('initialize', { clientInfo, capabilities: { experimentalApi: true, requestAttestation: false } })
    this.#send({ method: 'initialized' })
    // With the policy “untrusted”, codex asks before every command that it does not know to be safe.
    const { thread } = await this.request('thread/start', {
      cwd,
      approvalPolicy: 'untrusted',
      sandbox: 'workspace-write',
    })
    this.#threadId = thread.id
  }

  async request(method: string, params: object): Promise<Params> {
    const id = ++this.#lastId
    const reply = new Promise<Message>(resolve => this.#replies.set(id, resolve))
    this.#send({ id, method, params })
    const { result, error } = await reply
    if (error) throw new Error(`codex refused ${method}: ${error.message}`)
    return result
  }

  async prompt(text: string): Promise<void> {
    this.pieces = []
    const ended = new Promise<void>(resolve => {
      this.#turnEnded = resolve
    })
    await this.request('turn/start', { threadId: this.#threadId, input: [{ type: 'text', text, text_elements: [] }] })
    await ended
  }

  #receive({ id, method, params, ...reply }: Message): void {
    if (method === undefined) this.#replies.get(id ?? -1)?.(reply)
    else if (id !== undefined) void this.#answer(id, method, params)
    else if (method === 'item/agentMessage/delta') this.pieces.push(params.delta)
    else if (method === 'turn/completed') this.#turnEnded?.()
  }

  async #answer(id: number, method: string, params: Params): Promise<void> {
    if (method.endsWith('/requestApproval')) {
      const decision = await this.#person.decide(params.command ?? params.reason ?? method)
      this.#send({ id, result: { decision: decision === 'allow' ? 'accept' : 'decline' } })
    } else if (method === 'item/tool/requestUserInput') {
      const answers = (params.questions as readonly Question[]).map(({ id, question, options }) => {
        const labels = options.map(({ label }) => label)
        return [id, { answers: [this.#person.choose(question, labels)] }]
      })
      this.#send({ id, result: { answers: Object.fromEntries(answers) } })
    } else this.#send({ id, error: { code: -32601, message: `${method} is not known` } })
  }

  async close(): Promise<void> {
    await this.#process.kill()
  }
}
