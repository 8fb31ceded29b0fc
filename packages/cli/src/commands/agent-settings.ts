/** Describes the settings that a folder has for agents, for `holdpoint trust`. */
import { statSync } from 'node:fs'
import { basename, dirname, resolve } from 'node:path'
import {
  findProjectSettings,
  type ProjectSettings,
  personalSettings,
  type SettingsFile,
  settingsAgents,
  settingsLists,
} from '@holdpoint/drivers'
import type { DataFolder } from '../config/data-folder.ts'
import { settingsTrust } from '../config/trust.ts'
import { gutterOf, type Row, row, trusted, untrusted, untrustedCode } from '../output/span.ts'
import { settingsEffects, trustTexts } from './trust-texts.ts'

/** Returns the settings that a folder has for each agent. The list is empty if the path names a file or if the folder has no such settings. */
export function agentSettingsAt(path = '.'): readonly ProjectSettings[] {
  const target = resolve(path)
  if (!statSync(target, { throwIfNoEntry: false })?.isDirectory()) return []
  return settingsAgents.flatMap(agent => findProjectSettings(agent, target, personalSettings(agent, process.env)) ?? [])
}

/** Returns the remark that the list of trusted files and folders shows for a folder; an empty text if all of its settings are trusted. */
export function settingsListed(dataFolder: DataFolder, folder: string): string {
  const found = agentSettingsAt(folder)
  if (found.length === 0) return trustTexts.listed.missing
  const untrusted = found.filter(settings => settingsTrust(dataFolder, settings) !== 'trusted')
  return untrusted.length === 0 ? '' : trustTexts.settingsListed(agentTitles(untrusted))
}

/** Returns the names of the agents: "opencode", "Codex and opencode" or "Codex, Gemini and opencode". */
export function agentTitles(settings: readonly ProjectSettings[]): string {
  const titles = settings.map(({ agent }) => settingsLists[agent].title)
  const last = titles.pop() ?? ''
  return titles.length === 0 ? last : `${titles.join(', ')} and ${last}`
}

export function describeSettings(
  folder: string,
  settings: readonly ProjectSettings[],
  dataFolder: DataFolder,
): readonly Row[] {
  const states = settings.map(part => settingsTrust(dataFolder, part))
  const state = states.every(part => part === 'trusted')
    ? 'trusted'
    : states.every(part => part === 'new')
      ? 'new'
      : 'changed'
  const item = (text: string): Row => ({ gutter: gutterOf('  · '), spans: [untrustedCode(text)] })
  // Several agents can load the same file.
  const files = new Map(settings.flatMap(part => part.files.map(file => [file.path, file] as const)))
  return [
    row(untrusted(folder, 'strong'), trusted(trustTexts.settingsHeading[state](agentTitles(settings)))),
    ...[...files.values()].flatMap(effectsOf).map(item),
    row(trusted(settingsEffects.codeToo)),
  ]
}

/** The names of the settings files that contain JSON. */
const settingsNames = /^(?:settings(?:\.local)?|\.?mcp|mcp-config|opencode|tui|hooks|lsp)\.jsonc?$/

/** The entries of settings are shown if they are JSON; all other files, such as plugins and skills, are only named. */
function effectsOf({ path, content }: SettingsFile): readonly string[] {
  const isSettings = settingsNames.test(basename(path)) || basename(dirname(path)) === 'hooks'
  const settings = isSettings ? parseObject(content) : null
  if (!settings) return [settingsEffects.file(path)]
  const json = (part: unknown) => JSON.stringify(part)
  return Object.entries(settings).flatMap(([key, value]) => {
    const named = Object.entries(Object(value)).map(([name, part]) => [name, json(part)] as const)
    if (key === 'hooks') return named.map(([event, hook]) => settingsEffects.hook(event, hook))
    if (serverKeys.has(key)) return named.map(([name, server]) => settingsEffects.server(name, server))
    return [settingsEffects.setting(key, json(value), path)]
  })
}
/** Agents keep their MCP servers under different keys. */
const serverKeys: ReadonlySet<string> = new Set(['mcpServers', 'mcp', 'servers'])

function parseObject(content: Buffer): Readonly<Record<string, unknown>> | null {
  try {
    const parsed: unknown = JSON.parse(content.toString('utf8'))
    return typeof parsed === 'object' && parsed !== null ? Object(parsed) : null
  } catch {
    return null
  }
}
