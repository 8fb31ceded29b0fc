/** `holdpoint hook install`, `status` and `remove`: connects an agent of a person's own terminal to Holdpoint. */
import { existsSync } from 'node:fs'
import { type TerminalAgentName, terminalAgents } from '@holdpoint/drivers'
import { Fault } from '@holdpoint/protocol'
import { type DataFolder, openDataFolder, runningProcess } from '../config/data-folder.ts'
import { printNotice } from '../output/notice.ts'
import { shellQuote } from '../output/shell-quote.ts'
import { addHooks, type HookFile, hookFile, hookWords, installedCommands, removeHooks } from './hook-settings.ts'
import { agentTexts, hookTexts } from './texts.ts'

export interface HookCommandOptions {
  readonly home?: string
  readonly project?: boolean
  readonly user?: boolean
  readonly json?: boolean
}

function requireFile(agent: TerminalAgentName, { project }: HookCommandOptions): HookFile {
  const file = hookFile(agent, project ? 'project' : 'user')
  if (!file) throw new Fault('unsupported', hookTexts.noProjectFile(terminalAgents[agent].title, agent))
  return file
}

export function installHooks(agent: TerminalAgentName, options: HookCommandOptions): void {
  const file = requireFile(agent, options)
  const dataFolder = openDataFolder(options.home)
  const isNew = addHooks(file, hookCommand(agent, dataFolder, options.home !== undefined), dataFolder)
  console.log(isNew ? hookTexts.installed(file.path) : hookTexts.alreadyInstalled(file.path))
  console.log(agentTexts[agent].about)
  if (isNew) console.log(agentTexts[agent].next)
  if (!runningProcess(dataFolder, 'gateway')) printNotice(hookTexts.noGateway)
}

export function removeInstalledHooks(agent: TerminalAgentName, options: HookCommandOptions): void {
  const file = requireFile(agent, options)
  const wasInstalled = removeHooks(file, openDataFolder(options.home))
  console.log(wasInstalled ? hookTexts.removed(file.path) : hookTexts.notInstalled(file.path))
}

/** Says where the hooks are installed. Returns the exit code: 0 if they are installed somewhere and can run. */
export function hookStatus(agent: TerminalAgentName, { home, json }: HookCommandOptions): number {
  const scopes = (['user', 'project'] as const).flatMap(scope => {
    const file = hookFile(agent, scope)
    if (!file) return []
    const commands = installedCommands(file)
    return [{ scope, file: file.path, installed: commands.length > 0, missing: commands.flatMap(missingProgram) }]
  })
  const gateway = runningProcess(openDataFolder(home), 'gateway') !== null
  const isInstalled = scopes.some(({ installed }) => installed)
  const { canAnswer } = terminalAgents[agent]
  if (json)
    console.log(
      JSON.stringify({ agent, canAnswer, gateway, settings: scopes.map(({ missing: _, ...scope }) => scope) }),
    )
  else {
    for (const { file, installed, missing } of scopes) {
      console.log(installed ? hookTexts.isInstalled(file) : hookTexts.notInstalled(file))
      for (const program of missing) printNotice(hookTexts.programMissing(program, agent))
    }
    if (isInstalled) console.log(agentTexts[agent].about)
    if (!gateway) printNotice(hookTexts.noGateway)
  }
  return scopes.some(({ installed, missing }) => installed && missing.length === 0) ? 0 : 1
}

/** Returns the command line of the hooks. It contains no token: the hook reads the token from the data folder, as every command does. */
function hookCommand(agent: TerminalAgentName, { path }: DataFolder, hasHome: boolean): string {
  const [node = '', program = ''] = process.argv
  if (program.split('/').includes('_npx')) throw new Fault('unsupported', hookTexts.fromCache)
  const home = hasHome || process.env.HOLDPOINT_HOME ? [`HOLDPOINT_HOME=${shellQuote(path)}`] : []
  return [...home, shellQuote(node), shellQuote(program), hookWords(agent)].join(' ')
}

/** Returns the program of a hook if it does not exist, for example because another version of Node is installed now. */
function missingProgram(command: string): readonly string[] {
  const words = command.match(/'[^']*'|\S+/g) ?? []
  const paths = words.map(word => word.replaceAll("'", '')).filter(word => word.startsWith('/'))
  return paths.filter(path => !existsSync(path))
}
