/** Looks at the files of this machine. For rules: where a path leads, what a small file or a folder contains, and whether a file has a second name. For new sessions: whether a folder exists. */
import { lstatSync, readdirSync, readFileSync, readlinkSync, realpathSync, statSync } from 'node:fs'
import { access, constants, stat } from 'node:fs/promises'
import { basename, dirname, isAbsolute, join, resolve } from 'node:path'
import type { AgentMachine } from '@holdpoint/engine'

/** Returns the path without symbolic links, or null if nothing exists there or it cannot be reached. A link to a missing file is resolved to the path at which the file would be created. */
export function realPath(path: string): string | null {
  try {
    const stats = lstatSync(path, { throwIfNoEntry: false })
    if (!stats) return null
    return stats.isSymbolicLink() ? targetOf(path) : realpathSync.native(path)
  } catch {
    return null
  }
}

function targetOf(link: string): string {
  try {
    return realpathSync.native(link)
  } catch {
    return missingPath(resolve(realpathSync.native(dirname(link)), readlinkSync(link)))
  }
}

/** Resolves a path of which at least the last part is missing. */
function missingPath(path: string): string {
  const parent = dirname(path)
  try {
    return join(realpathSync.native(parent), basename(path))
  } catch {
    return join(missingPath(parent), basename(path))
  }
}

/** Says what exists at a path, for a person who wants to start a session there. */
export const checkFolder: NonNullable<AgentMachine['checkFolder']> = async path => {
  if (!isAbsolute(path)) return 'relative'
  try {
    if (!(await stat(path)).isDirectory()) return 'other'
    await access(path, constants.R_OK | constants.X_OK)
    return 'folder'
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException // `stat` and `access` reject only with errors of the system
    return code === 'EACCES' || code === 'EPERM' ? 'denied' : 'missing'
  }
}

/** The largest file that `readText` reads. Larger ones are not settings that rules look at. */
const textMaxBytes = 64 * 1024

/** The largest file that `readBytes` reads: the index of a repository with about 75,000 files. */
const bytesMax = 8 * 1024 * 1024

function readSmall(path: string, maxBytes: number): Buffer | null {
  try {
    const stats = statSync(path)
    return stats.isFile() && stats.size <= maxBytes ? readFileSync(path) : null
  } catch {
    return null
  }
}

/** File systems record times of changes in steps of up to 2 s. A folder that changed more recently may change again without a new time. */
const timeStepMs = 3000

/** Relies on POSIX: a change of an entry sets the time of the last change of its folder, which programs cannot set. */
export function folderVersion(folder: string, now: number): string | null {
  try {
    const stats = statSync(folder, { throwIfNoEntry: false })
    if (!stats?.isDirectory() || now - stats.ctimeMs < timeStepMs) return null
    return `${stats.dev} ${stats.ino} ${stats.ctimeMs}`
  } catch {
    return null
  }
}

/** The files of this machine, for rules. */
export const machineFiles: AgentMachine['files'] = {
  realPath,
  readText: path => readSmall(path, textMaxBytes)?.toString('utf8') ?? null,
  readBytes: path => readSmall(path, bytesMax),
  list: folder => {
    try {
      return readdirSync(folder, { withFileTypes: true }).map(entry => ({
        name: entry.name,
        kind: entry.isFile() ? 'file' : entry.isDirectory() ? 'folder' : 'other',
      }))
    } catch {
      return null
    }
  },
  entryKind: path => {
    try {
      const stats = lstatSync(path, { throwIfNoEntry: false })
      return stats ? (stats.isSymbolicLink() ? 'link' : 'other') : null
    } catch {
      return null
    }
  },
  folderVersion: folder => folderVersion(folder, Date.now()),
  hasHardLinks: path => {
    try {
      const stats = lstatSync(path, { throwIfNoEntry: false })
      return stats?.isFile() === true && stats.nlink > 1
    } catch {
      // The file cannot be examined, so rules must not rely on it.
      return true
    }
  },
}
