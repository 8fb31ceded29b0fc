/** Finds nested repositories in the index of git, the file `.git/index`. Git looks into them, also if `.gitmodules` does not name them. */

/** The number of bytes before the first entry. */
const headerBytes = 12
/** In version 2 and 3, each entry starts a multiple of this number of bytes after the first one. */
const entryStep = 8
/** The number of bytes from the start of an entry to its mode. */
const modeStart = 24
/** The number of bytes from the mode of an entry to its flags, without the hash. */
const numbersBytes = 16
/** The flag that says that two more bytes of flags follow. */
const hasMoreFlags = 0x40
const pathMax = 4096
const pathsMax = 500

/**
 * Returns the paths of all nested repositories, perhaps with some that do not exist, because other numbers can look like the mode of one.
 * Returns null if the paths are not clear: in version 4, names are shortened, in a divided index they are left out, and an index with
 * very many of the bytes that are searched for takes too long.
 */
export function nestedPaths(index: Uint8Array, hashBytes: number): readonly string[] | null {
  const hasFullNames = index[7] === 2 || index[7] === 3
  const paths: string[] = []
  let bytesLeft = index.length / 8
  // The mode of a nested repository is 00 00 E0 00. Looking for one byte is much quicker than looking at every byte.
  for (let at = index.indexOf(0xe0); at >= 0; at = index.indexOf(0xe0, at + 1)) {
    if (--bytesLeft < 0) return null
    const mode = at - 2
    if (index[mode] !== 0 || index[mode + 1] !== 0 || index[mode + 3] !== 0) continue
    if (hasFullNames && (mode - headerBytes - modeStart) % entryStep !== 0) continue
    const flags = mode + numbersBytes + hashBytes
    const path = textAt(index, flags + (((index[flags] ?? 0) & hasMoreFlags) === 0 ? 2 : 4))
    if (path === '' || !hasFullNames || paths.length === pathsMax) return null
    paths.push(path)
  }
  return paths
}

/** Returns the text before the next NUL. */
function textAt(bytes: Uint8Array, start: number): string {
  const found = bytes.subarray(start, start + pathMax)
  const end = found.indexOf(0)
  return new TextDecoder().decode(end < 0 ? found : found.subarray(0, end))
}
