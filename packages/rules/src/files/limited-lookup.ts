/** Looks up files for one call and caches the results. After many lookups the call counts as too long to check, so that a call with very many paths cannot keep the gateway busy. */
import type { FileLookup, FolderEntry } from '../site.ts'

/** One lookup takes about 10 µs. A search through a whole project needs several hundred lookups. */
const lookupsMax = 1000
/** The maximum number of folder entries. A folder counts each time it is listed, because a search that names it many times goes through it each time. */
const entriesMax = 12_000

/** How much is read as bytes. The last file may exceed it. */
const bytesMax = 8 * 1024 * 1024

class TooManyLookups extends Error {}

/** Runs `work` with a limited number of file lookups. Returns `tooMany` if `work` needs more. */
export function withLimitedLookup<T>(files: FileLookup | null, work: (files: FileLookup | null) => T, tooMany: T): T {
  try {
    return work(files && limitedLookup(files))
  } catch (error) {
    if (error instanceof TooManyLookups) return tooMany
    throw error
  }
}

function limitedLookup(files: FileLookup): FileLookup {
  let left = lookupsMax
  function remembered<T>(look: (path: string) => T): (path: string) => T {
    const known = new Map<string, T>()
    return path => {
      const before = known.get(path)
      if (before !== undefined) return before
      if (left-- === 0) throw new TooManyLookups()
      const found = look(path)
      known.set(path, found)
      return found
    }
  }
  let entriesLeft = entriesMax
  function counted(entries: readonly FolderEntry[] | null): readonly FolderEntry[] | null {
    entriesLeft -= 1 + (entries?.length ?? 0)
    if (entriesLeft < 0) throw new TooManyLookups()
    return entries
  }
  let bytesLeft = bytesMax
  function withBytes(read: (path: string) => Uint8Array | null): (path: string) => Uint8Array | null {
    return path => {
      if (bytesLeft <= 0) throw new TooManyLookups()
      const bytes = read(path)
      bytesLeft -= bytes?.length ?? 0
      return bytes
    }
  }
  const { readText, readBytes, list, hasHardLinks } = files
  const listed = list && remembered(folder => list.call(files, folder))
  return {
    realPath: remembered(path => files.realPath(path)),
    ...(readText && { readText: remembered(path => readText.call(files, path)) }),
    ...(readBytes && { readBytes: remembered(withBytes(path => readBytes.call(files, path))) }),
    ...(listed && { list: folder => counted(listed(folder)) }),
    ...(hasHardLinks && { hasHardLinks: remembered(path => hasHardLinks.call(files, path)) }),
  }
}
