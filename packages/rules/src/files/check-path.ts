/** Decides whether a general rule may cover a file: on its real path, inside the folder of the session, neither protected nor secret. */
import { isInside, joinPath, parentOf } from '../paths.ts'
import type { CallSite, FileLookup } from '../site.ts'
import { isProtectedPath, isSecretPath, mayHoldCredentials } from './path-names.ts'

export type PathProblem = 'unclear' | 'outside' | 'secret' | 'protected'
export type PathCheck =
  | { readonly ok: true; readonly path: string }
  | {
      readonly ok: false
      readonly problem: PathProblem
      /** The real path. Empty if it is not clear which file is meant, so that no rule's path is equal to it. */
      readonly path: string
      /** A sentence for people. */
      readonly reason: string
    }
/** `read`: the content. `write`: the content is replaced or the file is created. `list`: only names, sizes and times are read, so secrets are not revealed. */
export type PathUse = 'read' | 'write' | 'list'

const pathMax = 4096
const partsMax = 100
const linksMax = 40

/** Checks one path of a call. A file that cannot be looked up counts as a problem. */
export function checkPath(path: string, site: CallSite, use: PathUse): PathCheck {
  if (path === '/dev/null') return { ok: true, path }
  const unclear = unclearReason(path)
  if (unclear) return failure('unclear', '', `${quote(path)} ${unclear}`)
  if (!site.files) return failure('unclear', '', 'The files of the agent are on another machine.')
  const real = resolvePath(path, site.cwd, site.files)
  if (real === null) return failure('unclear', '', `It is not clear which file ${quote(path)} means.`)
  return checkRealPath(path, real, site, use)
}

function checkRealPath(path: string, real: string, site: CallSite, use: PathUse): PathCheck {
  // The path as written is checked too: a link named .env counts as secret even if its target does not.
  const written = joinPath(site.cwd, path)
  const names = written === real ? [real] : [real, written]
  const isSecret = use !== 'list' && names.some(isSecretPath)
  // Writing to settings that may hold credentials is not checked here, because `isProtectedPath` below refuses it.
  if (isSecret || (use === 'read' && names.some(mayHoldCredentials)))
    return failure('secret', real, `${quote(path)} may contain passwords or keys.`)
  if (!isInside(real, site.folder))
    return failure('outside', real, `${quote(path)} is outside the folder of the session.`)
  if (use !== 'write') return { ok: true, path: real }
  if (names.some(name => isProtectedPath(relative(name, site.folder))))
    return failure('protected', real, `${quote(path)} decides what other programs do.`)
  if (site.files?.hasHardLinks?.(real))
    return failure('unclear', '', `${quote(path)} has a second name, perhaps outside the folder of the session.`)
  return { ok: true, path: real }
}

function failure(problem: PathProblem, path: string, reason: string): PathCheck {
  return { ok: false, problem, path, reason }
}

/** Returns why a path is ambiguous on every system, or null if it is not. */
function unclearReason(path: string): string | null {
  if (path === '') return 'names no file.'
  if (path.length > pathMax || path.split('/').length > partsMax) return 'is too long.'
  // Nearly all paths have only visible ASCII characters, so this check comes first.
  const isAscii = /^[ -~]*$/.test(path)
  if (!isAscii && (/[\p{C}\u2028\u2029]/u.test(path) || !path.isWellFormed()))
    return 'contains characters that cannot be seen.'
  if (!isAscii && /[\p{Default_Ignorable_Code_Point}]/u.test(path))
    return 'contains characters that some systems ignore.'
  if (path.startsWith('~')) return 'may start in a home folder.'
  if (/^\$|\$[{(]|`|%\w+%/.test(path)) return 'may contain a variable.'
  if (path.includes('\\') || /^[a-z]:/i.test(path) || path.startsWith('//')) return 'means another file on Windows.'
  const names = path.split('/').filter(name => name !== '' && name !== '.' && name !== '..')
  if (names.some(name => /[. ]$/.test(name) || /~\d/.test(name) || /:\$|::/.test(name)))
    return 'means another file on Windows.'
  return null
}

/** Returns the real path, or null if it is not clear to which file the path leads. */
export function resolvePath(path: string, cwd: string, files: FileLookup): string | null {
  const [real = null, other = real] = realPaths(path, cwd, files)
  return real === other ? real : null
}

/**
 * Resolves a path the way the system does (links first, then `..`), and if it contains `..`, also the way programs do that remove `..` from the text first.
 * A path that does not exist is resolved through its nearest existing parent. Null stands for a path that cannot be resolved.
 */
export function realPaths(path: string, cwd: string, files: FileLookup): readonly (string | null)[] {
  const hasParent = /(?:^|\/)\.\.(?:\/|$)/.test(path)
  // In the usual case, one lookup is enough.
  const existing = hasParent ? null : realOf(path.startsWith('/') ? path : `${cwd}/${path}`, files)
  if (existing !== null) return [existing]
  const start = realOf(cwd, files)
  if (start === null) return []
  const found = walk(start, path, files)
  return hasParent ? [found, walk(start, joinPath(start, path), files)] : [found]
}

function walk(start: string, path: string, files: FileLookup): string | null {
  let at = path.startsWith('/') ? '/' : start
  let exists = true
  for (const name of path.split('/')) {
    if (name === '' || name === '.') continue
    if (name === '..') {
      // The folder does not exist yet, so a link may be created in its place later and `..` may then lead elsewhere.
      if (!exists) return null
      at = parentOf(at)
      continue
    }
    const next = at === '/' ? `/${name}` : `${at}/${name}`
    const real: string | null = exists ? realOf(next, files) : null
    exists = real !== null && files.realPath(real) !== null
    at = real ?? next
  }
  return at
}

/** Follows a chain of links. The target of the last link need not exist. */
export function realOf(path: string, files: FileLookup): string | null {
  let real = files.realPath(path)
  for (let links = 0; real !== null && links < linksMax; links++) {
    const next = files.realPath(real)
    if (next === null || next === real) return real
    real = next
  }
  return null
}

function relative(path: string, folder: string): string {
  return isInside(path, folder) ? path.slice(folder === '/' ? 1 : folder.length + 1) : path
}

export function quote(text: string): string {
  const short = text.length > 60 ? `${text.slice(0, 57)}…` : text
  return `“${short}”`
}
