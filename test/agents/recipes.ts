/** Recipes for starting each agent offline against the scripted model, with its own home folder. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { scriptedEnvironment } from '../../packages/drivers/src/claude/setup/scripted-model.ts'
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
  readonly env: Readonly<Record<string, string | undefined>>
  /** Creates the folders and settings files. */
  prepare(): void
}

interface AgentParts {
  readonly args: readonly string[]
  readonly env?: Readonly<Record<string, string | undefined>>
  /** Settings files by their path in the home folder. */
  readonly files?: Readonly<Record<string, string>>
}

const recipes: Readonly<Record<string, (options: RecipeOptions) => AgentParts>> = {
  // A client of Claude Code chooses the arguments.
  claude: ({ model, home }) => ({ args: [], env: claudeEnvironment(model, home) }),
  codex: options => ({ args: ['app-server'], ...codexHome(options) }),
  'codex-acp': options => {
    const { env, files } = codexHome(options)
    return { args: [], env: { ...env, NO_BROWSER: '1', INITIAL_AGENT_MODE: 'read-only' }, files }
  },
  opencode: ({ model }) => ({
    // With port 0, opencode uses port 4096, or any free port if that one is taken.
    args: ['serve', '--port', '0', '--hostname', '127.0.0.1'],
    env: {
      OPENCODE_CONFIG_CONTENT: JSON.stringify(opencodeConfig(model)),
      OPENCODE_SERVER_PASSWORD: 'scripted',
      OPENCODE_DISABLE_MODELS_FETCH: '1',
      OPENCODE_DISABLE_AUTOUPDATE: '1',
      OPENCODE_DISABLE_LSP_DOWNLOAD: '1',
      OPENCODE_DISABLE_DEFAULT_PLUGINS: '1',
      OPENCODE_DISABLE_SHARE: '1',
      OPENCODE_DISABLE_CLAUDE_CODE: '1',
      // opencode always tries to install a plugin in the background. In these tests, the installation fails at once, which is harmless.
      npm_config_registry: 'http://127.0.0.1:9/',
    },
  }),
  gemini: ({ model }) => ({
    args: ['--acp', '-m', 'gemini-2.5-flash'],
    env: {
      GEMINI_API_KEY: 'scripted',
      GOOGLE_GEMINI_BASE_URL: model,
      GEMINI_CLI_NO_RELAUNCH: 'true',
      GEMINI_CLI_TRUST_WORKSPACE: 'true',
    },
    files: { '.gemini/settings.json': JSON.stringify(geminiSettings('gemini-api-key')) },
  }),
  qwen: ({ model }) => ({
    // Without this mode, the model itself approves some calls.
    args: ['--acp', '--auth-type', 'openai', '--approval-mode', 'default'],
    env: { OPENAI_API_KEY: 'scripted', OPENAI_BASE_URL: `${model}/v1`, OPENAI_MODEL: 'scripted-model' },
    files: {
      '.qwen/settings.json': JSON.stringify({
        ...geminiSettings('openai'),
        // These features would call the model after each turn.
        memory: { enableManagedAutoMemory: false, enableManagedAutoDream: false },
        ui: { enableFollowupSuggestions: false },
      }),
    },
  }),
  goose: ({ model }) => ({
    args: ['acp', '--with-builtin', 'developer'],
    env: {
      GOOSE_PROVIDER: 'openai',
      GOOSE_MODEL: 'gpt-4o',
      GOOSE_MODE: 'approve',
      GOOSE_DISABLE_KEYRING: '1',
      GOOSE_TELEMETRY_ENABLED: 'false',
      OPENAI_HOST: model,
      OPENAI_BASE_PATH: 'v1/chat/completions',
      OPENAI_API_KEY: 'scripted',
    },
  }),
  copilot: ({ model, home }) => ({
    args: ['--acp', '--no-auto-update'],
    env: {
      COPILOT_OFFLINE: 'true',
      COPILOT_HOME: join(home, '.copilot'),
      COPILOT_PROVIDER_BASE_URL: `${model}/v1`,
      COPILOT_PROVIDER_TYPE: 'openai',
      COPILOT_PROVIDER_API_KEY: 'scripted',
      COPILOT_MODEL: 'scripted-model',
      COPILOT_AUTO_UPDATE: 'false',
    },
  }),
  'claude-agent-acp': ({ model, home }) => ({
    args: [],
    env: { ...claudeEnvironment(model, home), ANTHROPIC_MODEL: 'scripted-model', DISABLE_ERROR_REPORTING: '1' },
  }),
}

export function agentRecipe(name: string, options: RecipeOptions): AgentRecipe {
  const parts = recipes[name]?.(options)
  if (!parts) throw new Error(`There is no recipe for ${name}.`)
  const { home, cwd } = options
  const command = name === 'claude' ? claudeExecutable() : agentExecutable(name)
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

/** Claude Code is a native program of the Bun runtime. Without garbage collection and compilation to machine code, it needs a third less CPU time in the few seconds of a test. */
const claudeEnvironment = (model: string, home: string) => ({
  ...scriptedEnvironment(model, home),
  BUN_JSC_useGC: '0',
  BUN_JSC_useBaselineJIT: '0',
})
/** Claude Code comes with its SDK, which is a dependency of the workspace. */
export function claudeExecutable(): string {
  const require = createRequire(import.meta.url)
  return require.resolve(`@anthropic-ai/claude-agent-sdk-${process.platform}-${process.arch}/claude`)
}

const codexHome = (options: RecipeOptions) => ({
  env: { CODEX_HOME: join(options.home, '.codex') },
  files: { '.codex/config.toml': codexConfig(options) },
})

const opencodeConfig = (model: string) => ({
  model: 'scripted/scripted-model',
  small_model: 'scripted/scripted-model',
  enabled_providers: ['scripted'],
  autoupdate: false,
  share: 'disabled',
  provider: {
    scripted: {
      npm: '@ai-sdk/openai-compatible',
      name: 'Scripted',
      options: { baseURL: `${model}/v1`, apiKey: 'scripted' },
      models: {
        'scripted-model': { name: 'Scripted', tool_call: true, limit: { context: 128_000, output: 8192 } },
      },
    },
  },
  permission: { edit: 'ask', bash: 'ask', webfetch: 'ask', external_directory: 'ask' },
})

/** The settings of gemini, which qwen shares because it began as a copy of gemini. */
const geminiSettings = (selectedType: string) => ({
  security: { auth: { selectedType }, folderTrust: { enabled: false } },
  general: { enableAutoUpdate: false },
  privacy: { usageStatisticsEnabled: false },
  telemetry: { enabled: false },
  ide: { enabled: false },
})

/** Turns off everything that uses the network. Codex does not know the model, which is harmless. */
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
