/** A bare client of `opencode serve`: HTTP requests and a stream of events. */
import { EventSourceParserStream } from 'eventsource-parser/stream'
import type { AgentRecipe } from '../recipes.ts'
import { AgentProcess, type BareClient, type Person } from './bare-client.ts'

interface OpencodeEvent {
  readonly type: string
  readonly properties: {
    readonly id?: string
    readonly field?: string
    readonly delta?: string
    readonly permission?: string
    readonly patterns?: readonly string[]
    readonly questions?: readonly {
      readonly question: string
      readonly options: readonly { readonly label: string }[]
    }[]
  }
}

export class OpencodeClient implements BareClient {
  readonly #process: AgentProcess
  readonly #person: Person
  readonly #url: string
  readonly #headers: Readonly<Record<string, string>>
  readonly #closing = new AbortController()
  pieces: string[] = []
  #session = ''
  #turnEnded: (() => void) | null = null

  private constructor(process: AgentProcess, person: Person, url: string, password: string) {
    this.#process = process
    this.#person = person
    this.#url = url
    const credentials = Buffer.from(`opencode:${password}`).toString('base64')
    this.#headers = { authorization: `Basic ${credentials}`, 'content-type': 'application/json' }
  }

  static async start(recipe: AgentRecipe, cwd: string, person: Person): Promise<OpencodeClient> {
    const agent = new AgentProcess(recipe, cwd)
    const url = await agent.findInOutput('stdout', /http:\/\/127\.0\.0\.1:\d+/)
    const client = new OpencodeClient(agent, person, url, recipe.env.OPENCODE_SERVER_PASSWORD ?? '')
    await client.#subscribe()
    const session = (await client.#post('/session', {})) as { id: string } // this is the API of the pinned version
    client.#session = session.id
    return client
  }

  async prompt(text: string): Promise<void> {
    this.pieces = []
    const ended = new Promise<void>(resolve => {
      this.#turnEnded = resolve
    })
    await this.#post(`/session/${this.#session}/prompt_async`, { parts: [{ type: 'text', text }] })
    await ended
  }

  async #subscribe(): Promise<void> {
    const { body } = await fetch(`${this.#url}/event`, { headers: this.#headers, signal: this.#closing.signal })
    const events = body?.pipeThrough(new TextDecoderStream()).pipeThrough(new EventSourceParserStream())
    if (!events) throw new Error('opencode sends no events')
    const read = async () => {
      for await (const { data } of events) await this.#receive(JSON.parse(data))
    }
    read().catch(() => {}) // closing the client ends the stream with an error
  }

  async #receive({ type, properties }: OpencodeEvent): Promise<void> {
    if (type === 'message.part.delta' && properties.field === 'text') this.pieces.push(properties.delta ?? '')
    if (type === 'session.idle') this.#turnEnded?.()
    if (type === 'permission.asked') {
      const decision = await this.#person.decide((properties.patterns ?? []).join('\n'))
      // Without a message, a rejected call ends the turn.
      const reply = decision === 'allow' ? { reply: 'once' } : { reply: 'reject', message: 'Not this command.' }
      await this.#post(`/permission/${properties.id}/reply`, reply)
    }
    if (type === 'question.asked') {
      const answers = (properties.questions ?? []).map(({ question, options }) => {
        const labels = options.map(({ label }) => label)
        return [this.#person.choose(question, labels)]
      })
      await this.#post(`/question/${properties.id}/reply`, { answers })
    }
  }

  async #post(path: string, body: object): Promise<unknown> {
    const response = await fetch(this.#url + path, {
      method: 'POST',
      headers: this.#headers,
      body: JSON.stringify(body),
    })
    const text = await response.text()
    if (!response.ok) throw new Error(`opencode refused ${path}: ${response.status} ${text}`)
    return text === '' ? undefined : JSON.parse(text)
  }

  async close(): Promise<void> {
    this.#closing.abort()
    await this.#process.kill()
  }
}
