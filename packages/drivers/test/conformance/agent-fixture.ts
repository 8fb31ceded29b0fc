/** Test fixture for the real agents: the agent with its driver, a scripted model, an in-memory gateway, and a temporary home folder. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type AttachmentFile, type Input, type Request, type SessionId, uploadAttachments } from '@holdpoint/protocol'
import { ModelServer } from '../../../../test/agents/model/server.ts'
import { expectNoProcessLeft } from '../../../../test/agents/process-check.ts'
import { type AgentRecipe, agentRecipe, createAgentHome } from '../../../../test/agents/recipes.ts'
import {
  acpDriver,
  acpProfiles,
  claudeDriver,
  codexDriver,
  type Driver,
  opencodeDriver,
  type ProjectSettings,
} from '../../src/index.ts'
import {
  type EventOf,
  openGatewayInMemory,
  RunnerFixture,
  type RunnerFixtureOptions,
  type RunningRunner,
} from '../runner-fixture.ts'
import { type WatchMachine, watchMachine } from '../watch-machine.ts'

/** What a fixture is made of. */
export interface AgentParts {
  readonly folders: ReturnType<typeof createAgentHome>
  readonly model: ModelServer
  readonly opened: Awaited<ReturnType<typeof openGatewayInMemory>>
  readonly watchers: WatchMachine
}

export async function openAgentParts(options: RunnerFixtureOptions = {}): Promise<AgentParts> {
  const folders = createAgentHome()
  const watchers = watchMachine(folders.home)
  const opened = await openGatewayInMemory({ machine: watchers.machine, ...options })
  return { folders, model: await ModelServer.start(), opened, watchers }
}

export class AgentFixture extends RunnerFixture {
  readonly name: string
  readonly home: string
  readonly cwd: string
  readonly model: ModelServer
  /** The person's own file with watchers. */
  readonly watchers: WatchMachine
  protected readonly recipe: AgentRecipe
  readonly #remove: () => void
  #runner: RunningRunner | null = null

  protected constructor(name: string, { folders, model, opened, watchers }: AgentParts) {
    super(opened)
    const { home, cwd, remove } = folders
    this.name = name
    this.home = home
    this.cwd = cwd
    this.#remove = remove
    this.model = model
    this.watchers = watchers
    this.recipe = agentRecipe(name, { model: model.url, home, cwd })
    this.recipe.prepare()
  }

  static async of(name: string): Promise<AgentFixture> {
    const fixture = new AgentFixture(name, await openAgentParts())
    await fixture.subscribe()
    return fixture
  }

  get driverFolder(): string {
    return join(this.home, 'driver')
  }
  get env(): Readonly<Record<string, string | undefined>> {
    return this.recipe.env
  }
  /** Decides about the settings that a folder has for the agent. By default, none are trusted. */
  trustsProjectSettings: (settings: ProjectSettings) => boolean = () => false
  driver(): Driver {
    const trustsProjectSettings = (settings: ProjectSettings) => this.trustsProjectSettings(settings)
    const options = { folder: this.driverFolder, env: this.env, trustsProjectSettings }
    if (this.name === 'claude') return claudeDriver({ ...options, settingSources: [] })
    if (this.name === 'codex') return codexDriver({ ...options, protectedFolder: this.driverFolder })
    if (this.name === 'opencode') return opencodeDriver(options)
    const profile = acpProfiles.find(({ name }) => name === this.name)
    if (!profile) throw new Error(`there is no profile for ${this.name}`)
    // The recipe has arguments for the scripted model, such as the kind of sign-in.
    return acpDriver({ ...profile, args: this.recipe.args }, options)
  }

  override startRunner(drivers: readonly Driver[] = [this.driver()]): RunningRunner {
    this.#runner = super.startRunner(drivers)
    return this.#runner
  }
  async stopRunner(): Promise<void> {
    await this.#runner?.stop()
  }
  start(prompt: string, more: Omit<Input<'startSession'>, 'driver' | 'prompt'> = {}): Promise<SessionId> {
    return this.startSession(this.name, { cwd: this.cwd, prompt, ...more })
  }
  readonly goesOnInTurn = false
  async send(id: SessionId, text: string): Promise<void> {
    await this.asPerson('sendMessage', { id, text })
  }
  async sendFiles(id: SessionId, text: string, files: readonly AttachmentFile[]): Promise<void> {
    const attachments = await uploadAttachments(this.asPerson, id, files)
    await this.asPerson('sendMessage', { id, text, attachments })
  }

  #requestsBefore = 0
  #turnsBefore = 0
  #callsBefore = 0
  /** Starts to count requests, turns and calls of the model again. Call this before each test. */
  beginTest(): void {
    this.#requestsBefore = this.eventsOf('request.opened').length
    this.#turnsBefore = this.eventsOf('turn.finished').length
    this.#callsBefore = this.model.calls.length
  }
  /** Waits for the nth request since `beginTest`. */
  nextRequest(nth = 1): Promise<Request> {
    return this.nthRequest(this.#requestsBefore + nth)
  }
  /** The number of requests since `beginTest`. */
  get requestCount(): number {
    return this.eventsOf('request.opened').length - this.#requestsBefore
  }
  get turnCount(): number {
    return this.eventsOf('turn.finished').length - this.#turnsBefore
  }
  /** Waits for the end of the nth turn since `beginTest`. */
  turnEnd(nth = 1): Promise<EventOf<'turn.finished'>> {
    return this.waitForTurnEnd(this.#turnsBefore + nth)
  }
  /** Returns whether the model has read the text since `beginTest`. */
  hasRead(text: string): boolean {
    const json = JSON.stringify(text).slice(1, -1)
    return this.model.calls.slice(this.#callsBefore).some(({ body }) => body.includes(json))
  }
  async deliveryOf(request: Request): Promise<string> {
    return (await this.getRequest(request)).delivery.state
  }

  /** Waits for the nth request of all tests. */
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
  pidOf(session: SessionId): number {
    return JSON.parse(readFileSync(join(this.driverFolder, session, 'process.json'), 'utf8')).pid
  }

  /** Ends all sessions, and checks that they leave no process. Call this after each test. */
  async endTest(): Promise<void> {
    this.watchers.write({})
    const { items } = await this.asPerson('listSessions', {})
    const open = items.filter(({ state }) => state !== 'ended')
    await Promise.all(open.map(({ id }) => this.asPerson('endSession', { id })))
    for (const { id } of open) await this.waitForEvent('session.ended', event => event.session === id)
    await this.expectNoProcess()
  }
  async expectNoProcess(): Promise<void> {
    await expectNoProcessLeft(this.home)
  }

  override async close(): Promise<void> {
    await super.close()
    await this.expectNoProcess()
    this.#remove()
    await this.model.close()
  }
}
