/** Resolves symbolic links, for the rule that keeps agents out of the data folder. */
import { lstatSync, readlinkSync, realpathSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'

/** Returns the path without symbolic links, or null if nothing exists there or it cannot be reached. A link to a missing file is resolved to the path at which the file would be created. */
export function realPath(path: string): string | null {
  try {
    const stats = lstatSync(path, { throwIfNoEntry: false })
    if (!stats) return null
    return stats.isSymbolicLink() ? targetOf(path) : realpathSync.native(path)
  } catch {
    return null
  }
}

function targetOf(link: string): string {
  try {
    return realpathSync.native(link)
  } catch {
    const target = resolve(dirname(link), readlinkSync(link))
    return join(realpathSync.native(dirname(target)), basename(target))
  }
}
