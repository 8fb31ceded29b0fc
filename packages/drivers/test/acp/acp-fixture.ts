/** Test fixture for agents that speak the Agent Client Protocol: the real agent, a scripted model, an in-memory gateway, and a temporary home folder. */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Request, SessionId } from '@holdpoint/protocol'
import { ModelServer } from '../../../../test/agents/model/server.ts'
import { expectNoProcessLeft } from '../../../../test/agents/process-check.ts'
import { type AgentRecipe, agentRecipe, createAgentHome } from '../../../../test/agents/recipes.ts'
import { acpDriver, acpProfiles, type Driver } from '../../src/index.ts'
import { openGatewayInMemory, RunnerFixture, type RunningRunner } from '../runner-fixture.ts'

export class AcpFixture extends RunnerFixture {
  readonly name: string
  readonly home: string
  readonly cwd: string
  readonly model: ModelServer
  readonly #recipe: AgentRecipe
  readonly #remove: () => void

  private constructor(name: string, model: ModelServer, opened: Awaited<ReturnType<typeof openGatewayInMemory>>) {
    super(opened)
    const { home, cwd, remove } = createAgentHome()
    this.name = name
    this.home = home
    this.cwd = cwd
    this.#remove = remove
    this.model = model
    this.#recipe = agentRecipe(name, { model: model.url, home, cwd })
    this.#recipe.prepare()
  }

  static async create(name: string): Promise<AcpFixture> {
    const fixture = new AcpFixture(name, await ModelServer.start(), await openGatewayInMemory({}))
    await fixture.subscribe()
    return fixture
  }

  driver(): Driver {
    const profile = acpProfiles.find(({ name }) => name === this.name)
    if (!profile) throw new Error(`there is no profile for ${this.name}`)
    // The recipe has arguments for the scripted model, such as the kind of sign-in.
    return acpDriver(
      { ...profile, args: this.#recipe.args },
      { folder: join(this.home, 'driver'), env: this.#recipe.env },
    )
  }
  override startRunner(drivers: readonly Driver[] = [this.driver()]): RunningRunner {
    return super.startRunner(drivers)
  }
  start(prompt: string): Promise<SessionId> {
    return this.startSession(this.name, { cwd: this.cwd, prompt })
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

  override async close(): Promise<void> {
    await super.close()
    await expectNoProcessLeft(this.home)
    this.#remove()
    await this.model.close()
  }
}
