/** The patterns of paths in a shell command, such as `secret*` followed by `/a.txt`, which the shell replaces with the names of files. */
import type { LinkedNames } from './files/rule-links.ts'
import type { WithPath } from './path-rules.ts'
import { isPattern, matchesName } from './paths.ts'

/** How many names and folders are compared with patterns for one call. */
const comparisonsMax = 3000
/** The most patterns of one call, counted from every folder in which it can run. */
const patternsMax = 200
/** A longer part of a pattern is taken to match every name. */
const partMax = 255

/** A folder or file that rules name, and what they name in it. */
export interface PathNode<T> {
  readonly entries: Map<string, PathNode<T>>
  readonly items: T[]
}

/** Adds an item at its path. */
export function addToTree<T extends WithPath>(root: PathNode<T>, item: T): void {
  let node = root
  for (const name of partsOf(item.path)) {
    let next = node.entries.get(name)
    if (!next) {
      next = { entries: new Map(), items: [] }
      node.entries.set(name, next)
    }
    node = next
  }
  node.items.push(item)
}
function partsOf(path: string): readonly string[] {
  return path.split('/').filter(part => part !== '')
}

export class PathPatterns {
  /** Whether the patterns were compared with all names that they may match. */
  isComplete = true
  readonly #patterns: readonly (readonly string[])[]
  #left = comparisonsMax

  /** The patterns must be absolute, without `.` and `..`, and in the form in which paths are compared. */
  constructor(absolute: Iterable<string>, linked: LinkedNames) {
    const found = new Set<string>()
    for (const pattern of absolute) {
      if (found.size >= patternsMax) {
        this.isComplete = false
        break
      }
      found.add(pattern)
      for (const through of this.#throughLinks(partsOf(pattern), linked)) found.add(through)
    }
    // Repeated pairs of stars match the same as one.
    const isNew = (part: string, index: number, parts: readonly string[]) => part !== '**' || parts[index - 1] !== part
    this.#patterns = [...found].map(pattern => partsOf(pattern).filter(isNew))
  }

  /** Yields the pattern with the links that rules name, for a pattern that matches where they lead. */
  *#throughLinks(pattern: readonly string[], linked: LinkedNames): Generator<string> {
    for (const { written, real } of linked.all()) {
      const parts = partsOf(real)
      const isInside =
        pattern.length >= parts.length && parts.every((name, index) => this.#matches(pattern[index], name))
      if (isInside) yield `${written}/${pattern.slice(parts.length).join('/')}`
    }
  }

  /** Returns the items whose path a pattern may match. An item for a folder also matches if the pattern may match something in the folder. */
  find<T extends WithPath>(root: PathNode<T>): ReadonlySet<T> {
    const found = new Set<T>()
    for (const pattern of this.#patterns) this.#visit(root, pattern, 0, found)
    return found
  }

  #visit<T extends WithPath>(node: PathNode<T>, pattern: readonly string[], at: number, found: Set<T>): void {
    if (!this.#takes()) return
    const part = pattern[at]
    for (const item of node.items) if (part === undefined || item.isFolder) found.add(item)
    if (part === undefined || node.entries.size === 0) return
    // Some shells and programs let two stars match any number of folders, also none.
    if (part === '**') this.#visit(node, pattern, at + 1, found)
    if (!isPattern(part)) {
      const next = node.entries.get(part)
      if (next) this.#visit(next, pattern, at + 1, found)
      return
    }
    for (const [name, next] of node.entries) {
      if (!this.isComplete) return
      if (!this.#matches(part, name)) continue
      this.#visit(next, pattern, at + 1, found)
      if (part === '**') this.#visit(next, pattern, at, found)
    }
  }

  #takes(): boolean {
    if (--this.#left < 0) this.isComplete = false
    return this.isComplete
  }
  #matches(part: string | undefined, name: string): boolean {
    if (part === undefined || !this.#takes()) return false
    return part.length > partMax || matchesName(part, name)
  }
}

/** Returns whether a shell may replace the word with names of files. */
export function isPathPattern(word: string): boolean {
  if (/[*?]/.test(word)) return true
  const start = word.indexOf('[')
  return start >= 0 && word.indexOf(']', start + 2) > 0
}
