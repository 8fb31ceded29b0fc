/** Finds the folders in which a pattern of Claude Code's tool Glob looks for files. */
import { posix } from 'node:path'

const alternativesMax = 64
const lengthMax = 4096

/** Returns the folders before the first wildcard. A pattern that could lead anywhere counts as the root. */
export function globFolders(pattern: string, folder: string): string[] {
  const patterns = withoutBraces(pattern)
  return patterns ? [...new Set(patterns.map(each => folderOf(each, folder)))] : ['/']
}

function folderOf(pattern: string, folder: string): string {
  const special = pattern.search(/[*?[\]\\!()]/)
  if (special < 0) return posix.resolve(folder, pattern)
  // After a wildcard, `..` leads to an unknown folder.
  if (/(?:^|\/)\.\.(?:\/|$)/.test(pattern.slice(special))) return '/'
  return posix.resolve(folder, pattern.slice(0, pattern.lastIndexOf('/', special) + 1))
}

/** Returns the pattern once for each alternative in braces, or null if the pattern is too long or has too many alternatives. */
function withoutBraces(pattern: string): readonly string[] | null {
  if (pattern.length > lengthMax) return null
  let patterns = [pattern]
  while (patterns.some(each => /\{[^{}]*\}/.test(each))) {
    patterns = patterns.flatMap(each => {
      const [group = '', list = ''] = /\{([^{}]*)\}/.exec(each) ?? []
      return group === '' ? [each] : list.split(',').map(item => each.replace(group, () => item))
    })
    if (patterns.length > alternativesMax) return null
  }
  return patterns
}
