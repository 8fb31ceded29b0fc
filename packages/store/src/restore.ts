/** Replaces a SQLite store with a backup. The backup must pass all checks, no gateway may use the store, and a copy of the previous store is kept. */
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
  /** The path of the copy of the previous store; null if there was no store. */
  readonly previous: string | null
}

export async function restoreSqlite({ from, to, crashPoint }: RestoreOptions): Promise<Restored> {
  if (!existsSync(from))
    throw new Fault(
      'not_found',
      `There is no backup at ${from}. Pass the path of a file that “holdpoint backup” wrote.`,
    )
  const stamp = new Date().toISOString().replace(/\D/g, '').slice(0, 17)
  const candidate = `${to}.restoring-${stamp}`
  try {
    // Check the copy that will become the store, and leave the backup itself untouched.
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
    // `to` is a complete store at every moment: the previous store until this rename, the restored store after it.
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
/** Flushes the folder, because a rename is durable only after that flush. Windows cannot open folders and does not need the flush. */
function fsyncFolderOf(path: string): void {
  if (process.platform !== 'win32') fsyncFile(dirname(path), 'r')
}

/** Copies the previous store. A hard link is not enough, because later writes to the store would change both files if the restore stopped here. */
function keepPrevious(to: string, previous: string): void {
  for (const suffix of ['', '-wal'])
    if (existsSync(to + suffix)) {
      copyNew(to + suffix, previous + suffix)
      fsyncFile(previous + suffix)
    }
  fsyncFolderOf(to)
  // Remove leftover files of a store that could not be opened, because SQLite would apply them to the restored store.
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

/** Throws if a gateway uses the store. Opening the store also merges its write-ahead log. A damaged or newer store passes, because a restore may replace it. */
function requireUnused(to: string): void {
  try {
    new SqliteFile(to).close()
  } catch (error) {
    if (!(error instanceof Fault) || !['store_unavailable', 'store_newer'].includes(error.code)) throw error
  }
}
