/** How each agent is started offline against the scripted model, with a home folder of its own. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { agentExecutable } from './install.mjs'

export interface RecipeOptions {
  /** The URL of the scripted model. */
  readonly model: string
  /** The home folder of the agent, which should be empty. */
  readonly home: string
  /** The folder in which the agent works. */
  readonly cwd: string
}

/** How to start an agent. A driver under test gets `env` and finds the agent through `HOLDPOINT_<NAME>`. */
export interface AgentRecipe {
  readonly command: string
  /** The arguments with which a bare client starts the agent. */
  readonly args: readonly string[]
  /** The whole environment, without variables of this process other than PATH. */
  readonly env: Readonly<Record<string, string>>
  /** Creates the folders and settings files. */
  prepare(): void
}

type AgentParts = {
  readonly args: readonly string[]
  readonly env?: Readonly<Record<string, string>>
  /** Settings files by their path in the home folder. */
  readonly files?: Readonly<Record<string, string>>
}

const recipes: Readonly<Record<string, (options: RecipeOptions) => AgentParts>> = {
  codex: options => ({
    args: ['app-server'],
    env: { CODEX_HOME: join(options.home, '.codex') },
    files: { '.codex/config.toml': codexConfig(options) },
  }),
}
export type AgentName = keyof typeof recipes

export function agentRecipe(name: AgentName, options: RecipeOptions): AgentRecipe {
  const parts = recipes[name]?.(options)
  if (!parts) throw new Error(`There is no recipe for ${name}.`)
  const { home, cwd } = options
  const command = agentExecutable(name)
  const env = {
    PATH: process.env.PATH ?? '',
    HOME: home,
    LANG: 'C.UTF-8',
    TMPDIR: join(home, 'tmp'),
    [`HOLDPOINT_${name.toUpperCase().replaceAll('-', '_')}`]: command,
    ...parts.env,
  }
  const prepare = () => {
    for (const folder of [cwd, join(home, 'tmp')]) mkdirSync(folder, { recursive: true })
    for (const [path, text] of Object.entries(parts.files ?? {})) {
      mkdirSync(dirname(join(home, path)), { recursive: true })
      writeFileSync(join(home, path), text)
    }
  }
  return { command, args: parts.args, env, prepare }
}

/** Creates an empty home folder with a working folder in it. */
export function createAgentHome(): { readonly home: string; readonly cwd: string; remove(): void } {
  const home = mkdtempSync(join(tmpdir(), 'holdpoint-agent-'))
  const cwd = join(home, 'work')
  mkdirSync(cwd)
  return { home, cwd, remove: () => rmSync(home, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 }) }
}

/** Switches off everything that reaches for the network. The model is unknown to codex, which is harmless. */
const codexConfig = ({ model, cwd }: RecipeOptions) => `
model = "scripted-model"
model_provider = "scripted"
approval_policy = "on-request"
sandbox_mode = "read-only"
check_for_update_on_startup = false
web_search = "disabled"
suppress_unstable_features_warning = true
[analytics]
enabled = false
[feedback]
enabled = false
[model_providers.scripted]
name = "Scripted"
base_url = "${model}/v1"
wire_api = "responses"
requires_openai_auth = false
supports_websockets = false
request_max_retries = 0
stream_max_retries = 0
[features]
# Without this, codex offers the model no way to ask the person in its default mode.
default_mode_request_user_input = true
apps = false
plugins = false
remote_plugin = false
plugin_sharing = false
shell_snapshot = false
multi_agent = false
[projects.${JSON.stringify(cwd)}]
trust_level = "trusted"
`
