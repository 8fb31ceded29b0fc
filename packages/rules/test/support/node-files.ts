/** Implements the file lookup of the rules with the real file system, and makes folders for tests. */
import {
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join, resolve } from 'node:path'
import { afterAll } from 'vitest'
import type { CallSite, FileLookup } from '../../src/site.ts'

export const nodeFiles: FileLookup = {
  realPath(path) {
    try {
      const stats = lstatSync(path, { throwIfNoEntry: false })
      if (!stats) return null
      return stats.isSymbolicLink() ? targetOf(path) : realpathSync.native(path)
    } catch {
      return null
    }
  },
  readText(path) {
    try {
      return readFileSync(path, 'utf8')
    } catch {
      return null
    }
  },
  readBytes(path) {
    try {
      return readFileSync(path)
    } catch {
      return null
    }
  },
  list(folder) {
    try {
      return readdirSync(folder, { withFileTypes: true }).map(entry => ({
        name: entry.name,
        kind: entry.isFile() ? 'file' : entry.isDirectory() ? 'folder' : 'other',
      }))
    } catch {
      return null
    }
  },
  hasHardLinks: path => (lstatSync(path, { throwIfNoEntry: false })?.isFile() ?? false) && lstatSync(path).nlink > 1,
}

function targetOf(link: string): string {
  try {
    return realpathSync.native(link)
  } catch {
    const target = resolve(dirname(link), readlinkSync(link))
    return join(realpathSync.native(dirname(target)), basename(target))
  }
}

/** Files by their path. A text that starts with `->` makes a symbolic link. A path that ends with a slash makes a folder. In the tree of `makeSite`, `.git/HEAD` makes a repository, with the folders without which git ignores it. */
export type FileTree = Readonly<Record<string, string>>

export function writeTree(folder: string, tree: FileTree): void {
  for (const [path, content] of Object.entries(tree)) {
    const at = join(folder, path)
    mkdirSync(path.endsWith('/') ? at : dirname(at), { recursive: true })
    if (path.endsWith('/')) continue
    if (content.startsWith('->')) symlinkSync(content.slice(2), at)
    else writeFileSync(at, content)
  }
}

const made: string[] = []
afterAll(() => {
  for (const folder of made) rmSync(folder, { recursive: true, force: true })
})

/** Makes a session's folder, `project`, in a temporary folder that is removed after the tests. */
export function makeSite(tree: FileTree): CallSite & { readonly outside: string } {
  const outside = realpathSync(mkdtempSync(join(tmpdir(), 'holdpoint-rules-')))
  const folder = join(outside, 'project')
  mkdirSync(folder)
  writeTree(folder, tree)
  for (const path of Object.keys(tree))
    if (/(?:^|\/)\.git\/HEAD$/.test(path))
      for (const name of ['objects', 'refs']) mkdirSync(join(folder, dirname(path), name), { recursive: true })
  made.push(outside)
  return { folder, cwd: folder, home: join(outside, 'home'), files: nodeFiles, outside }
}
