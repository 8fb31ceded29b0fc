/** Rules for paths, arranged so that those for a path, or for everything in a folder, are found without comparing all of them. */
import { type LinkedNames, renamed } from './files/rule-links.ts'
import { addToTree, type PathNode, type PathPatterns } from './path-patterns.ts'

/** An item with a path, in the form in which paths are compared. */
export interface WithPath {
  readonly path: string
  /** Whether the item applies to everything in the folder at this path. */
  readonly isFolder: boolean
}

export class PathRules<T extends WithPath> {
  readonly #byPath = new Map<string, T[]>()
  #sorted: readonly string[] | undefined
  #tree: PathNode<T> | undefined

  add(item: T): void {
    const items = this.#byPath.get(item.path)
    if (items) items.push(item)
    else this.#byPath.set(item.path, [item])
  }

  get size(): number {
    return this.#byPath.size
  }

  /** Yields the items that apply to one of the paths, directly or through a folder that contains it. */
  *about(names: ReadonlySet<string>, folders: ReadonlySet<string>): Generator<T> {
    for (const folder of folders)
      for (const item of this.#byPath.get(folder) ?? []) if (item.isFolder || names.has(folder)) yield item
    for (const name of names) if (!folders.has(name)) yield* this.#byPath.get(name) ?? []
  }

  /** Returns the items whose paths the patterns may match. */
  reachedBy(patterns: PathPatterns): ReadonlySet<T> {
    if (!this.#tree) {
      this.#tree = { entries: new Map(), items: [] }
      for (const items of this.#byPath.values()) for (const item of items) addToTree(this.#tree, item)
    }
    return patterns.find(this.#tree)
  }

  /** Yields the items whose paths are in the folder. `path` is the form of the item's path that is in the folder: as written, or without links. */
  *inside(folder: string, linked: LinkedNames): Generator<{ readonly item: T; readonly path: string }> {
    for (const { written, real } of linked.inside(folder))
      for (const path of this.#pathsIn(written))
        for (const item of this.#byPath.get(path) ?? []) yield { item, path: renamed(path, written, real) }
  }

  *#pathsIn(folder: string): Generator<string> {
    if (folder !== '/' && this.#byPath.has(folder)) yield folder
    this.#sorted ??= [...this.#byPath.keys()].sort()
    const start = folder === '/' ? '/' : `${folder}/`
    for (let at = firstFrom(this.#sorted, start); ; at++) {
      const path = this.#sorted[at]
      if (path === undefined || !path.startsWith(start)) return
      yield path
    }
  }
}

/** Returns the index of the first text that is not less than `start`. */
function firstFrom(sorted: readonly string[], start: string): number {
  let low = 0
  let high = sorted.length
  while (low < high) {
    const middle = (low + high) >> 1
    if ((sorted[middle] ?? '') < start) low = middle + 1
    else high = middle
  }
  return low
}
