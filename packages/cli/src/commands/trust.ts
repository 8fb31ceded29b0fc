/** `holdpoint trust`: shows what the config file of a folder would do, and lets it apply once the person agrees. */
import { statSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { Fault } from '@holdpoint/protocol'
import { type ConfigFile, configFileIn, configFileName, readConfigFile } from '../config/config-file.ts'
import { type Config, type ConfigKey, trustedKeys } from '../config/config-schema.ts'
import { type DataFolder, openDataFolder } from '../config/data-folder.ts'
import { distrustFile, exposureOf, settingsExposure, trustedFiles, trustFile, trustStateOf } from '../config/trust.ts'
import { withoutPassword } from '../gateway/open-store.ts'
import { askLine, Cancelled } from '../output/interactive.ts'
import { err, type Output, out } from '../output/output.ts'
import { gutterOf, type Row, row, trusted, untrusted } from '../output/span.ts'
import { agentSettingsAt, describeSettings, settingsState } from './agent-settings.ts'
import { configEffects, trustTexts } from './trust-texts.ts'

export interface TrustOptions {
  readonly home?: string
  readonly yes?: boolean
  readonly list?: boolean
  readonly remove?: boolean
}

export async function trust(path: string | undefined, { home, yes, list, remove }: TrustOptions): Promise<void> {
  const dataFolder = openDataFolder(home)
  if (list) return printTrusted(dataFolder)
  if (remove) return removeTrust(dataFolder, path)
  const file = configFileAt(path)
  const found = readConfigFile(file)
  const settings = agentSettingsAt(path)
  if (!found && !settings) throw new Fault('not_found', trustTexts.nothingHere(file))
  if (settings?.sha256 === null) throw new Fault('forbidden', trustTexts.tooMuch(settings.folder))
  const output = out.isTerminal ? out : err
  if (found) output.print(...describeFile(found, dataFolder))
  if (settings) output.print(...describeSettings(settings, dataFolder))
  const exposure = (found && exposureOf(found)) ?? (settings && settingsExposure(settings))
  if (exposure) throw new Fault('forbidden', trustTexts.exposed(exposure))
  if (!yes) await confirm(output, settings ? dirname(file) : file, settings ? 'confirmSettings' : 'confirm')
  // Trust the content that was shown, even if the files have changed in the meantime.
  if (found) trustFile(dataFolder, found)
  if (settings) trustFile(dataFolder, { file: settings.folder, sha256: settings.sha256 })
  if (found) out.print(row(trusted(trustTexts.done)))
  if (settings) out.print(row(trusted(trustTexts.settingsDone)))
}

/** Returns the path of the config file that the person means by a file, a folder, or nothing. */
function configFileAt(path = '.'): string {
  const target = resolve(path)
  const stats = statSync(target, { throwIfNoEntry: false })
  if (!stats) throw new Fault('not_found', trustTexts.noFile(target))
  if (stats.isDirectory()) return configFileIn(target)
  if (basename(target) !== configFileName) throw new Fault('bad_input', trustTexts.otherName(target, configFileName))
  return configFileIn(dirname(target))
}

function describeFile(found: ConfigFile, dataFolder: DataFolder): readonly Row[] {
  const { file, config } = found
  const effects = trustedKeys.flatMap(key => effectsOf(key, config))
  const heading = trustTexts.heading[trustStateOf(dataFolder, found)]
  const item = (text: string): Row => ({ gutter: gutterOf('  · '), spans: [untrusted(text)] })
  return [
    row(untrusted(file, 'strong'), trusted(heading)),
    ...(effects.length > 0 ? effects : [trustTexts.nothing]).map(item),
    ...(config.agents || config.claude !== undefined ? [row(trusted(trustTexts.codeToo))] : []),
  ]
}

function effectsOf(key: ConfigKey, config: Config): readonly string[] {
  const { port, host, hosts, store, runner, retentionDays, agents, claude, allowRemote } = config
  switch (key) {
    case 'agents':
      return Object.entries(agents ?? {}).map(([name, file]) => configEffects.agent(name, file))
    case 'claude':
      return claude === undefined ? [] : [configEffects.claude(claude)]
    case 'host':
      return host === undefined ? [] : [configEffects.host(host)]
    case 'allowRemote':
      return allowRemote ? [configEffects.allowRemote] : []
    case 'hosts':
      return hosts === undefined ? [] : [configEffects.hosts(hosts)]
    case 'port':
      return port === undefined ? [] : [configEffects.port(port)]
    case 'store':
      return store === undefined ? [] : [configEffects.store(withoutPassword(store))]
    case 'runner':
      return runner === undefined ? [] : [configEffects.runner[runner]]
    case 'retentionDays':
      return retentionDays === undefined ? [] : [configEffects.retentionDays(retentionDays)]
    default:
      return []
  }
}

async function confirm(output: Output, what: string, question: 'confirm' | 'confirmSettings'): Promise<void> {
  if (!process.stdin.isTTY || !output.isTerminal) throw new Fault('bad_input', trustTexts.noTerminal)
  const typed = (await askLine(output, trusted(trustTexts[question], 'strong')))?.trim().toLowerCase()
  if (typed !== 'y' && typed !== 'yes') throw new Cancelled(trustTexts.notConfirmed(what))
}

function printTrusted(dataFolder: DataFolder): void {
  const files = [...trustedFiles(dataFolder).keys()]
  const stateOf = (file: string) => trusted(trustTexts.listed[presentState(dataFolder, file)])
  if (files.length === 0) out.print(row(trusted(trustTexts.nothingTrusted)))
  else out.print(...files.map(file => row(untrusted(file), stateOf(file))))
}

function presentState(dataFolder: DataFolder, file: string): keyof typeof trustTexts.listed {
  try {
    if (basename(file) !== configFileName) return settingsState(dataFolder, file)
    const found = readConfigFile(file)
    return found === null ? 'missing' : trustStateOf(dataFolder, found) === 'trusted' ? 'trusted' : 'changed'
  } catch (error) {
    if (error instanceof Fault) return 'changed'
    throw error
  }
}

/** Also removes the trust in a file that no longer exists. */
function removeTrust(dataFolder: DataFolder, path = '.'): void {
  const target = resolve(path)
  const names = [target, join(target, configFileName)]
  if (statSync(target, { throwIfNoEntry: false })) names.push(configFileAt(target), dirname(configFileAt(target)))
  const isRemoved = names.map(file => distrustFile(dataFolder, file)).some(Boolean)
  if (!isRemoved) throw new Fault('not_found', trustTexts.notTrusted(target))
  out.print(row(trusted(trustTexts.removed)))
}
