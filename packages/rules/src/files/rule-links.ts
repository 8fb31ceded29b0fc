/** Finds the symbolic links on the way to the paths and folders of rules. What a folder contains is looked up again only if the folder has changed. */
import { foldersAbove, foldPath, isInside } from '../paths.ts'
import type { FileLookup } from '../site.ts'
import { realOf } from './check-path.ts'

/** A symbolic link on the way to the path of a rule. */
export interface RuleLink {
  /** The path of the link, as rules write it. */
  readonly written: string
  /** The path to which it leads. Nothing need exist there. */
  readonly real: string
}

/** The maximum number of lookups for one call. One lookup takes 2 to 5 µs. The maximum is enough for all rules that a gateway can have, if most of them name files in the same folders. */
const lookupsMax = 12_000

interface Entry {
  readonly name: string
  readonly written: string
  /** The entries of this folder that rules name, or through which their paths lead. Null if there are none. */
  entries: Map<string, Entry> | null
}

/** The entries of a folder, as they were when the folder at this real path had this version. */
interface KnownFolder {
  readonly real: string
  readonly version: string
  readonly links: readonly Entry[]
  /** The entries that exist and may contain further entries. */
  readonly folders: readonly Entry[]
}

export class RuleLinks {
  readonly #root: Entry = { name: '', written: '/', entries: null }
  readonly #known = new WeakMap<FileLookup, Map<Entry, KnownFolder>>()
  #longest = 1

  /** The paths must be absolute, without `.` and `..`. */
  constructor(paths: Iterable<string>) {
    for (const path of paths) {
      this.#add(path)
      this.#longest = Math.max(this.#longest, foldPath(path).length)
    }
  }

  /** How long the longest path is, in the form in which paths are compared. */
  get longest(): number {
    return this.#longest
  }

  #add(path: string): void {
    let at = this.#root
    for (let start = 1; start < path.length; ) {
      const slash = path.indexOf('/', start)
      const end = slash < 0 ? path.length : slash
      const name = path.slice(start, end)
      at.entries ??= new Map()
      let next = at.entries.get(name)
      if (!next) {
        next = { name, written: path.slice(0, end), entries: null }
        at.entries.set(name, next)
      }
      at = next
      start = end + 1
    }
  }

  /** Returns the links, or null if there are too many files to look up. */
  find(files: FileLookup | null): readonly RuleLink[] | null {
    if (!files || !this.#root.entries) return []
    let known = this.#known.get(files)
    if (!known) {
      known = new Map()
      this.#known.set(files, known)
    }
    const search = new LinkSearch(files, known)
    search.visit(this.#root, '/')
    return search.hasTooMany ? null : search.links
  }
}

/** One search for links, from the root down. */
class LinkSearch {
  readonly links: RuleLink[] = []
  readonly #files: FileLookup
  readonly #known: Map<Entry, KnownFolder>
  #left = lookupsMax

  constructor(files: FileLookup, known: Map<Entry, KnownFolder>) {
    this.#files = files
    this.#known = known
  }

  get hasTooMany(): boolean {
    return this.#left < 0
  }

  /** Visits a folder whose path without links is `real`. */
  visit(folder: Entry, real: string): void {
    this.#left--
    if (this.hasTooMany) return
    const { links, folders } = this.#entriesOf(folder, real)
    for (const entry of folders) this.visit(entry, inFolder(real, entry.name))
    // A link can lead through other links, which may change without any change of its folder, so it is always resolved.
    for (const entry of links) {
      this.#left--
      const target = realOf(inFolder(real, entry.name), this.#files)
      if (target === null) continue
      this.links.push({ written: entry.written, real: target })
      // A link may lead to a folder above itself. The visits end anyway, because they follow the paths of rules, which end.
      if (entry.entries) this.visit(entry, target)
    }
  }

  #entriesOf(folder: Entry, real: string): Pick<KnownFolder, 'links' | 'folders'> {
    // The version is read first, so that a change during the lookups is noticed the next time.
    const version = this.#files.folderVersion?.(real) ?? null
    const known = this.#known.get(folder)
    if (known && known.version === version && known.real === real) return known
    const links: Entry[] = []
    const folders: Entry[] = []
    for (const entry of folder.entries?.values() ?? []) {
      this.#left--
      if (this.hasTooMany) return { links, folders }
      const kind = this.#kindOf(inFolder(real, entry.name))
      if (kind === 'link') links.push(entry)
      else if (kind === 'other' && entry.entries) folders.push(entry)
    }
    if (version !== null) this.#known.set(folder, { real, version, links, folders })
    return { links, folders }
  }

  #kindOf(path: string): 'link' | 'other' | null {
    if (this.#files.entryKind) return this.#files.entryKind(path)
    const real = this.#files.realPath(path)
    if (real === null) return null
    return real === path ? 'other' : 'link'
  }
}

function inFolder(folder: string, name: string): string {
  return folder === '/' ? `/${name}` : `${folder}/${name}`
}

/** Finds the paths that rules may have written for a path: the path itself and, if it is behind a link, the path through the link. */
export class LinkedNames {
  readonly #byTarget = new Map<string, string[]>()
  /** No rule names a longer folder, directly or through a link. */
  readonly #longestFolder: number

  /** The paths of the links must be in the form in which paths are compared. `longestPath` is the length of the longest path of a rule. */
  constructor(links: readonly RuleLink[], longestPath: number) {
    this.#longestFolder = longestPath + Math.max(0, ...links.map(({ real }) => real.length))
    for (const { written, real } of links) {
      const names = this.#byTarget.get(real)
      if (names) names.push(written)
      else this.#byTarget.set(real, [written])
    }
  }

  /** Adds the names of `path` to `names`, and the names of the folders that contain it to `folders`, if a rule can name them. A path is a folder that contains itself. */
  addTo(path: string, names: Set<string>, folders: Set<string>): void {
    names.add(path)
    // A hostile path has a thousand folders with long names, and adding a folder takes time in proportion to the length of its path.
    const above = foldersAbove(path).filter(folder => folder.length <= this.#longestFolder)
    for (const [index, folder] of above.entries()) {
      folders.add(folder)
      for (const written of this.#byTarget.get(folder) ?? []) {
        names.add(renamed(path, folder, written))
        for (const inner of above.slice(0, index + 1)) folders.add(renamed(inner, folder, written))
      }
    }
  }

  /** Yields all links. */
  *all(): Generator<RuleLink> {
    for (const [real, names] of this.#byTarget) for (const written of names) yield { written, real }
  }

  /** Yields the paths under which rules may have written the folder, and the links in it: `written` is the path in a rule, `real` the same path without links. */
  *inside(folder: string): Generator<{ readonly written: string; readonly real: string }> {
    yield { written: folder, real: folder }
    for (const [real, names] of this.#byTarget)
      for (const written of names)
        if (isInside(real, folder)) yield { written, real }
        else if (isInside(folder, real)) yield { written: renamed(folder, real, written), real: folder }
  }
}

/** Replaces the folder `from`, which contains the path, with the folder `to`. */
export function renamed(path: string, from: string, to: string): string {
  const rest = from === '/' ? path.slice(1) : path.slice(from.length + 1)
  if (rest === '') return to
  return to === '/' ? `/${rest}` : `${to}/${rest}`
}
