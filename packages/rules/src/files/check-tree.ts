/** Decides whether a program such as `grep -r` may read everything in a folder: there must be no secret among the files that it reads. */
import { isInside, parentOf } from '../paths.ts'
import type { CallSite, FileLookup } from '../site.ts'
import { checkPath, type PathCheck, quote } from './check-path.ts'
import {
  foldName,
  holdsCredentials,
  isSecretFolder,
  isSecretInFolder,
  isSecretName,
  mayHoldCredentials,
} from './path-names.ts'

/** The files of a folder that a program does not read. */
export interface TreeFilter {
  /** Names of folders that the program skips. */
  readonly skippedFolders: ReadonlySet<string>
  /** Whether the program skips files and folders whose name starts with a dot, unless an ignore file such as .gitignore includes them again. */
  readonly skipsHidden: boolean
  /** Whether the program follows symbolic links in the folder. */
  readonly followsLinks: boolean
  /** The program reads only files whose name ends with one of these; null if it reads all. */
  readonly endings: readonly string[] | null
}

/** Checking a larger folder takes too long. */
export const treeEntriesMax = 10_000
/** Folders with packages that anybody can download. Test keys in packages are not secrets. */
const publicFolders: ReadonlySet<string> = new Set(['node_modules', 'site-packages'])
/** Files with patterns of ignored files. The key is the entry of a folder that is such a file or contains it. */
const ignoreFiles: ReadonlyMap<string, string> = new Map([
  ['.gitignore', '.gitignore'],
  ['.ignore', '.ignore'],
  ['.rgignore', '.rgignore'],
  ['.git', '.git/info/exclude'],
])

/** Like `checkPath` for a program that reads everything in a folder. */
export function checkTree(path: string, site: CallSite, filter: TreeFilter): PathCheck {
  const root = checkPath(path, site, 'read')
  if (!root.ok) return root
  const { files } = site
  const unclear = (reason: string): PathCheck => ({ ok: false, problem: 'unclear', path: root.path, reason })
  if (!files?.list) return unclear('Holdpoint cannot list the files of the agent.')
  const hidden = new HiddenNames(files, filter.skipsHidden, root.path)
  let entriesLeft = treeEntriesMax
  const folders = [{ folder: root.path, isPublic: false }]
  const linked = new Set<string>()
  for (let next = folders.pop(); next !== undefined; next = folders.pop()) {
    const { folder, isPublic } = next
    const entries = files.list(folder) ?? []
    entriesLeft -= entries.length
    if (entriesLeft < 0) return unclear(`${quote(path)} has too many files to check them for secrets.`)
    hidden.readIgnoreFiles(
      folder,
      entries.map(({ name }) => name),
    )
    const parent = foldName(folder.slice(folder.lastIndexOf('/') + 1))
    for (const { name, kind } of entries) {
      if (hidden.skips(name)) continue
      const inner = `${folder === '/' ? '' : folder}/${name}`
      if (kind === 'other') {
        if (!filter.followsLinks) continue
        const target = checkPath(inner, site, 'read')
        if (!target.ok) return target
        if (!linked.has(target.path)) folders.push({ folder: target.path, isPublic: isInPackages(target.path, site) })
        linked.add(target.path)
      } else if (kind === 'file') {
        if (!isPublic && isSecretFile(inner, name, filter, files)) return secretInside(inner, site)
      } else if (!filter.skippedFolders.has(name)) {
        const isInnerPublic = isPublic || isPublicFolder(folder, name)
        if (!isInnerPublic && isSecretFolder(foldName(name), parent)) return secretInside(inner, site)
        // The content of packages does not matter, but a link in them can lead anywhere.
        if (!isInnerPublic || filter.followsLinks) folders.push({ folder: inner, isPublic: isInnerPublic })
      }
    }
  }
  return root
}

/** Decides which hidden files a program skips. A line such as `!.env` in an ignore file makes the program read them after all. */
class HiddenNames {
  readonly #files: FileLookup
  readonly #skipsHidden: boolean
  readonly #included: ((name: string) => boolean)[] = []

  constructor(files: FileLookup, skipsHidden: boolean, root: string) {
    this.#files = files
    this.#skipsHidden = skipsHidden && files.readText !== undefined
    for (let folder = root; this.#skipsHidden && folder !== '/'; ) {
      folder = parentOf(folder)
      this.readIgnoreFiles(folder, [...ignoreFiles.keys()])
    }
  }

  readIgnoreFiles(folder: string, names: readonly string[]): void {
    if (!this.#skipsHidden) return
    for (const [entry, name] of ignoreFiles) {
      if (!names.includes(entry)) continue
      const text = this.#files.readText?.(`${folder}/${name}`) ?? null
      for (const line of (text ?? '').split('\n').map(each => each.trim()))
        if (line.startsWith('!')) this.#included.push(nameMatcher(line.slice(1)))
      if (text === null && this.#files.realPath(`${folder}/${name}`) !== null) this.#included.push(() => true)
    }
  }

  skips(name: string): boolean {
    return this.#skipsHidden && name.startsWith('.') && !this.#included.some(matches => matches(name))
  }
}

/** Returns a function that returns true at least for the names that the last part of a pattern matches. It compares only the text before the first special character and the text after the last one. */
function nameMatcher(pattern: string): (name: string) => boolean {
  const names = pattern.toLowerCase().split('/')
  const wanted = names.findLast(name => name !== '') ?? ''
  const special = [...'*?[]\\{}']
  const first = Math.min(...special.map(sign => wanted.indexOf(sign)).filter(at => at >= 0))
  if (first === Number.POSITIVE_INFINITY) return name => name.toLowerCase() === wanted
  const last = Math.max(...special.map(sign => wanted.lastIndexOf(sign)))
  // A backslash makes the next character literal, so that character is not part of the end.
  const end = wanted.slice(last + (wanted[last] === '\\' ? 2 : 1))
  return name => name.toLowerCase().startsWith(wanted.slice(0, first)) && name.toLowerCase().endsWith(end)
}

function isSecretFile(path: string, name: string, { endings }: TreeFilter, files: FileLookup): boolean {
  if (endings !== null && !endings.some(ending => name.endsWith(ending))) return false
  if (isSecretName(foldName(name)) || isSecretInFolder(path)) return true
  // Nearly every project has settings of git or of a package manager, so their content decides. Settings that cannot be read count as secret.
  return mayHoldCredentials(path) && holdsCredentials(files.readText?.(path) ?? 'token')
}

/** Git keeps content in `objects`, compressed. */
function isPublicFolder(folder: string, name: string): boolean {
  return publicFolders.has(name) || (name === 'objects' && folder.endsWith('/.git'))
}

/** Returns whether a path, at which a link ends, is inside a folder with packages. */
function isInPackages(path: string, { folder }: CallSite): boolean {
  return path
    .slice(folder.length)
    .split('/')
    .some(name => publicFolders.has(name))
}

function secretInside(path: string, { folder }: CallSite): PathCheck {
  const shown = isInside(path, folder) ? path.slice(folder.length + 1) : path
  return { ok: false, problem: 'secret', path, reason: `It would also read ${quote(shown)}.` }
}
