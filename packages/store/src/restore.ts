/** Replaces a SQLite store with a backup. The backup must pass all checks, no gateway may use the store, and a copy of the previous store is kept. The caller changes the backup before it becomes the store. */
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
import type { CrashPoint, Head, Store } from '@holdpoint/engine'
import { Fault } from '@holdpoint/protocol'
import { withStoreFaults } from './file-fault.ts'
import { verifyChain } from './hash-chain.ts'
import { HeadNote, type NotedHead } from './head-note.ts'
import { openSqlite } from './sqlite.ts'
import { SqliteFile } from './sqlite-file.ts'

/** The store that becomes current, and what is known of the store that it replaces. */
export interface RestorePreparation {
  readonly restored: Store
  /** The previous store; null if there was none or if it cannot be read. */
  readonly previous: Store | null
  /** The seq of the last event that the previous store is known to have had; null if no event is known. */
  readonly lastSeq: number | null
}
export interface RestoreOptions<T> {
  readonly from: string
  readonly to: string
  /** The file that notes the head of the log of the store at `to`. By default, it is next to the store. */
  readonly headFile?: string
  /** Changes the restored store before it becomes current. */
  readonly prepare: (preparation: RestorePreparation) => Promise<T>
  readonly crashPoint?: CrashPoint
}
export interface Restored<T> {
  /** The number of events in the backup. */
  readonly events: number
  /** The path of the copy of the previous store; null if there was no store. */
  readonly previous: string | null
  readonly prepared: T
}

export async function restoreSqlite<T>(options: RestoreOptions<T>): Promise<Restored<T>> {
  const { from, to, crashPoint } = options
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
    const note = new HeadNote(options.headFile ?? `${to}.head`)
    const { prepared, head } = await prepareRestored(candidate, previous, note, options.prepare)
    // Closing has merged the write-ahead log into the file, unless the disk is full.
    if (existsSync(`${candidate}-wal`))
      throw new Fault('store_full', `${to} was not restored because the disk is full. Free some space and try again.`)
    // `to` is a complete store at every moment: the previous store until this rename, the restored store after it. The note is removed until the restored store is in place, because a start with a note about one store refuses the other.
    note.remove()
    withStoreFaults(to, () => {
      fsyncFile(candidate)
      renameSync(candidate, to)
      fsyncFolderOf(to)
    })
    await note.noteNow(head)
    return { events, previous, prepared }
  } finally {
    for (const suffix of ['', '-wal', '-shm']) rmSync(candidate + suffix, { force: true })
  }
}

/** Lets the caller compare the restored store with the previous one and change it. */
async function prepareRestored<T>(
  candidate: string,
  previousFile: string | null,
  note: HeadNote,
  prepare: RestoreOptions<T>['prepare'],
): Promise<{ readonly prepared: T; readonly head: Head }> {
  // A previous store that cannot be opened can be replaced, but not compared.
  const previous =
    previousFile === null ? null : await openSqlite({ file: previousFile, headFile: null }).catch(() => null)
  try {
    const restored = await openSqlite({ file: candidate, headFile: null })
    try {
      const prepared = await prepare({ restored, previous, lastSeq: await lastKnownSeq(note, previous) })
      return { prepared, head: await restored.head() }
    } finally {
      await restored.close()
    }
  } finally {
    await previous?.close()
  }
}

async function lastKnownSeq(note: HeadNote, previous: Store | null): Promise<number | null> {
  const seqs = [(await previous?.head())?.seq, readNote(note)?.seq].filter(seq => seq !== undefined)
  return seqs.length === 0 ? null : Math.max(...seqs)
}
/** A restore may replace a store whose note is damaged. */
function readNote(note: HeadNote): NotedHead | null {
  try {
    return note.read()
  } catch {
    return null
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
  const store = await openSqlite({ file: candidate, headFile: null })
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
