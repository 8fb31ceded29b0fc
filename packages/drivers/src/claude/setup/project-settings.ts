/** Finds the settings that a folder has for Claude Code. They can name commands that run without a question (hooks, MCP servers, helpers) and allow calls, so they apply only if the person trusts them. */
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, realpathSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'

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
  /** The hash of the paths and contents of all files; null if there is too much to read. Then nobody can trust the settings. */
  readonly sha256: string | null
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
    if (existsSync(settings) && realpathSync(settings) !== own) found.addFolder(settings)
  }
  const { files } = found
  return files.length === 0 ? null : { folder, files, sha256: found.sha256() }
}

function withParents(folder: string): readonly string[] {
  const parent = dirname(folder)
  return parent === folder ? [folder] : [folder, ...withParents(parent)]
}

class FoundFiles {
  readonly files: SettingsFile[] = []
  readonly #hash = createHash('sha256')
  /** The real paths of the folders that were read, because links can lead back to them. */
  readonly #folders = new Set<string>()
  #bytes = 0
  #isIncomplete = false

  /** Follows symbolic links, as Claude Code does. */
  add(file: string): void {
    const stats = statSync(file, { throwIfNoEntry: false })
    if (!stats) return
    if (stats.isDirectory()) {
      this.addFolder(file)
      return
    }
    this.#bytes += stats.size
    this.#isIncomplete ||= !stats.isFile() || this.files.length >= filesMax || this.#bytes > bytesMax
    const content = this.#isIncomplete ? Buffer.alloc(0) : readFileSync(file)
    this.files.push({ path: file, content })
    const digest = createHash('sha256').update(content).digest('hex')
    this.#hash.update(`${JSON.stringify([file, digest])}\n`)
  }

  addFolder(folder: string): void {
    const real = realpathSync(folder)
    if (this.#folders.has(real) || this.#isIncomplete) return
    this.#folders.add(real)
    for (const name of readdirSync(folder).sort()) if (name !== worktrees) this.add(join(folder, name))
  }

  sha256(): string | null {
    return this.#isIncomplete ? null : this.#hash.digest('hex')
  }
}
