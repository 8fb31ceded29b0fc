/** Functions on POSIX paths that do not access a file system. This package must also work outside Node. */

/** Resolves `path` from the absolute path `base`, and removes `.`, `..` and repeated slashes. */
export function joinPath(base: string, path: string): string {
  const joined = path.startsWith('/') ? path : `${base}/${path}`
  if (joined.startsWith('/') && !unresolvedPart.test(joined)) return joined
  const parts: string[] = []
  for (const part of joined.split('/'))
    if (part === '..') parts.pop()
    else if (part !== '' && part !== '.') parts.push(part)
  return `/${parts.join('/')}`
}

/** Reads the path of a rule, which starts in `folder` unless it is absolute. `docs/**` is the folder `docs` with everything in it. */
export function rulePath(path: string, folder: string): { readonly path: string; readonly isFolder: boolean } {
  const isFolder = path.endsWith('/**')
  return { path: joinPath(folder, isFolder ? path.slice(0, -2) : path), isFolder }
}
/** An empty part, `.` or `..`. */
const unresolvedPart = /\/\.{0,2}(?:\/|$)/

/** No system starts a program with more text than this in one argument. Longer commands and lists of paths are not searched to the end. */
export const searchedMax = 128 * 1024

/** Returns the first paths, which together are short enough to be searched. */
export function searchedPaths(paths: readonly string[]): readonly string[] {
  let left = searchedMax
  const end = paths.findIndex(path => {
    left -= path.length
    return left < 0
  })
  return end < 0 ? paths : paths.slice(0, end)
}

export function parentOf(path: string): string {
  return path.slice(0, path.lastIndexOf('/')) || '/'
}

/** Returns the path and all folders above it, the longest first. */
export function foldersAbove(path: string): readonly string[] {
  const above = [path]
  for (let end = path.lastIndexOf('/'); end > 0; end = path.lastIndexOf('/', end - 1)) above.push(path.slice(0, end))
  if (path !== '/') above.push('/')
  return above
}

/** Returns whether `path` is `folder` or something in it. Both must be absolute, without `.` and `..`. `folder` is empty if it is not known; then nothing is inside it. */
export function isInside(path: string, folder: string): boolean {
  if (folder === '') return false
  return folder === '/' || path === folder || path.startsWith(`${folder}/`)
}

/** Some file systems ignore case and the composition of accents, so two paths that differ only in these count as the same. */
export function foldPath(path: string): string {
  return path.normalize('NFC').toLowerCase()
}

export function isPattern(path: string): boolean {
  return /[*?[]/.test(path)
}

/** Returns whether a shell pattern can match `folder` or something in it. Both must be absolute, without `.` and `..`. */
export function patternReaches(pattern: string, folder: string): boolean {
  const parts = pattern.split('/')
  return folder.split('/').every((name, index) => matchesName(parts[index], name))
}

/** Matches one name as a shell does: a wildcard does not match a dot at the start of the name. */
export function matchesName(pattern: string | undefined, name: string): boolean {
  if (pattern === undefined) return false
  if (name.startsWith('.') && !pattern.startsWith('.')) return false
  const wanted = withoutSets(pattern)
  // Remember the last star. If the rest does not match, let that star match one more character.
  let star = -1
  let resumeAt = 0
  let at = 0
  for (let i = 0; i < name.length; ) {
    if (wanted[at] === '*') {
      star = at++
      resumeAt = i
    } else if (wanted[at] === '?' || wanted[at] === name[i]) {
      at++
      i++
    } else if (star >= 0) {
      at = star + 1
      i = ++resumeAt
    } else return false
  }
  return /^\**$/.test(wanted.slice(at))
}

/** Replaces each set such as [a-z], []x] or [[:alpha:]] with a wildcard for one character. If a set has no end, a wildcard for any text replaces the set and everything after it, so that each character is read once. */
function withoutSets(pattern: string): string {
  let result = ''
  for (let at = 0; at < pattern.length; at++) {
    if (pattern[at] !== '[') {
      result += pattern[at]
      continue
    }
    const end = endOfSet(pattern, at)
    if (end < 0) return `${result}*`
    result += '?'
    at = end
  }
  return result
}

/** Returns the index of the bracket that ends the set at `start`, or -1. A bracket right at the start of a set, and those of a class such as [:alpha:], belong to the set. */
function endOfSet(pattern: string, start: number): number {
  let at = start + 1
  if (pattern[at] === '!' || pattern[at] === '^') at++
  if (pattern[at] === ']') at++
  for (; at < pattern.length; at++) {
    if (pattern[at] === ']') return at
    const kind = pattern[at] === '[' ? (pattern[at + 1] ?? '') : ''
    if (kind === '' || !':=.'.includes(kind)) continue
    const end = pattern.indexOf(`${kind}]`, at + 2)
    if (end < 0) return -1
    at = end + 1
  }
  return -1
}
