/** Test fixture for the opencode driver: the fixture of all agents, with settings of opencode and calls of its server. */
import { join } from 'node:path'
import type { SessionId } from '@holdpoint/protocol'
import { AgentFixture, type AgentParts, openAgentParts } from '../conformance/agent-fixture.ts'
import { readAttachScript } from '../conformance/attach-script.ts'

export class OpencodeFixture extends AgentFixture {
  readonly #config: object

  private constructor(parts: AgentParts, config: object) {
    super('opencode', parts)
    this.#config = config
  }

  /** `config` are settings of opencode, as a person can write them. */
  static async create(config: object = {}): Promise<OpencodeFixture> {
    const fixture = new OpencodeFixture(await openAgentParts(), config)
    await fixture.subscribe()
    return fixture
  }

  /** The recipe lets opencode ask, but the driver must do that without the recipe's help. */
  override get env() {
    const { permission: _, ...config } = JSON.parse(this.recipe.env.OPENCODE_CONFIG_CONTENT ?? '')
    const { models } = config.provider.scripted
    models['second-model'] = models['scripted-model']
    return { ...this.recipe.env, OPENCODE_CONFIG_CONTENT: JSON.stringify({ ...config, ...this.#config }) }
  }

  attachScript(session: SessionId): string {
    return join(this.driverFolder, session, 'attach')
  }
  sendFile(id: SessionId, text: string, name: string, content: string): Promise<void> {
    const data = Buffer.from(content).toString('base64')
    return this.sendFiles(id, text, [{ type: 'document', mediaType: 'text/plain', name, data }])
  }

  /** Calls the server of a session, as an attached terminal does. */
  async callOpencode(session: SessionId, method: string, path: string, body?: object): Promise<unknown> {
    const { url, headers } = readAttachScript(this.attachScript(session))
    const response = await fetch(url + path, { method, headers, ...(body ? { body: JSON.stringify(body) } : {}) })
    return response.json()
  }
  /** Returns the ids of the permissions and questions that wait in opencode. */
  async pendingInOpencode(session: SessionId): Promise<readonly string[]> {
    const lists = await Promise.all(['/permission', '/question'].map(path => this.callOpencode(session, 'GET', path)))
    return (lists as { id: string }[][]).flat().map(({ id }) => id) // this is the API of the pinned version
  }
}
