/** Describes the settings that a folder has for Claude Code, for `holdpoint trust`. */
import { statSync } from 'node:fs'
import { basename, resolve } from 'node:path'
import { claudeConfigFolder, findProjectSettings, type ProjectSettings, type SettingsFile } from '@holdpoint/drivers'
import type { DataFolder } from '../config/data-folder.ts'
import { trustStateOf } from '../config/trust.ts'
import { gutterOf, type Row, row, trusted, untrusted, untrustedCode } from '../output/span.ts'
import { settingsEffects, trustTexts } from './trust-texts.ts'

/** Returns the settings of a folder, or null if the path names a file or there are none. */
export function agentSettingsAt(path = '.'): ProjectSettings | null {
  const target = resolve(path)
  if (!statSync(target, { throwIfNoEntry: false })?.isDirectory()) return null
  return findProjectSettings(target, claudeConfigFolder(process.env))
}

export function settingsState(dataFolder: DataFolder, folder: string): 'trusted' | 'changed' | 'missing' {
  const found = agentSettingsAt(folder)
  if (found === null) return 'missing'
  const { sha256 } = found
  return sha256 !== null && trustStateOf(dataFolder, { file: folder, sha256 }) === 'trusted' ? 'trusted' : 'changed'
}

export function describeSettings(settings: ProjectSettings, dataFolder: DataFolder): readonly Row[] {
  const { folder, files, sha256 } = settings
  const heading = trustTexts.settingsHeading[trustStateOf(dataFolder, { file: folder, sha256: sha256 ?? '' })]
  const item = (text: string): Row => ({ gutter: gutterOf('  · '), spans: [untrustedCode(text)] })
  return [
    row(untrusted(folder, 'strong'), trusted(heading)),
    ...files.flatMap(effectsOf).map(item),
    row(trusted(settingsEffects.codeToo)),
  ]
}

/** Files with settings are JSON; all other files, such as skills and subagents, are only named. */
function effectsOf({ path, content }: SettingsFile): readonly string[] {
  const isSettings = /^(?:settings(?:\.local)?|\.mcp)\.json$/.test(basename(path))
  const settings = isSettings ? parseObject(content) : null
  if (!settings) return [settingsEffects.file(path)]
  return Object.entries(settings).flatMap(([key, value]) => {
    const json = (part: unknown) => JSON.stringify(part)
    if (key === 'hooks')
      return Object.entries(Object(value)).map(([event, hook]) => settingsEffects.hook(event, json(hook)))
    if (key === 'mcpServers')
      return Object.entries(Object(value)).map(([name, server]) => settingsEffects.server(name, json(server)))
    return [settingsEffects.setting(key, json(value), path)]
  })
}

function parseObject(content: Buffer): Readonly<Record<string, unknown>> | null {
  try {
    const parsed: unknown = JSON.parse(content.toString('utf8'))
    return typeof parsed === 'object' && parsed !== null ? Object(parsed) : null
  } catch {
    return null
  }
}
