/** Restores a backup over a SQLite store: only a backup that passes the checks, only while no gateway uses the store, and never without keeping the previous file. */
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
  /** Where the previous store was moved to; null if there was none. */
  readonly previous: string | null
}

export async function restoreSqlite({ from, to, crashPoint }: RestoreOptions): Promise<Restored> {
  if (!existsSync(from))
    throw new Fault('not_found', `There is no backup at ${from}. Give the file that holdpoint backup wrote.`)
  const stamp = new Date().toISOString().replace(/\D/g, '').slice(0, 17)
  const candidate = `${to}.restoring-${stamp}`
  try {
    // Check the copy that will be used; the backup itself stays untouched.
    withStoreFaults(to, () => mkdirSync(dirname(to), { recursive: true, mode: 0o700 }))
    const events = await copyAndVerify(from, candidate).catch((error: unknown) => {
      throw withBackupPath(error, candidate, from)
    })
    const previous = existsSync(to) ? `${to}.before-${stamp}` : null
    if (previous) {
      requireUnused(to)
      withStoreFaults(to, () => keepPrevious(to, previous))
    }
    crashPoint?.('restore:previousKept')
    // There is a complete store at `to` at every moment: the previous one until this rename, the restored one after it.
    withStoreFaults(to, () => {
      fsyncFile(candidate)
      renameSync(candidate, to)
      fsyncFolderOf(to)
    })
    return { events, previous }
  } finally {
    for (const suffix of ['', '-wal', '-shm']) rmSync(candidate + suffix, { force: true })
  }
}

function copyNew(from: string, to: string): void {
  copyFileSync(from, to, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE)
}
function fsyncFile(path: string, flags = 'r+'): void {
  const file = openSync(path, flags)
  try {
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
}
/** A rename is durable once the folder is flushed. Windows cannot open folders and does not need it. */
function fsyncFolderOf(path: string): void {
  if (process.platform !== 'win32') fsyncFile(dirname(path), 'r')
}

/** Copies the previous store. A hard link would not do: if the restore stopped here, the store would change under both names. */
function keepPrevious(to: string, previous: string): void {
  for (const suffix of ['', '-wal'])
    if (existsSync(to + suffix)) {
      copyNew(to + suffix, previous + suffix)
      fsyncFile(previous + suffix)
    }
  fsyncFolderOf(to)
  // Leftover files of a store that could not be opened; the restored store must not read them as its own.
  for (const suffix of ['-wal', '-shm']) rmSync(to + suffix, { force: true })
}

/** Replaces the path of the checked copy in messages with the path of the backup, which the person knows. */
function withBackupPath(error: unknown, candidate: string, from: string): unknown {
  return error instanceof Fault ? new Fault(error.code, error.message.replaceAll(candidate, from), error.detail) : error
}

/** Copies the backup and verifies the copy; returns its number of events. */
async function copyAndVerify(from: string, candidate: string): Promise<number> {
  withStoreFaults(from, () => copyNew(from, candidate))
  const file = new SqliteFile(candidate)
  let integrity: string
  try {
    integrity = withStoreFaults(candidate, () => file.integrity())
  } finally {
    file.close()
  }
  if (integrity !== 'ok')
    throw new Fault('store_unavailable', `${candidate} is damaged and was not restored (${integrity}).`)
  const store = await openSqlite({ file: candidate })
  try {
    const chain = await verifyChain(store)
    if (chain.ok) return chain.events
    throw new Fault(
      'store_unavailable',
      `${candidate} was not restored: its log is not valid at event ${chain.seq} (${chain.reason}). Use another backup.`,
    )
  } finally {
    await store.close()
  }
}

/** Throws if a gateway uses the store. Opening it also merges its write-ahead log. A damaged or newer store passes: replacing it is what a restore is for. */
function requireUnused(to: string): void {
  try {
    new SqliteFile(to).close()
  } catch (error) {
    if (!(error instanceof Fault) || !['store_unavailable', 'store_newer'].includes(error.code)) throw error
  }
}
