/** Test fixture for the Codex driver: the real Codex, a scripted model, an in-memory gateway, and a temporary home folder. */
import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type AttachmentFile, type Input, type Request, type SessionId, uploadAttachments } from '@holdpoint/protocol'
import { ModelServer } from '../../../../test/agents/model/server.ts'
import { expectNoProcessLeft } from '../../../../test/agents/process-check.ts'
import { type AgentRecipe, agentRecipe, createAgentHome } from '../../../../test/agents/recipes.ts'
import { RpcClient } from '../../src/codex/rpc-client.ts'
import { type CodexOptions, codexDriver, type Driver } from '../../src/index.ts'
import { openGatewayInMemory, RunnerFixture, type RunnerFixtureOptions, type RunningRunner } from '../runner-fixture.ts'

export interface CodexFixtureOptions extends RunnerFixtureOptions, Omit<Partial<CodexOptions>, 'clock'> {
  /** Lines to add to the settings of Codex. */
  readonly config?: string
}

/** Runs the real Codex against a scripted model. */
export class CodexFixture extends RunnerFixture {
  readonly home: string
  readonly cwd: string
  readonly model: ModelServer
  readonly #recipe: AgentRecipe
  readonly #options: CodexFixtureOptions
  readonly #remove: () => void
  #runner: RunningRunner | null = null

  private constructor(
    { home, cwd, remove }: ReturnType<typeof createAgentHome>,
    model: ModelServer,
    opened: Awaited<ReturnType<typeof openGatewayInMemory>>,
    options: CodexFixtureOptions,
  ) {
    super(opened)
    this.home = home
    this.cwd = cwd
    this.#remove = remove
    this.model = model
    this.#options = options
    this.#recipe = agentRecipe('codex', { model: model.url, home, cwd })
    this.#recipe.prepare()
    // The driver switches this feature on itself.
    this.#changeSettings(settings => settings.replace('default_mode_request_user_input = true\n', ''))
    if (options.config !== undefined) appendFileSync(this.configFile, options.config)
  }

  static async create(options: CodexFixtureOptions = {}): Promise<CodexFixture> {
    const model = await ModelServer.start()
    const fixture = new CodexFixture(createAgentHome(), model, await openGatewayInMemory(options), options)
    await fixture.subscribe()
    return fixture
  }

  get configFile(): string {
    return join(this.home, '.codex', 'config.toml')
  }
  get env() {
    return this.#recipe.env
  }
  /** Switches on a feature of Codex that is off by default. Call this before the runner starts. */
  enableFeature(name: string): void {
    this.#changeSettings(settings =>
      settings.replace(`${name} = false\n`, '').replace('[features]\n', `[features]\n${name} = true\n`),
    )
  }
  #changeSettings(change: (settings: string) => string): void {
    writeFileSync(this.configFile, change(readFileSync(this.configFile, 'utf8')))
  }

  driver(): Driver {
    const { clock, idleParkMs } = this.#options
    return codexDriver({
      folder: join(this.home, 'driver'),
      env: this.env,
      protectedFolder: join(this.home, 'driver'),
      ...(clock ? { clock } : {}),
      ...(idleParkMs === undefined ? {} : { idleParkMs }),
    })
  }
  override startRunner(drivers: readonly Driver[] = [this.driver()]): RunningRunner {
    this.#runner = super.startRunner(drivers)
    return this.#runner
  }
  async stopRunner(): Promise<void> {
    await this.#runner?.stop()
  }
  async startCodex(prompt: string, more: Omit<Input<'startSession'>, 'driver' | 'prompt'> = {}): Promise<SessionId> {
    return this.startSession('codex', { cwd: this.cwd, prompt, ...more })
  }

  async sendFiles(id: SessionId, text: string, files: readonly AttachmentFile[]): Promise<void> {
    const attachments = await uploadAttachments(this.asPerson, id, files)
    await this.asPerson('sendMessage', { id, text, attachments })
  }

  /** Waits for the nth request of the test. */
  async nthRequest(nth = 1): Promise<Request> {
    return (await this.waitFor(() => this.eventsOf('request.opened')[nth - 1])).value
  }
  getRequest({ id }: Request): Promise<Request> {
    return this.asPerson('getRequest', { id })
  }

  /** Returns the content of a file in the working folder, or null if the file does not exist. */
  readFile(name: string): string | null {
    const path = join(this.cwd, name)
    return existsSync(path) ? readFileSync(path, 'utf8') : null
  }
  writeFile(name: string, text: string): void {
    writeFileSync(join(this.cwd, name), text)
  }

  socketOf(session: SessionId): string {
    return join(this.home, 'driver', session, 'codex.sock')
  }
  pidOf(session: SessionId): number {
    return JSON.parse(readFileSync(join(this.home, 'driver', session, 'process.json'), 'utf8')).pid
  }
  /** Connects a second client to the server of a session, as a terminal does. */
  async connectTerminal(session: SessionId): Promise<RpcClient> {
    return RpcClient.open(this.socketOf(session))
  }

  override async close(): Promise<void> {
    await super.close()
    await expectNoProcessLeft(this.home)
    this.#remove()
    await this.model.close()
  }
}
