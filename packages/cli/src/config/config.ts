/** Reads the settings. Flags override HOLDPOINT_* variables, which override holdpoint.config.json in the working folder, which overrides the one in the data folder. */
import { dirname } from 'node:path'
import { executableVariable } from '@holdpoint/drivers'
import { shellQuote } from '../output/shell-quote.ts'
import { type ConfigFile, configFileIn, readConfigFile } from './config-file.ts'
import { type Config, type ConfigKey, executableKeys, parseConfig, trustedKeys } from './config-schema.ts'
import { type DataFolder, dataFolderAt } from './data-folder.ts'
import { distrustReasons, ignoredText } from './texts.ts'
import { exposureOf, trustStateOf } from './trust.ts'

export const defaultPort = 4747

export interface Settings {
  readonly config: Config
  /** A sentence about the settings of the config file in the working folder that do not apply, and why; null if all of them apply. */
  readonly ignored: string | null
}

export function readConfig(
  dataFolder: DataFolder,
  flags: Partial<Record<ConfigKey, unknown>>,
  env = process.env,
  folder = process.cwd(),
): Settings {
  const givenFlags = Object.fromEntries(Object.entries(flags).filter(([, value]) => value !== undefined))
  const own = readConfigFile(dataFolder.configFile)
  const found = readConfigFile(configFileIn(folder))
  const isOwn = own !== null && configFileIn(dirname(own.file)) === found?.file
  const { config, ignored } = found === null || isOwn ? { config: {}, ignored: null } : applicable(found, dataFolder)
  const fromFlags = parseConfig(givenFlags, key => `--${key}`)
  return { config: { ...own?.config, ...config, ...readEnvironment(env), ...fromFlags }, ignored }
}

/** Returns the settings of a config file that apply: all of them if the person has trusted the file, otherwise those that need no trust. */
function applicable(found: ConfigFile, dataFolder: DataFolder): Settings {
  const { file, config } = found
  const keys = trustedKeys.filter(key => config[key] !== undefined)
  const reason = keys.length === 0 ? null : distrustReason(found, dataFolder)
  if (reason === null) return { config, ignored: null }
  const harmless = Object.entries(config).filter(([key]) => !keys.some(ignored => ignored === key))
  return {
    config: Object.fromEntries(harmless),
    ignored: ignoredText(file, keys, reason, trustCommand(dirname(file), dataFolder)),
  }
}

function distrustReason(found: ConfigFile, dataFolder: DataFolder): string | null {
  const state = trustStateOf(dataFolder, found)
  if (state !== 'trusted') return distrustReasons[state]
  const exposure = exposureOf(found)
  return exposure && distrustReasons.exposed(exposure)
}

/** Returns the command that trusts the config file of a folder, with --home unless the data folder is found without it. */
function trustCommand(folder: string, dataFolder: DataFolder): string {
  const home = dataFolder.path === dataFolderAt().path ? '' : ` --home ${shellQuote(dataFolder.path)}`
  return `holdpoint trust ${shellQuote(folder)}${home}`
}

/** The settings that can come from the environment, and the name of the variable for each. */
const environmentVariables: Partial<Record<ConfigKey, string>> = {
  port: 'HOLDPOINT_PORT',
  host: 'HOLDPOINT_HOST',
  allowRemote: 'HOLDPOINT_ALLOW_REMOTE',
  store: 'HOLDPOINT_STORE',
  runner: 'HOLDPOINT_RUNNER',
  onDeadline: 'HOLDPOINT_ON_DEADLINE',
  ...Object.fromEntries(executableKeys.map(key => [key, executableVariable(key)])),
}

function readEnvironment(env: NodeJS.ProcessEnv): Config {
  const found = Object.entries(environmentVariables).flatMap(([key, name]) => {
    const value = env[name]
    return value === undefined || value === '' ? [] : [[key, value]]
  })
  return parseConfig(Object.fromEntries(found), key => new Map(Object.entries(environmentVariables)).get(key) ?? key)
}
