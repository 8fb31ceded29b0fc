/** `holdpoint trust`: shows what the config file, the rules and the agent settings of a folder would do, and lets them apply once the person agrees. */
import { realpathSync, statSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { ruleLabel, ruleScopeLabel, watcherLabel } from '@holdpoint/client'
import { Fault, type RuleDraft, type WatcherDraft } from '@holdpoint/protocol'
import { ruleFileName } from '@holdpoint/rules'
import { type ConfigFile, configFileName, readConfigFile } from '../config/config-file.ts'
import { type Config, type ConfigKey, executableKeys, isExecutableKey, trustedKeys } from '../config/config-schema.ts'
import { type DataFolder, openDataFolder } from '../config/data-folder.ts'
import { type RulesFile, readRulesFile } from '../config/rules-file.ts'
import {
  distrustFile,
  exposureOf,
  settingsExposure,
  trustedFiles,
  trustFile,
  trustSettings,
  trustStateOf,
} from '../config/trust.ts'
import { withoutPassword } from '../gateway/open-store.ts'
import { askLine, Cancelled } from '../output/interactive.ts'
import { err, type Output, out, printEmptyList } from '../output/output.ts'
import { shellQuote } from '../output/shell-quote.ts'
import { gutterOf, type Row, row, trusted, untrusted, untrustedLine } from '../output/span.ts'
import { agentSettingsAt, agentTitles, describeSettings, settingsListed } from './agent-settings.ts'
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
  const file = fileAt(path, configFileName)
  const found = file === null ? null : readConfigFile(file)
  const rules = rulesAt(path, dataFolder)
  const settings = agentSettingsAt(path)
  const folder = folderOf(path)
  const hasSettings = settings.length > 0
  if (!found && !rules && !hasSettings) throw new Fault('not_found', trustTexts.nothingHere(folder))
  const problem = settings.find(part => part.problem !== null)?.problem
  if (problem) throw new Fault('forbidden', problem)
  const output = out.isTerminal ? out : err
  if (found) output.print(...describeFile(found, dataFolder))
  if (rules) output.print(...describeRules(rules))
  if (hasSettings) output.print(...describeSettings(folder, settings, dataFolder))
  const exposure = (found && exposureOf(found)) ?? settingsExposure({ files: settings.flatMap(({ files }) => files) })
  if (exposure) throw new Fault('forbidden', trustTexts.exposed(exposure))
  const isOneFile = !hasSettings && (!found || !rules)
  const what = isOneFile ? (found?.file ?? rules?.file ?? folder) : folder
  if (!yes) await confirm(output, what, isOneFile ? 'confirm' : 'confirmSettings')
  // Trust the content that was shown, even if the files have changed in the meantime.
  if (found) trustFile(dataFolder, found)
  if (rules) trustFile(dataFolder, rules)
  trustSettings(dataFolder, settings)
  if (found) out.print(row(trusted(trustTexts.done)))
  if (rules) out.print(row(trusted(trustTexts.rulesDone)))
  if (hasSettings) out.print(row(trusted(trustTexts.settingsDone(agentTitles(settings)))))
}

const fileNames: readonly string[] = [configFileName, ruleFileName]

/** Returns the folder that the person means by a file, a folder, or nothing. */
function folderOf(path = '.'): string {
  const target = resolve(path)
  const stats = statSync(target, { throwIfNoEntry: false })
  if (!stats) throw new Fault('not_found', trustTexts.noFile(target))
  if (stats.isDirectory()) return realpathSync(target)
  if (!fileNames.includes(basename(target)))
    throw new Fault('bad_input', trustTexts.otherName(target, fileNames.join(' or ')))
  return realpathSync(dirname(target))
}

/** Returns the path of the file with this name, or null if the person has named another file. */
function fileAt(path: string | undefined, name: string): string | null {
  const folder = folderOf(path)
  const named = basename(resolve(path ?? '.'))
  return fileNames.includes(named) && named !== name ? null : join(folder, name)
}

/** Returns the rules of a project that can be trusted, or null if it has none. */
function rulesAt(path: string | undefined, dataFolder: DataFolder): (RulesFile & { sha256: string }) | null {
  const file = fileAt(path, ruleFileName)
  const found = file === null || file === dataFolder.rulesFile ? null : readRulesFile(file, dataFolder)
  if (found?.content.kind === 'problem') throw new Fault('bad_input', `${found.file}: ${found.content.problem}`)
  if (found?.exposure) throw new Fault('forbidden', trustTexts.exposed(found.exposure))
  const sha256 = found?.sha256 ?? null
  return found && sha256 !== null ? { ...found, sha256 } : null
}

function describeRules({ file, trust, content }: RulesFile): readonly Row[] {
  const { rules, watchers } = content.kind === 'rules' ? content : { rules: [], watchers: [] }
  const item = (rule: RuleDraft): Row => ({
    gutter: gutterOf('  · '),
    spans: [trusted(ruleLabel(rule)), trusted(` ${ruleScopeLabel(rule)}`, 'quiet')],
  })
  return [
    row(untrusted(file, 'strong'), trusted(trustTexts.rulesHeading[trust])),
    ...(rules.length + watchers.length > 0
      ? [...rules.map(item), ...watchers.flatMap(watcherRows)]
      : [row(trusted(trustTexts.noRules))]),
  ]
}

/** Shows a watcher with the texts that the agent reads once the file is trusted. */
function watcherRows(watcher: WatcherDraft): readonly Row[] {
  const { say, deny } = watcher.do
  const texts = [say, deny].filter(text => text !== undefined)
  return [
    { gutter: gutterOf('  · '), spans: [trusted(trustTexts.watcher(watcher.name, watcherLabel(watcher)))] },
    ...texts.map(text => ({ gutter: gutterOf('      '), spans: [untrustedLine(text)] })),
  ]
}

function describeFile(found: ConfigFile, dataFolder: DataFolder): readonly Row[] {
  const { file, config } = found
  const effects = trustedKeys.flatMap(key => effectsOf(key, config))
  const heading = trustTexts.heading[trustStateOf(dataFolder, found)]
  const item = (text: string): Row => ({ gutter: gutterOf('  · '), spans: [untrusted(text)] })
  return [
    row(untrusted(file, 'strong'), trusted(heading)),
    ...(effects.length > 0 ? effects : [trustTexts.nothing]).map(item),
    ...(config.agents || executableKeys.some(key => config[key] !== undefined)
      ? [row(trusted(trustTexts.codeToo))]
      : []),
  ]
}

function effectsOf(key: ConfigKey, config: Config): readonly string[] {
  const { port, host, hosts, store, runner, retentionDays, agents, allowRemote } = config
  if (isExecutableKey(key)) return config[key] === undefined ? [] : [configEffects.executable(key, config[key])]
  switch (key) {
    case 'agents':
      return Object.entries(agents ?? {}).map(([name, agent]) =>
        typeof agent === 'string'
          ? configEffects.agent(name, agent)
          : configEffects.command(name, agent.map(shellQuote).join(' ')),
      )
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
  const stateOf = (file: string) =>
    trusted(
      fileNames.includes(basename(file))
        ? trustTexts.listed[presentState(dataFolder, file)]
        : settingsListed(dataFolder, file),
    )
  if (files.length === 0) printEmptyList(trustTexts.nothingTrusted)
  else out.print(...files.map(file => row(untrusted(file), stateOf(file))))
}

function presentState(dataFolder: DataFolder, file: string): keyof typeof trustTexts.listed {
  try {
    if (basename(file) === ruleFileName) {
      const { trust, content } = readRulesFile(file, dataFolder)
      return content.kind === 'missing' ? 'missing' : trust === 'trusted' ? 'trusted' : 'changed'
    }
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
  const names = [target, ...fileNames.map(name => join(target, name))]
  if (statSync(target, { throwIfNoEntry: false })) {
    const folder = folderOf(target)
    names.push(folder, ...fileNames.flatMap(name => fileAt(target, name) ?? []))
  }
  const removed = names.filter(file => distrustFile(dataFolder, file))
  if (removed.length === 0) throw new Fault('not_found', trustTexts.notTrusted(target))
  const isRules = (file: string) => basename(file) === ruleFileName
  if (removed.some(file => basename(file) === configFileName)) out.print(row(trusted(trustTexts.removed)))
  if (removed.some(file => !fileNames.includes(basename(file)))) out.print(row(trusted(trustTexts.settingsRemoved)))
  if (removed.some(isRules)) out.print(row(trusted(trustTexts.rulesRemoved)))
}
