/** Adds Holdpoint's hooks to the settings of an agent, finds them, and removes them again. Everything else in the settings stays as it is. */
import { randomBytes } from 'node:crypto'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { type TerminalAgentName, terminalAgents } from '@holdpoint/drivers'
import { Fault, messageOf } from '@holdpoint/protocol'
import { type DataFolder, writeAtomically } from '../config/data-folder.ts'
import { hookTexts } from './texts.ts'

export type SettingsScope = 'user' | 'project'
type Settings = Record<string, unknown>

/** The settings of an agent that can have hooks. */
export interface HookFile {
  readonly agent: TerminalAgentName
  readonly path: string
}

/** Every command of Holdpoint's hooks ends with these words. */
export function hookWords(agent: TerminalAgentName): string {
  return `hook run ${agent}`
}

/** Returns the settings file, or null if the agent has none. The project's file must be one that people do not share with each other, because the command contains paths of this machine. */
export function hookFile(agent: TerminalAgentName, scope: SettingsScope): HookFile | null {
  const path = scope === 'user' ? userFiles[agent]() : projectFiles[agent]
  return path === undefined ? null : { agent, path: resolve(path) }
}
const userFiles: Readonly<Record<TerminalAgentName, () => string>> = {
  claude: () => join(process.env.CLAUDE_CONFIG_DIR || join(homedir(), '.claude'), 'settings.json'),
  codex: () => join(process.env.CODEX_HOME || join(homedir(), '.codex'), 'hooks.json'),
  gemini: () => join(process.env.GEMINI_CLI_HOME || homedir(), '.gemini', 'settings.json'),
}
const projectFiles: Readonly<Partial<Record<TerminalAgentName, string>>> = { claude: '.claude/settings.local.json' }

/** The text of a settings file before and after the installation, so that removing the hooks restores exactly the earlier text. */
interface Installation {
  readonly before: string | null
  readonly after: string
}

/** Adds the hooks. Returns false if they were already there. */
export function addHooks({ agent, path: file }: HookFile, command: string, dataFolder: DataFolder): boolean {
  const before = existsSync(file) ? readFileSync(file, 'utf8') : null
  const settings = parseSettings(file, before ?? '{}')
  if (isDeepStrictEqual(ourGroups(agent, settings), newGroups(agent, command))) return false
  const { settings: cleaned, removed } = withoutHooks(agent, settings)
  const after = formatLike(before, withHooks({ agent, path: file }, cleaned, command))
  // If an older installation is replaced, removing the hooks restores the text from before that installation.
  const known = installations(dataFolder)
  const original = known[file]?.after === before ? known[file].before : removed ? formatLike(before, cleaned) : before
  writeInstallations(dataFolder, { ...known, [file]: { before: original, after } })
  mkdirSync(dirname(file), { recursive: true })
  writeSettings(file, after)
  return true
}

/** Removes the hooks. Returns false if there were none. */
export function removeHooks({ agent, path: file }: HookFile, dataFolder: DataFolder): boolean {
  if (!existsSync(file)) return false
  const text = readFileSync(file, 'utf8')
  const { [file]: installation, ...others } = installations(dataFolder)
  const { settings, removed } = withoutHooks(agent, parseSettings(file, text), isEmptyIn(installation?.before))
  if (!removed) return false
  if (installation?.after !== text) writeSettings(file, formatLike(text, settings))
  else if (installation.before === null) rmSync(file)
  else writeSettings(file, installation.before)
  writeInstallations(dataFolder, others)
  return true
}

/** Returns the commands of the installed hooks, without repetitions. */
export function installedCommands({ agent, path: file }: HookFile): readonly string[] {
  if (!existsSync(file)) return []
  const hooks = parseSettings(file, readFileSync(file, 'utf8')).hooks
  const groups = isObject(hooks) ? Object.values(hooks).flat() : []
  return [...new Set(groups.flatMap(commandsOf).filter(command => isOurs(agent, command)))]
}

export function parseSettings(file: string, text: string): Settings {
  let settings: unknown
  try {
    settings = JSON.parse(text)
  } catch (error) {
    if (hasComments(text)) throw new Fault('bad_input', hookTexts.hasComments(file))
    throw new Fault('bad_input', hookTexts.notJson(file, messageOf(error)))
  }
  if (!isObject(settings)) throw new Fault('bad_input', hookTexts.notJson(file, 'it is not an object'))
  return settings
}

/** Returns whether a line of a text that is no JSON starts with a comment. */
function hasComments(text: string): boolean {
  return text.split('\n').some(line => {
    const trimmed = line.trim()
    return trimmed.startsWith('//') || trimmed.startsWith('/*')
  })
}

/** Writes a temporary file and renames it, so that the old settings survive if the disk is full. If the settings file is a link, it stays one, and its permissions are kept. */
export function writeSettings(file: string, text: string): void {
  const target = existsSync(file) ? realpathSync(file) : file
  const mode = existsSync(target) ? statSync(target).mode & 0o777 : 0o600
  const temporary = `${target}.${randomBytes(12).toString('hex')}`
  try {
    writeFileSync(temporary, text, { mode, flag: 'wx', flush: true })
    // The umask can have removed permissions.
    chmodSync(temporary, mode)
    renameSync(temporary, target)
  } finally {
    rmSync(temporary, { force: true })
  }
}

function withHooks({ agent, path: file }: HookFile, settings: Settings, command: string): Settings {
  const { hooks = {} } = settings
  if (!isObject(hooks)) throw new Fault('bad_input', hookTexts.notJson(file, '“hooks” is not an object'))
  const added: Settings = { ...hooks }
  for (const [name, own] of Object.entries(newGroups(agent, command))) {
    const groups = added[name] ?? []
    if (!Array.isArray(groups)) throw new Fault('bad_input', hookTexts.notJson(file, `“hooks.${name}” is not a list`))
    added[name] = [...groups, ...own]
  }
  return { ...settings, hooks: added }
}

/** The groups with Holdpoint's hooks, by the agent's names of the events. */
type Groups = Readonly<Record<string, readonly unknown[]>>

function newGroups(agent: TerminalAgentName, command: string): Groups {
  const hooks = Object.entries(terminalAgents[agent].hooks)
  return Object.fromEntries(
    hooks.map(([name, fields]) => [name, [{ matcher: '', hooks: [{ type: 'command', command, ...fields }] }]]),
  )
}
function ourGroups(agent: TerminalAgentName, { hooks }: Settings): Groups {
  const lists = Object.entries(isObject(hooks) ? hooks : {}).map(([name, groups]) => {
    const ours = Array.isArray(groups) ? groups.filter(group => commandsOf(group).some(own => isOurs(agent, own))) : []
    return [name, ours] as const
  })
  return Object.fromEntries(lists.filter(([, ours]) => ours.length > 0))
}

/** Returns the settings without Holdpoint's hooks. `isKept` says which empty parts stay, because they were there before. */
function withoutHooks(
  agent: TerminalAgentName,
  settings: Settings,
  isKept: (name: string | null) => boolean = () => false,
): { readonly settings: Settings; readonly removed: boolean } {
  const { hooks, ...rest } = settings
  if (!isObject(hooks)) return { settings, removed: false }
  let removed = false
  const left: Settings = {}
  for (const [name, groups] of Object.entries(hooks)) {
    if (!Array.isArray(groups)) {
      left[name] = groups
      continue
    }
    const others = groups.flatMap(group => withoutOurs(agent, group))
    // A group without a hook of Holdpoint stays the same object.
    const isSame = others.length === groups.length && others.every((group, at) => group === groups[at])
    removed ||= !isSame
    if (others.length > 0 || isSame || isKept(name)) left[name] = others
  }
  const isEmpty = Object.keys(left).length === 0
  const next =
    isEmpty && !isKept(null)
      ? rest
      : Object.fromEntries(Object.entries(settings).map(([key, value]) => [key, key === 'hooks' ? left : value]))
  return { settings: removed ? next : settings, removed }
}

/** Returns the group without Holdpoint's hooks, or nothing if it had no others. */
function withoutOurs(agent: TerminalAgentName, group: unknown): readonly unknown[] {
  if (!isObject(group) || !Array.isArray(group.hooks)) return [group]
  const others = group.hooks.filter(hook => !commandsIn([hook]).some(command => isOurs(agent, command)))
  if (others.length === group.hooks.length) return [group]
  return others.length === 0 ? [] : [{ ...group, hooks: others }]
}

/** Returns whether the earlier settings had an empty `hooks` (null) or an empty list of this name. */
function isEmptyIn(before: string | null | undefined): (name: string | null) => boolean {
  const hooks = before ? (JSON.parse(before) as { hooks?: unknown }).hooks : undefined // the installation has parsed it
  return name => isObject(hooks) && (name === null || Object.hasOwn(hooks, name))
}

export function isObject(value: unknown): value is Settings {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function commandsOf(group: unknown): readonly string[] {
  return commandsIn(isObject(group) && Array.isArray(group.hooks) ? group.hooks : [])
}
function commandsIn(hooks: readonly unknown[]): readonly string[] {
  return hooks.map(hook => (isObject(hook) ? hook.command : null)).filter(command => typeof command === 'string')
}
function isOurs(agent: TerminalAgentName, command: string): boolean {
  return command.endsWith(hookWords(agent)) && command.includes('holdpoint')
}

/** Formats settings with the indentation and the end of the earlier text. */
export function formatLike(before: string | null, settings: Settings): string {
  const indentation = /^[\t ]+(?=")/m.exec(before ?? '')?.[0] ?? '  '
  const end = before === null || before.endsWith('\n') ? '\n' : ''
  return `${JSON.stringify(settings, null, indentation)}${end}`
}

function installationsFile({ path }: DataFolder): string {
  return join(path, 'installed-hooks.json')
}
function installations(dataFolder: DataFolder): Readonly<Record<string, Installation>> {
  const file = installationsFile(dataFolder)
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Record<string, Installation>) : {} // only this file writes it
}
function writeInstallations(dataFolder: DataFolder, all: Readonly<Record<string, Installation>>): void {
  writeAtomically(installationsFile(dataFolder), JSON.stringify(all))
}
