/** `holdpoint mcp install` and `remove`: adds `holdpoint mcp` to the settings of an agent, and removes it again. Agents that have a command for this change their settings themselves. */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { executableVariable, withoutHoldpointVariables } from '@holdpoint/drivers'
import { Fault } from '@holdpoint/protocol'
import { openDataFolder } from '../config/data-folder.ts'
import { formatLike, isObject, parseSettings, writeSettings } from '../hooks/hook-settings.ts'
import { mcpTexts } from './texts.ts'

interface InstallOptions {
  readonly home?: string
}

/** The name of the server in the settings of agents. Claude Code calls the tools mcp__holdpoint__ask_person and mcp__holdpoint__request_approval. */
const serverName = 'holdpoint'

/** How long agents wait for a call, because a person may answer only after days. By default, Codex gives up after a minute, and Gemini after ten. */
const callMaxSeconds = 7 * 24 * 3600

interface AgentCommands {
  add(words: readonly string[]): readonly string[]
  readonly remove: readonly string[]
  /** Changes what the agent has written, if its command has no option for it. */
  readonly afterAdd?: () => void
}

/** The arguments of each agent's own command. */
const agentCommands: Readonly<Record<string, AgentCommands>> = {
  claude: {
    add: words => ['mcp', 'add', '--scope', 'user', serverName, '--', ...words],
    remove: ['mcp', 'remove', '--scope', 'user', serverName],
  },
  codex: {
    add: words => ['mcp', 'add', serverName, '--', ...words],
    remove: ['mcp', 'remove', serverName],
    afterAdd: allowLongCallsOfCodex,
  },
  gemini: {
    add: words => ['mcp', 'add', '--scope', 'user', '--timeout', `${callMaxSeconds * 1000}`, serverName, ...words],
    remove: ['mcp', 'remove', '--scope', 'user', serverName],
  },
}

export function installMcp(agent: string, { home }: InstallOptions): void {
  const words = serverCommand(home)
  const commands = agentCommands[agent]
  if (commands) {
    // The agent refuses to add a server that is already there, so remove the server first: this program may have moved since it was added.
    runAgent(agent, commands.remove)
    requireSuccess(agent, runAgent(agent, commands.add(words)))
    commands.afterAdd?.()
  } else
    changeOpencode(servers => ({ ...servers, [serverName]: { type: 'local', command: [...words], enabled: true } }))
  console.log(mcpTexts.installed(agent))
}

export function removeMcp(agent: string): void {
  const commands = agentCommands[agent]
  const isRemoved = commands
    ? removeWithAgent(agent, commands.remove)
    : changeOpencode(({ [serverName]: _, ...others }) => others)
  console.log(isRemoved ? mcpTexts.removed(agent) : mcpTexts.notInstalled(agent))
}

/** What the agents print if the server is not in their settings. Codex and Gemini exit with code 0 in that case, and Claude Code with an error. */
const missingServerTexts = ['No MCP server named', `"${serverName}" not found in`]

/** Returns false if the server was not in the settings of the agent. */
function removeWithAgent(agent: string, words: readonly string[]): boolean {
  const run = runAgent(agent, words)
  if (missingServerTexts.some(text => run.output.includes(text))) return false
  requireSuccess(agent, run)
  return true
}

/** Returns the command that starts the server. It contains no token: the server reads the token from the data folder. */
function serverCommand(home: string | undefined): readonly string[] {
  const [node = '', program = ''] = process.argv
  if (program.split('/').includes('_npx')) throw new Fault('unsupported', mcpTexts.fromCache)
  // An option of this command could be taken for one of the agent's, so the folder is in a variable.
  const folder = home === undefined ? [] : ['env', `HOLDPOINT_HOME=${openDataFolder(home).path}`]
  return [...folder, node, program, 'mcp']
}

interface AgentRun {
  readonly code: number | null
  readonly output: string
}

function runAgent(agent: string, words: readonly string[]): AgentRun {
  const program = process.env[executableVariable(agent)] || agent
  const env = withoutHoldpointVariables(process.env) as NodeJS.ProcessEnv // an environment without some of its variables
  const { status, stdout, stderr, error } = spawnSync(program, words, { env, encoding: 'utf8' })
  if (error) throw new Fault('not_found', mcpTexts.agentMissing(agent, program, executableVariable(agent)))
  return { code: status, output: `${stdout}${stderr}`.trim() }
}
function requireSuccess(agent: string, { code, output }: AgentRun): void {
  if (code !== 0) throw new Fault('unsupported', mcpTexts.agentRefused(agent, output))
}

/** Adds the time limit to the table of our server, which Codex has just written. */
function allowLongCallsOfCodex(): void {
  const file = join(process.env.CODEX_HOME || join(homedir(), '.codex'), 'config.toml')
  const text = existsSync(file) ? readFileSync(file, 'utf8') : ''
  const table = `[mcp_servers.${serverName}]\n`
  if (text.split(table).length !== 2) return
  writeSettings(file, text.replace(table, `${table}tool_timeout_sec = ${callMaxSeconds}\n`))
}

type Servers = Readonly<Record<string, unknown>>

/** Changes the list of servers in the settings of opencode, whose own command for this needs a terminal. Returns false if the change leaves the list as it is. */
function changeOpencode(change: (servers: Servers) => Servers): boolean {
  const folder = join(process.env.XDG_CONFIG_HOME || join(homedir(), '.config'), 'opencode')
  const file = join(folder, 'opencode.json')
  const withComments = join(folder, 'opencode.jsonc')
  if (existsSync(withComments)) throw new Fault('unsupported', mcpTexts.hasComments(withComments))
  const before = existsSync(file) ? readFileSync(file, 'utf8') : null
  const settings = parseSettings(file, before ?? '{}')
  const { mcp = {}, ...others } = settings
  if (!isObject(mcp)) throw new Fault('bad_input', mcpTexts.noList(file))
  const servers = change(mcp)
  // The order of the settings stays as it is, and an empty list is removed.
  const next = Object.keys(servers).length === 0 ? others : { ...settings, mcp: servers }
  if (JSON.stringify(next) === JSON.stringify(settings)) return false
  mkdirSync(dirname(file), { recursive: true })
  writeSettings(file, formatLike(before, next))
  return true
}
