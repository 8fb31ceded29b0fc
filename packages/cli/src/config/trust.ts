/** Stores in the data folder which config files the person has trusted, by path and by the hash of the content. */
import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { isAbsolute } from 'node:path'
import type { ProjectSettings } from '@holdpoint/drivers'
import { z } from 'zod'
import type { ConfigFile } from './config-file.ts'
import { executableKeys } from './config-schema.ts'
import { type DataFolder, writeAtomically } from './data-folder.ts'
import { type AccessProblem, accessProblem } from './file-access.ts'

/** For a folder with settings for agents, `agents` has a hash for each agent. In lists of earlier versions, `sha256` of a folder is the hash of its settings for Claude Code. */
const TrustedFile = z.strictObject({
  sha256: z.string(),
  at: z.int(),
  agents: z.record(z.string(), z.string()).optional(),
})
const TrustedFiles = z.record(z.string(), TrustedFile)
type TrustedFiles = z.infer<typeof TrustedFiles>

export type TrustState = 'trusted' | 'changed' | 'new'

export function trustStateOf(
  dataFolder: DataFolder,
  { file, sha256 }: Pick<ConfigFile, 'file' | 'sha256'>,
): TrustState {
  const known = trustedFiles(dataFolder).get(file)
  if (!known) return 'new'
  return known.sha256 === sha256 ? 'trusted' : 'changed'
}

/** Returns why another user could replace the config file or the code that it names, or null if nobody can. The hash protects only the config file itself. */
export function exposureOf({ file, config }: ConfigFile): AccessProblem | null {
  const programs = Object.values(config.agents ?? {}).map(agent => (typeof agent === 'string' ? agent : agent[0]))
  const executables = executableKeys.flatMap(key => config[key] ?? [])
  // Programs that are looked up on the PATH are not checked, because the file does not name their location.
  for (const path of [file, ...programs.filter(isAbsolute), ...executables]) {
    const problem = accessProblem(path)
    if (problem) return problem
  }
  return null
}

/** Returns why somebody else could replace a settings file of an agent, or null. */
export function settingsExposure({ files }: Pick<ProjectSettings, 'files'>): AccessProblem | null {
  for (const { path } of files) {
    const problem = accessProblem(path)
    if (problem) return problem
  }
  return null
}

/** Returns whether the person has trusted the settings that a folder has for an agent, with their present content. */
export function trustsAgentSettings(dataFolder: DataFolder, settings: ProjectSettings): boolean {
  return settingsTrust(dataFolder, settings) === 'trusted' && !settingsExposure(settings)
}

export function settingsTrust(dataFolder: DataFolder, { folder, agent, sha256 }: ProjectSettings): TrustState {
  const known = trustedFiles(dataFolder).get(folder)
  const trusted = known?.agents ? known.agents[agent] : agent === 'claude' ? known?.sha256 : undefined
  if (trusted === undefined) return 'new'
  return sha256 !== null && trusted === sha256 ? 'trusted' : 'changed'
}

/** Trusts the present settings of a folder for all agents. Settings that were trusted before are no longer trusted. */
export function trustSettings(dataFolder: DataFolder, settings: readonly ProjectSettings[]): void {
  const [first] = settings
  if (!first) return
  const agents = Object.fromEntries(settings.map(({ agent, sha256 }) => [agent, sha256 ?? '']))
  const sha256 = createHash('sha256').update(JSON.stringify(agents)).digest('hex')
  write(dataFolder, new Map(trustedFiles(dataFolder)).set(first.folder, { sha256, at: Date.now(), agents }))
}

export function trustFile(dataFolder: DataFolder, { file, sha256 }: Pick<ConfigFile, 'file' | 'sha256'>): void {
  write(dataFolder, new Map(trustedFiles(dataFolder)).set(file, { sha256, at: Date.now() }))
}

/** Returns false if the file was not trusted. */
export function distrustFile(dataFolder: DataFolder, file: string): boolean {
  const files = new Map(trustedFiles(dataFolder))
  const isRemoved = files.delete(file)
  if (isRemoved) write(dataFolder, files)
  return isRemoved
}

/** Returns the trusted files by path. If the list is damaged, nothing is trusted. */
export function trustedFiles({ trustFile: list }: DataFolder): ReadonlyMap<string, TrustedFiles[string]> {
  if (!existsSync(list)) return new Map()
  try {
    return new Map(Object.entries(TrustedFiles.parse(JSON.parse(readFileSync(list, 'utf8')))))
  } catch {
    return new Map()
  }
}

function write({ trustFile: list }: DataFolder, files: ReadonlyMap<string, TrustedFiles[string]>): void {
  writeAtomically(list, JSON.stringify(Object.fromEntries(files), null, 2))
}
