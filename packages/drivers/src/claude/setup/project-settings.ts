/** Finds the settings that a folder has for Claude Code. They can name commands that run without a question (hooks, MCP servers, helpers) and allow calls, so they apply only if the person trusts them. */
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, realpathSync, type Stats, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { settingsProblems } from '../messages.ts'

export interface SettingsFile {
  readonly path: string
  /** The content that was hashed. */
  readonly content: Buffer
}

export interface ProjectSettings {
  /** The working folder, without symbolic links. */
  readonly folder: string
  /** The settings files of the folder and of the folders above it, in the order in which they were hashed. Claude Code reads those above too. */
  readonly files: readonly SettingsFile[]
  /** The hash of the paths and contents of all files; null if they cannot be read completely. Such settings cannot be trusted. */
  readonly sha256: string | null
  /** A sentence that says why the settings cannot be read completely; null if they can. */
  readonly problem: string | null
}

const filesMax = 2000
const bytesMax = 16 * 1024 * 1024
const serversFile = '.mcp.json'
const settingsFolder = '.claude'
/** Working copies of the repository, which are folders of their own and not settings. */
const worktrees = 'worktrees'

/** Returns null if the folder has no settings. `userFolder` is Claude Code's own folder with the settings of the person, which need no trust. */
export function findProjectSettings(cwd: string, userFolder: string): ProjectSettings | null {
  if (!existsSync(cwd)) return null
  const folder = realpathSync(cwd)
  const own = existsSync(userFolder) ? realpathSync(userFolder) : userFolder
  const found = new FoundFiles()
  for (const parent of withParents(folder)) {
    found.add(join(parent, serversFile))
    const settings = join(parent, settingsFolder)
    if (existsSync(settings) && realpathSync(settings) !== own) found.addFolder(settings, [worktrees])
  }
  const { files } = found
  return files.length === 0 ? null : { folder, files, sha256: found.sha256(), problem: found.problem }
}

function withParents(folder: string): readonly string[] {
  const parent = dirname(folder)
  return parent === folder ? [folder] : [folder, ...withParents(parent)]
}

class FoundFiles {
  readonly files: SettingsFile[] = []
  problem: string | null = null
  readonly #hash = createHash('sha256')
  /** The real paths of the folders that were read, because links can lead back to them. */
  readonly #folders = new Set<string>()
  #bytes = 0

  /** Follows symbolic links, as Claude Code does. */
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
    const content = this.problem === null ? readFileSync(file) : Buffer.alloc(0)
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
