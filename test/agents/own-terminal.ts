/** A real agent in a person's own terminal, with the hooks of `holdpoint hook install`, a real gateway and a scripted model. */
import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { executableVariable } from '@holdpoint/drivers'
import type { Answer, Request, SessionId } from '@holdpoint/protocol'
import { expect } from 'vitest'
import { type CliResult, runCli } from '../../packages/cli/test/support/cli-process.ts'
import { closeTerminals, keys, Terminal } from '../../packages/cli/test/support/terminal.ts'
import { cleanEnvironment, type GatewayProcess, startGateway } from '../support/gateway.ts'
import { say, shell } from './model/script.ts'
import { ModelServer } from './model/server.ts'
import { processesOf } from './process-check.ts'
import { type AgentRecipe, agentRecipe, createAgentHome } from './recipes.ts'

export class OwnTerminal {
  readonly gateway: GatewayProcess
  readonly model: ModelServer
  readonly home: string
  readonly cwd: string
  readonly #agent: string
  readonly #recipe: AgentRecipe
  readonly #removeHome: () => void
  #calls = 0

  private constructor(agent: string, gateway: GatewayProcess, model: ModelServer) {
    const { home, cwd, remove } = createAgentHome()
    this.#agent = agent
    this.gateway = gateway
    this.model = model
    this.home = home
    this.cwd = realpathSync(cwd)
    this.#removeHome = remove
    this.#recipe = agentRecipe(agent, { model: model.url, home, cwd: this.cwd })
    this.#recipe.prepare()
  }

  static async start(agent: string): Promise<OwnTerminal> {
    return new OwnTerminal(agent, await startGateway({ runner: 'none' }), await ModelServer.start())
  }

  /** Ends the agent, including those of its processes that outlive its terminal. */
  closeAgent(): void {
    closeTerminals()
    for (const { pid } of processesOf(this.home)) {
      try {
        process.kill(pid, 'SIGKILL')
      } catch {
        // The process has already ended.
      }
    }
  }
  async close(): Promise<void> {
    this.closeAgent()
    await this.model.close()
    this.#removeHome()
  }

  get #env(): Record<string, string> {
    const defined = Object.entries(this.#recipe.env).filter(([, value]) => value !== undefined)
    return { ...Object.fromEntries(defined), HOLDPOINT_HOME: this.gateway.home.path } as Record<string, string> // undefined values are left out
  }
  /** Writes the settings with which Claude Code shows no welcome screen and does not ask about the folder or the key. */
  skipWelcomeOfClaude(): void {
    const { CLAUDE_CONFIG_DIR: folder = '', ANTHROPIC_API_KEY: key } = this.#env
    mkdirSync(folder, { recursive: true })
    const projects = { [this.cwd]: { hasTrustDialogAccepted: true, hasCompletedProjectOnboarding: true } }
    const customApiKeyResponses = { approved: [key], rejected: [] }
    const settings = { hasCompletedOnboarding: true, projects, customApiKeyResponses }
    writeFileSync(join(folder, '.claude.json'), JSON.stringify(settings))
  }
  hook(...words: readonly string[]): Promise<CliResult> {
    return this.holdpoint('hook', ...words)
  }
  holdpoint(...words: readonly string[]): Promise<CliResult> {
    const env = { ...cleanEnvironment(), ...this.#env, [executableVariable(this.#agent)]: this.#recipe.command }
    return runCli(words, { cwd: this.cwd, env, input: '' })
  }
  /** Runs a command of the agent that ends by itself, and returns what it prints. */
  async printed(...words: readonly string[]): Promise<string> {
    const env = { ...cleanEnvironment(), ...this.#env }
    const { stdout, stderr } = await promisify(execFile)(this.#recipe.command, words, { cwd: this.cwd, env })
    return stdout + stderr
  }
  open(args: readonly string[]): Terminal {
    const { command } = this.#recipe
    return new Terminal(args, { program: command, columns: 110, rows: 40, cwd: this.cwd, env: this.#env })
  }

  /** Types a prompt for which the model runs one command that writes a file with this name. Returns the id of the call. */
  async prompt(terminal: Terminal, name: string): Promise<string> {
    const id = `call_${this.#agent}_${++this.#calls}`
    const text = `please write ${name}`
    this.model.script(text, shell(`echo ran >> ${name}.txt`, id), say(`finished ${id}`))
    terminal.press(text)
    await terminal.waitFor(text)
    await terminal.pause()
    terminal.press(keys.enter)
    return id
  }
  /** Returns the content of a file in the folder, or null if the file does not exist. */
  readFile(name: string): string | null {
    const path = join(this.cwd, name)
    return existsSync(path) ? readFileSync(path, 'utf8') : null
  }
  hasRun(name: string): boolean {
    return existsSync(join(this.cwd, `${name}.txt`))
  }

  async pending(): Promise<Request> {
    const find = async () => (await this.gateway.call('listRequests', { status: 'pending' })).items[0]
    await expect.poll(find).toBeDefined()
    return (await find()) as Request // checked above
  }
  answer({ id, digest }: Request, answer: Answer): Promise<unknown> {
    return this.gateway.call('answerRequest', { id, digest, answer })
  }
  async pendingCount(): Promise<number> {
    return (await this.gateway.call('listRequests', { status: 'pending' })).items.length
  }
  async requestOf({ id }: Request): Promise<Request> {
    return this.gateway.call('getRequest', { id })
  }
  async sessionState(id: SessionId): Promise<string> {
    return (await this.gateway.call('getSession', { id })).state
  }
  async transcript(id: SessionId): Promise<string> {
    return JSON.stringify((await this.gateway.call('listEvents', { id, limit: 200 })).items)
  }
  /** Returns the newest session of this folder. */
  async session(): Promise<SessionId> {
    const find = async () => (await this.gateway.call('listSessions', {})).items.find(({ cwd }) => cwd === this.cwd)
    await expect.poll(find).toBeDefined()
    return (await find())?.id as SessionId // checked above
  }
}
