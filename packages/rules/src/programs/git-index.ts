/** Finds nested repositories in the index of git, the file `.git/index`. Git looks into them, also if `.gitmodules` does not name them. */

/** The mode of an entry for a nested repository, as four bytes: 00 00 E0 00. */
const nestedMode = 0xe0
/** The number of bytes from the mode of an entry to its flags, without the hash. */
const numbersBytes = 16
/** The flag that says that two more bytes of flags follow. */
const hasMoreFlags = 0x40
const pathMax = 4096

/**
 * Returns the paths of all nested repositories, perhaps with some that do not exist, because other numbers can look like the mode of one.
 * Returns null if the paths are not clear: in version 4, names are shortened, and in a divided index they are left out.
 */
export function nestedPaths(index: Uint8Array, hashBytes: number): readonly string[] | null {
  const paths: string[] = []
  for (let at = index.indexOf(nestedMode); at >= 0; at = index.indexOf(nestedMode, at + 1)) {
    if (index[at - 2] !== 0 || index[at - 1] !== 0 || index[at + 1] !== 0) continue
    const flags = at - 2 + numbersBytes + hashBytes
    const path = textAt(index, flags + (((index[flags] ?? 0) & hasMoreFlags) === 0 ? 2 : 4))
    if (path === '' || !hasFullNames(index)) return null
    if (/^[^\p{Cc}\ufffd]+$/u.test(path)) paths.push(path)
  }
  return paths
}

/** Returns whether this is an index of version 2 or 3. */
function hasFullNames(index: Uint8Array): boolean {
  return [2, 3].includes(index[7] ?? 0)
}

/** Returns the text before the next NUL. */
function textAt(bytes: Uint8Array, start: number): string {
  const found = bytes.subarray(start, start + pathMax)
  const end = found.indexOf(0)
  return new TextDecoder().decode(end < 0 ? found : found.subarray(0, end))
}
