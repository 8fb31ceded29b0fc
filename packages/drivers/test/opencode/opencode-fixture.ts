/** Test fixture for the opencode driver: the real opencode, a scripted model, an in-memory gateway, and a temporary home folder. */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Input, type Request, type SessionId, uploadAttachments } from '@holdpoint/protocol'
import { ModelServer } from '../../../../test/agents/model/server.ts'
import { expectNoProcessLeft } from '../../../../test/agents/process-check.ts'
import { type AgentRecipe, agentRecipe, createAgentHome } from '../../../../test/agents/recipes.ts'
import { type Driver, opencodeDriver } from '../../src/index.ts'
import { openGatewayInMemory, RunnerFixture, type RunningRunner } from '../runner-fixture.ts'

export class OpencodeFixture extends RunnerFixture {
  readonly home: string
  readonly cwd: string
  readonly model: ModelServer
  readonly #recipe: AgentRecipe
  readonly #config: object
  readonly #remove: () => void

  private constructor(model: ModelServer, opened: Awaited<ReturnType<typeof openGatewayInMemory>>, config: object) {
    super(opened)
    const { home, cwd, remove } = createAgentHome()
    this.home = home
    this.cwd = cwd
    this.#remove = remove
    this.model = model
    this.#config = config
    this.#recipe = agentRecipe('opencode', { model: model.url, home, cwd })
    this.#recipe.prepare()
  }

  /** `config` are settings of opencode, as a person can write them. */
  static async create(config: object = {}): Promise<OpencodeFixture> {
    const fixture = new OpencodeFixture(await ModelServer.start(), await openGatewayInMemory({}), config)
    await fixture.subscribe()
    return fixture
  }

  /** The recipe lets opencode ask, but the driver must do that without the recipe's help. */
  get env() {
    const { permission: _, ...config } = JSON.parse(this.#recipe.env.OPENCODE_CONFIG_CONTENT ?? '')
    const { models } = config.provider.scripted
    models['second-model'] = models['scripted-model']
    return { ...this.#recipe.env, OPENCODE_CONFIG_CONTENT: JSON.stringify({ ...config, ...this.#config }) }
  }
  driver(): Driver {
    return opencodeDriver({ folder: join(this.home, 'driver'), env: this.env })
  }
  override startRunner(drivers: readonly Driver[] = [this.driver()]): RunningRunner {
    return super.startRunner(drivers)
  }
  start(prompt: string, more: Omit<Input<'startSession'>, 'driver' | 'prompt'> = {}): Promise<SessionId> {
    return this.startSession('opencode', { cwd: this.cwd, prompt, ...more })
  }

  /** Waits for the nth request of the test. */
  async nthRequest(nth: number): Promise<Request> {
    return (await this.waitFor(() => this.eventsOf('request.opened')[nth - 1])).value
  }
  getRequest({ id }: Request): Promise<Request> {
    return this.asPerson('getRequest', { id })
  }
  readFile(name: string): string | null {
    const path = join(this.cwd, name)
    return existsSync(path) ? readFileSync(path, 'utf8') : null
  }
  pidOf(session: SessionId): number {
    return JSON.parse(readFileSync(join(this.home, 'driver', session, 'process.json'), 'utf8')).pid
  }

  attachScript(session: SessionId): string {
    return join(this.home, 'driver', session, 'attach')
  }

  async sendFile(id: SessionId, text: string, name: string, content: string): Promise<void> {
    const file = {
      type: 'document',
      mediaType: 'text/plain',
      name,
      data: Buffer.from(content).toString('base64'),
    } as const
    const attachments = await uploadAttachments(this.asPerson, id, [file])
    await this.asPerson('sendMessage', { id, text, attachments })
  }

  /** Calls the server of a session, as an attached terminal does. */
  async callOpencode(session: SessionId, method: string, path: string, body?: object): Promise<unknown> {
    const script = readFileSync(this.attachScript(session), 'utf8')
    const [, url = ''] = /'(http:[^']+)'/.exec(script) ?? []
    const [, password = ''] = /PASSWORD='([^']+)'/.exec(script) ?? []
    const authorization = `Basic ${Buffer.from(`opencode:${password}`).toString('base64')}`
    const response = await fetch(url + path, {
      ...{ method, headers: { authorization, 'content-type': 'application/json' } },
      ...(body ? { body: JSON.stringify(body) } : {}),
    })
    return response.json()
  }
  /** Returns the ids of the permissions and questions that wait in opencode. */
  async pendingInOpencode(session: SessionId): Promise<readonly string[]> {
    const lists = await Promise.all(['/permission', '/question'].map(path => this.callOpencode(session, 'GET', path)))
    return (lists as { id: string }[][]).flat().map(({ id }) => id) // this is the API of the pinned version
  }

  override async close(): Promise<void> {
    await super.close()
    await expectNoProcessLeft(this.home)
    this.#remove()
    await this.model.close()
  }
}
