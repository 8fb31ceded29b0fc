/** Puts a backup in the place of an archive: only one that is whole, only where no gateway runs, and never by destroying what was there. */
import {
  closeSync,
  constants,
  copyFileSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
} from 'node:fs'
import { dirname } from 'node:path'
import type { CrashPoint } from '@holdpoint/engine'
import { Fault } from '@holdpoint/protocol'
import { verifyChain } from './hash-chain.ts'
import { openSqlite } from './sqlite.ts'
import { SqliteFile, withStoreFaults } from './sqlite-file.ts'

export interface RestoreOptions {
  readonly from: string
  readonly to: string
  readonly crashPoint?: CrashPoint
}
export interface Restored {
  readonly events: number
  /** Where the archive that was there before has gone; null where there was none. */
  readonly kept: string | null
}

export async function restoreSqlite({ from, to, crashPoint }: RestoreOptions): Promise<Restored> {
  if (!existsSync(from)) throw new Fault('not_found', `There is no backup at ${from}. Name the file that backup wrote.`)
  const stamp = new Date().toISOString().replace(/\D/g, '').slice(0, 17)
  const fresh = `${to}.restoring-${stamp}`
  try {
    // The check is made on the copy that will be used, and leaves the backup as it is.
    withStoreFaults(to, () => mkdirSync(dirname(to), { recursive: true, mode: 0o700 }))
    const events = await checkedCopy(from, fresh).catch((error: unknown) => {
      throw named(error, fresh, from)
    })
    const kept = existsSync(to) ? `${to}.before-${stamp}` : null
    if (kept) {
      release(to)
      withStoreFaults(to, () => setAside(to, kept))
    }
    crashPoint?.('restore:kept')
    // At every moment one whole archive stands in the place: the old one until here, the restored one from here on.
    withStoreFaults(to, () => {
      flush(fresh)
      renameSync(fresh, to)
      flushFolder(to)
    })
    return { events, kept }
  } finally {
    for (const suffix of ['', '-wal', '-shm']) rmSync(fresh + suffix, { force: true })
  }
}

function copy(from: string, to: string): void {
  copyFileSync(from, to, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE)
}
function flush(path: string, flags = 'r+'): void {
  const file = openSync(path, flags)
  try {
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
}
/** Names are kept by their folder; Windows keeps them by itself, and opens no folders. */
function flushFolder(path: string): void {
  if (process.platform !== 'win32') flush(dirname(path), 'r')
}

/** A copy, not a link: were the restore to end here, the old archive would go on growing under both names. */
function setAside(to: string, kept: string): void {
  for (const suffix of ['', '-wal'])
    if (existsSync(to + suffix)) {
      copy(to + suffix, kept + suffix)
      flush(kept + suffix)
    }
  flushFolder(to)
  // What is left of these belongs to an archive that could not be opened; another one must not read it as its own.
  for (const suffix of ['-wal', '-shm']) rmSync(to + suffix, { force: true })
}

/** People know the file that they named, not the copy that was looked at. */
function named(error: unknown, fresh: string, from: string): unknown {
  return error instanceof Fault ? new Fault(error.code, error.message.replaceAll(fresh, from), error.detail) : error
}

/** How many events the backup holds, all of them in order. */
async function checkedCopy(from: string, fresh: string): Promise<number> {
  withStoreFaults(from, () => copy(from, fresh))
  const file = new SqliteFile(fresh)
  let flaw: string
  try {
    flaw = withStoreFaults(fresh, () => file.integrity())
  } finally {
    file.close()
  }
  if (flaw !== 'ok') throw new Fault('store_unavailable', `${fresh} is damaged and was not restored (${flaw}).`)
  const store = await openSqlite({ file: fresh })
  try {
    const chain = await verifyChain(store)
    if (chain.ok) return chain.events
    const where = `its log does not hold together at place ${chain.seq}: ${chain.reason}`
    throw new Fault('store_unavailable', `${fresh} was not restored: ${where}. Use another backup.`)
  } finally {
    await store.close()
  }
}

/** Refuses where a gateway holds the archive, and brings its write-ahead log into it. A damaged or newer one is moved aside as it is: it is why one restores. */
function release(to: string): void {
  try {
    new SqliteFile(to).close()
  } catch (error) {
    if (!(error instanceof Fault) || !['store_unavailable', 'store_newer'].includes(error.code)) throw error
  }
}
