/** Test fixture for the Codex driver: the fixture of all agents, with settings of Codex and a second client. */
import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { SessionId } from '@holdpoint/protocol'
import { RpcClient } from '../../src/codex/rpc-client.ts'
import { type CodexOptions, codexDriver, type Driver } from '../../src/index.ts'
import { AgentFixture, type AgentParts, openAgentParts } from '../conformance/agent-fixture.ts'
import type { RunnerFixtureOptions } from '../runner-fixture.ts'

export interface CodexFixtureOptions extends RunnerFixtureOptions, Omit<Partial<CodexOptions>, 'clock'> {
  /** Lines to add to the settings of Codex. */
  readonly config?: string
}

export class CodexFixture extends AgentFixture {
  readonly #options: CodexFixtureOptions

  private constructor(parts: AgentParts, options: CodexFixtureOptions) {
    super('codex', parts)
    this.#options = options
    // The driver itself switches this feature on.
    this.#changeSettings(settings => settings.replace('default_mode_request_user_input = true\n', ''))
    if (options.config !== undefined) appendFileSync(this.configFile, options.config)
  }

  static async create(options: CodexFixtureOptions = {}): Promise<CodexFixture> {
    const fixture = new CodexFixture(await openAgentParts(options), options)
    await fixture.subscribe()
    return fixture
  }

  get configFile(): string {
    return join(this.home, '.codex', 'config.toml')
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

  #executable: string | undefined
  /** Makes the driver talk to Codex through a proxy. Call this before the runner starts. */
  useProxy(): void {
    const words = [process.execPath, join(import.meta.dirname, 'cutting-proxy.mjs'), this.recipe.command, this.#cutFile]
    this.#executable = join(this.home, 'codex-with-proxy.sh')
    writeFileSync(this.#executable, `#!/bin/sh\nexec ${words.map(word => `'${word}'`).join(' ')} "$@"\n`, {
      mode: 0o755,
    })
  }
  /** Makes the proxy lose the next message of this kind together with the connection. */
  cutAt(message: 'reply' | 'turn/steer'): void {
    writeFileSync(this.#cutFile, message)
  }
  /** Returns whether the proxy has still not lost the message. */
  get isCutAwaited(): boolean {
    return existsSync(this.#cutFile)
  }
  get #cutFile(): string {
    return join(this.home, 'cut')
  }
  override get env(): AgentFixture['env'] {
    return { ...super.env, ...(this.#executable !== undefined && { HOLDPOINT_CODEX: this.#executable }) }
  }

  override driver(): Driver {
    const { clock, idleParkMs } = this.#options
    return codexDriver({
      ...{ folder: this.driverFolder, env: this.env, protectedFolder: this.driverFolder },
      ...(clock ? { clock } : {}),
      ...(idleParkMs === undefined ? {} : { idleParkMs }),
    })
  }

  socketOf(session: SessionId): string {
    return join(this.driverFolder, session, 'codex.sock')
  }
  /** Connects a second client to the server of a session, as a terminal does. */
  async connectTerminal(session: SessionId): Promise<RpcClient> {
    return RpcClient.open(this.socketOf(session))
  }
}
