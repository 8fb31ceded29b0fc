/** Finds the Git repository and the branch of a folder by reading files. Git itself is not started, because a repository's configuration can name programs for it to run. */
import { closeSync, constants, fstatSync, openSync, readSync, statSync } from 'node:fs'
import { dirname, isAbsolute, join, resolve } from 'node:path'
import { limits, type Repository } from '@holdpoint/protocol'

/** The files that Git writes and that are read here are shorter, so a longer file is ignored. */
const readMaxBytes = 4096
const depthMax = 64

/** Returns the repository that contains the folder, or null if there is none or its files are not as Git writes them. */
export function readRepository(folder: string): Repository | null {
  if (!isAbsolute(folder)) return null
  let root = resolve(folder)
  for (let depth = 0; depth < depthMax; depth++) {
    const gitFolder = gitFolderOf(root)
    const head = gitFolder === null ? null : readStart(join(gitFolder, 'HEAD'))
    const found = head === null ? null : headOf(head)
    if (found) return root.length > limits.pathMax ? null : { root, ...found }
    const parent = dirname(root)
    if (parent === root) return null
    root = parent
  }
  return null
}

/** Returns the `.git` folder of a repository. In a linked work tree, `.git` is a file that names the folder. */
function gitFolderOf(root: string): string | null {
  const path = join(root, '.git')
  if (isFolder(path)) return path
  const target = /^gitdir: ([^\n\0]+)\n?$/.exec(readStart(path) ?? '')?.[1]
  return target === undefined ? null : resolve(root, target)
}

/** A link that leads back to itself, or a folder that the runner may not read, does not count as a repository. */
function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory()
  } catch {
    return false
  }
}

function headOf(head: string): Pick<Repository, 'branch' | 'commit'> | null {
  const branch = /^ref: refs\/heads\/([^\s\0]+)\n?$/.exec(head)?.[1]
  if (branch !== undefined) return branch.length > limits.nameMax ? null : { branch, commit: null }
  const commit = /^([0-9a-f]{40}|[0-9a-f]{64})\n?$/.exec(head)?.[1]
  return commit === undefined ? null : { branch: null, commit }
}

/** Reads a small regular file. A pipe or a device could make reading wait forever. */
function readStart(path: string): string | null {
  let file: number | null = null
  try {
    file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
    if (!fstatSync(file).isFile()) return null
    const buffer = Buffer.alloc(readMaxBytes)
    const length = readSync(file, buffer, 0, readMaxBytes, 0)
    return length < readMaxBytes ? buffer.toString('utf8', 0, length) : null
  } catch {
    return null
  } finally {
    if (file !== null) closeSync(file)
  }
}
