/** The subcommands of `holdpoint watch` for watchers: list them, check a file, and turn ready-made ones on and off in the person's own file. */
import { existsSync, readFileSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { parseValue, valueText, watcherLabel } from '@holdpoint/client'
import { Fault, messageOf, type ReadyMadeUse, type VariableValue, type Watcher } from '@holdpoint/protocol'
import { parseRuleFile, type ReadyMadeWatchers, readyMadeWatchers, ruleFileName, watchGaps } from '@holdpoint/rules'
import { type DataFolder, openDataFolder, writeAtomically } from '../config/data-folder.ts'
import { readRulesFile } from '../config/rules-file.ts'
import type { GatewayAddress, GatewayClient } from '../gateway-client/gateway-client.ts'
import { out, printEmptyList } from '../output/output.ts'
import { gutterOf, type Row, row, trusted, untrusted } from '../output/span.ts'
import { findSession } from './ids.ts'
import { watcherTexts as texts } from './texts.ts'
import { watchedAgents } from './watched-agents.ts'

interface JsonOption {
  readonly json?: boolean
}

export async function listWatchers(
  { call }: GatewayClient,
  { session: typed, json }: JsonOption & { readonly session?: string },
): Promise<void> {
  const session = typed === undefined ? undefined : (await findSession(call, typed)).id
  const reply = await call('listWatchers', session === undefined ? {} : { session })
  if (json) return out.json(reply)
  if (reply.items.length === 0) return printEmptyList(session ? texts.noneForSession : texts.none)
  for (const watcher of reply.items) out.print(...watcherRows(watcher))
}

function watcherRows(watcher: Watcher): readonly Row[] {
  const { name, source, gaps = [] } = watcher
  return [
    row(trusted(name, 'strong'), trusted(`  ${watcherLabel(watcher)}`)),
    row(
      trusted('  '),
      untrusted(source.file, 'quiet'),
      trusted(source.trusted ? '' : `  ${texts.notTrusted}`, 'waiting'),
    ),
    ...gaps.map(gap => noteRow(gap)),
  ]
}
function noteRow(text: string): Row {
  return { gutter: gutterOf('  · '), spans: [trusted(text, 'waiting')] }
}

/** Checks a file without a gateway; without a path, checks the file of this folder and the person's own file. Throws a Fault that says where the problem is. */
export async function checkWatchFile(
  path: string | undefined,
  { json, home }: JsonOption & GatewayAddress,
): Promise<void> {
  const dataFolder = openDataFolder(home)
  const named = watchFileAt(path)
  const candidates = path === undefined ? [named, dataFolder.rulesFile] : [named]
  const files = [...new Set(candidates)].filter(file => existsSync(file))
  if (files.length === 0) throw new Fault('not_found', texts.noFile(candidates.join(' or ')))
  const checked = files.map(file => checkedFile(file, dataFolder))
  if (json) return out.json({ items: checked })
  for (const { file, trusted: isTrusted, vars, watchers } of checked) {
    out.print(row(untrusted(file, 'strong'), trusted(`  ${texts.counts(watchers.length, Object.keys(vars).length)}`)))
    if (!isTrusted) out.print(noteRow(texts.notTrusted))
    for (const watcher of watchers) {
      out.print(row(trusted(watcher.name, 'strong'), trusted(`  ${watcherLabel(watcher)}`)))
      for (const { title, ...agent } of watchedAgents)
        for (const gap of watchGaps(watcher, agent)) out.print(noteRow(`${title}: ${gap}`))
    }
  }
}

function checkedFile(file: string, dataFolder: DataFolder) {
  const { content, folder, trust } = readRulesFile(file, dataFolder)
  if (content.kind === 'missing') throw new Fault('not_found', texts.noFile(file))
  if (content.kind === 'problem') throw new Fault('bad_input', `${file}: ${content.problem}`)
  return { file, trusted: folder === null || trust === 'trusted', vars: content.vars, watchers: content.watchers }
}

function watchFileAt(path = '.'): string {
  const target = resolve(path)
  return statSync(target, { throwIfNoEntry: false })?.isDirectory() ? join(target, ruleFileName) : target
}

export async function listReadyMade({ json }: JsonOption): Promise<void> {
  if (json) return out.json({ items: readyMadeWatchers })
  for (const { name, description, settings } of readyMadeWatchers) {
    out.print(row(trusted(name, 'strong'), trusted(`  ${description}`)))
    for (const setting of settings) {
      const value = setting.default === null ? texts.noDefault : valueText(setting.default)
      out.print({
        gutter: gutterOf('  · '),
        spans: [trusted(`${setting.name}  `), trusted(setting.description, 'quiet'), trusted(` (${value})`, 'quiet')],
      })
    }
  }
}

interface UseOptions {
  readonly home?: string
  readonly cwd?: string
  readonly with?: readonly string[]
}

export async function turnOn(name: string, { home, cwd, with: typed = [] }: UseOptions): Promise<void> {
  const known = requireReadyMade(name)
  const dataFolder = openDataFolder(home)
  const folder = cwd === undefined ? undefined : resolve(cwd)
  const settings = settingsFrom(known, typed)
  const entry: ReadyMadeUse =
    folder === undefined && Object.keys(settings).length === 0
      ? name
      : { name, ...(folder === undefined ? {} : { cwd: folder }), ...(typed.length > 0 ? { with: settings } : {}) }
  changeUses(dataFolder, uses => [...uses.filter(use => !isUse(use, name, folder)), entry])
  out.print(row(trusted(texts.turnedOn(name)), untrusted(folder ?? texts.everywhere)))
}

export async function turnOff(name: string, { home, cwd }: UseOptions): Promise<void> {
  requireReadyMade(name)
  const dataFolder = openDataFolder(home)
  const folder = cwd === undefined ? undefined : resolve(cwd)
  let isOn = false
  changeUses(dataFolder, uses => {
    const others = uses.filter(use => !isUse(use, name, folder))
    isOn = others.length < uses.length
    return others
  })
  if (!isOn) throw new Fault('not_found', texts.notOn(name))
  out.print(row(trusted(texts.turnedOff(name))))
}

function requireReadyMade(name: string): ReadyMadeWatchers {
  const known = readyMadeWatchers.find(made => made.name === name)
  if (!known)
    throw new Fault(
      'not_found',
      texts.unknownReadyMade(
        name,
        readyMadeWatchers.map(made => made.name),
      ),
    )
  return known
}

function settingsFrom({ name, settings }: ReadyMadeWatchers, typed: readonly string[]): Record<string, VariableValue> {
  return Object.fromEntries(
    typed.map(text => {
      const [setting = '', ...rest] = text.split('=')
      const known = settings.find(one => one.name === setting)
      if (!known || rest.length === 0)
        throw new Fault(
          'bad_input',
          texts.badSetting(
            name,
            text,
            settings.map(one => one.name),
          ),
        )
      // A setting without a default is a number.
      const like = known.default ?? 0
      const value = parseValue(rest.join('='), like)
      if (value === null) throw new Fault('bad_input', texts.badValue(setting, typeof like))
      return [setting, value]
    }),
  )
}

function isUse(use: ReadyMadeUse, name: string, folder: string | undefined): boolean {
  return typeof use === 'string' ? use === name && folder === undefined : use.name === name && use.cwd === folder
}

/** Changes the list `use` in the person's own file. Writes the file only if the changed text is still valid. */
function changeUses(
  { rulesFile }: DataFolder,
  change: (uses: readonly ReadyMadeUse[]) => readonly ReadyMadeUse[],
): void {
  const text = existsSync(rulesFile) ? readFileSync(rulesFile, 'utf8') : '{}'
  try {
    parseRuleFile(text, null)
    const { use = [], ...content } = JSON.parse(text) as { readonly use?: readonly ReadyMadeUse[] } // checked by `parseRuleFile`
    const next = change(use)
    const changed = `${JSON.stringify({ ...content, ...(next.length > 0 ? { use: next } : {}) }, null, 2)}\n`
    parseRuleFile(changed, null)
    writeAtomically(rulesFile, changed)
  } catch (error) {
    throw new Fault('bad_input', `${rulesFile}: ${messageOf(error)}`)
  }
}
