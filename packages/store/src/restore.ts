/** Puts a backup in the place of an archive: only one that is whole, only where no gateway runs, and never by destroying what was there. */
import { copyFileSync, existsSync, mkdirSync, renameSync, rmSync } from 'node:fs'
import { dirname } from 'node:path'
import { Fault } from '@holdpoint/protocol'
import { verifyChain } from './chain.ts'
import { openSqlite } from './sqlite.ts'
import { faulting, SqliteFile } from './sqlite-file.ts'

export interface Restored {
  readonly events: number
  /** Where the archive that was there before has gone; null where there was none. */
  readonly kept: string | null
}

export async function restoreSqlite({ from, to }: { readonly from: string; readonly to: string }): Promise<Restored> {
  if (!existsSync(from)) throw new Fault('not_found', `There is no backup at ${from}. Name the file that backup wrote.`)
  const stamp = new Date().toISOString().replace(/\D/g, '').slice(0, 17)
  const fresh = `${to}.restoring-${stamp}`
  try {
    // The check is made on the copy that will be used, and leaves the backup as it is.
    faulting(to, () => mkdirSync(dirname(to), { recursive: true, mode: 0o700 }))
    faulting(fresh, () => copyFileSync(from, fresh))
    const events = await checkedEvents(from, fresh)
    const kept = existsSync(to) ? `${to}.before-${stamp}` : null
    if (kept) {
      release(to)
      for (const suffix of ['', '-wal', '-shm'])
        if (existsSync(to + suffix)) faulting(to, () => renameSync(to + suffix, kept + suffix))
    }
    faulting(to, () => renameSync(fresh, to))
    return { events, kept }
  } finally {
    for (const suffix of ['', '-wal', '-shm']) rmSync(fresh + suffix, { force: true })
  }
}

async function checkedEvents(from: string, fresh: string): Promise<number> {
  const file = new SqliteFile(fresh)
  let flaw: string
  try {
    flaw = faulting(from, () => file.integrity())
  } finally {
    file.close()
  }
  if (flaw !== 'ok') throw new Fault('store_unavailable', `${from} is damaged and was not restored (${flaw}).`)
  const store = await openSqlite({ file: fresh })
  try {
    const chain = await verifyChain(store)
    if (chain.ok) return chain.events
    const where = `its log does not hold together at place ${chain.seq}: ${chain.reason}`
    throw new Fault('store_unavailable', `${from} was not restored: ${where}. Use another backup.`)
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
