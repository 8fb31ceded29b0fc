/** Finds the settings that a folder has for an agent. They can name commands that run without a question (hooks, plugins, MCP servers) and allow calls, so they apply only if the person trusts them. */
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, realpathSync, type Stats, statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { settingsProblems } from './messages.ts'
import { type SettingsAgent, settingsLists } from './settings-lists.ts'

export interface SettingsFile {
  readonly path: string
  /** The content that was hashed. */
  readonly content: Buffer
}

export interface ProjectSettings {
  readonly agent: SettingsAgent
  /** The working folder, without symbolic links. */
  readonly folder: string
  /** The settings files of the folder and of the folders above it, in the order in which they were hashed. */
  readonly files: readonly SettingsFile[]
  /** The hash of the paths and contents of all files; null if they cannot be read completely. Such settings cannot be trusted. */
  readonly sha256: string | null
  /** A sentence that says why the settings cannot be read completely; null if they can. */
  readonly problem: string | null
}

const filesMax = 2000
const bytesMax = 16 * 1024 * 1024

/** Returns null if the folder has no settings for the agent. `own` are the paths of the person's own settings, which need no trust. */
export function findProjectSettings(agent: SettingsAgent, cwd: string, own: readonly string[]): ProjectSettings | null {
  if (!existsSync(cwd)) return null
  const folder = realpathSync(cwd)
  const ownPaths = new Set(own.map(path => (existsSync(path) ? realpathSync(path) : path)))
  const { entries, skipped = [] } = settingsLists[agent]
  const found = new FoundFiles(agent)
  for (const parent of withParents(folder))
    for (const entry of entries) {
      const isFolder = entry.endsWith('/')
      const path = join(parent, isFolder ? entry.slice(0, -1) : entry)
      if (!existsSync(path) || ownPaths.has(realpathSync(path))) continue
      if (isFolder) found.addFolder(path, skipped)
      else found.add(path)
    }
  const { files } = found
  return files.length === 0 ? null : { agent, folder, files, sha256: found.sha256(), problem: found.problem }
}

function withParents(folder: string): readonly string[] {
  const parent = dirname(folder)
  return parent === folder ? [folder] : [folder, ...withParents(parent)]
}

class FoundFiles {
  readonly files: SettingsFile[] = []
  problem: string | null = null
  readonly #agent: SettingsAgent
  readonly #hash = createHash('sha256')
  /** The real paths of the folders that were read, because links can lead back to them. */
  readonly #folders = new Set<string>()
  #bytes = 0

  constructor(agent: SettingsAgent) {
    this.#agent = agent
  }

  /** Follows symbolic links, as the agents do. */
  add(file: string): void {
    this.#attempt(file, () => {
      const stats = statSync(file, { throwIfNoEntry: false })
      if (stats?.isDirectory()) this.addFolder(file)
      else if (stats) this.#addFile(file, stats)
    })
  }

  #addFile(file: string, stats: Stats): void {
    this.#bytes += stats.size
    if (!stats.isFile()) this.problem ??= settingsProblems.notFile(file)
    if (this.files.length >= filesMax || this.#bytes > bytesMax) this.problem ??= settingsProblems.tooMany
    const read = this.problem === null ? readFileSync(file) : Buffer.alloc(0)
    const content = this.#agent === 'opencode' ? withoutOwnPackage(file, read) : read
    if (content === null) return
    this.files.push({ path: file, content })
    const digest = createHash('sha256').update(content).digest('hex')
    this.#hash.update(`${JSON.stringify([file, digest])}\n`)
  }

  /** Leaves out the entries with the names in `skipped`, but not those in the folders below. */
  addFolder(folder: string, skipped: readonly string[] = []): void {
    this.#attempt(folder, () => {
      const real = realpathSync(folder)
      if (this.#folders.has(real) || this.problem !== null) return
      this.#folders.add(real)
      for (const name of readdirSync(folder).sort()) if (!skipped.includes(name)) this.add(join(folder, name))
    })
  }

  /** Settings that cannot be read count as settings that nobody can trust. */
  #attempt(path: string, read: () => void): void {
    try {
      read()
    } catch (error) {
      const { code = 'unknown error' } = error as NodeJS.ErrnoException // errors of the file system have this type
      this.problem ??= settingsProblems.unreadable(path, code)
      this.files.push({ path, content: Buffer.alloc(0) })
    }
  }

  sha256(): string | null {
    return this.problem === null ? this.#hash.digest('hex') : null
  }
}

const ownPackage = '@opencode-ai/plugin'

/** opencode adds its own package to `.opencode/package.json` at every start. If that package counted, the person would have to trust the folder again after each start. Returns null if the file says nothing else. */
function withoutOwnPackage(file: string, content: Buffer): Buffer | null {
  if (basename(file) !== 'package.json' || basename(dirname(file)) !== '.opencode') return content
  try {
    const { dependencies: { [ownPackage]: _, ...others } = {}, ...rest } = JSON.parse(content.toString('utf8'))
    const isEmpty = Object.keys(others).length === 0 && Object.keys(rest).length === 0
    return isEmpty ? null : Buffer.from(JSON.stringify({ ...rest, dependencies: others }))
  } catch {
    return content
  }
}
