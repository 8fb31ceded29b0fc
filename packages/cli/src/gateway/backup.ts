/** `holdpoint backup` copies the database to a file, and `holdpoint restore` replaces the database with such a file. */
import { resolve } from 'node:path'
import { type Recovery, recoverFromLoss, undoneChanges } from '@holdpoint/engine'
import { Fault } from '@holdpoint/protocol'
import type { RestorePreparation } from '@holdpoint/store'
import type { Config } from '../config/config-schema.ts'
import { type DataFolder, runningProcess } from '../config/data-folder.ts'
import { findGateway } from '../gateway-client/gateway-client.ts'
import { headFileOf, openStore, parseStoreLocation } from './open-store.ts'
import { restoreReport } from './restore-report.ts'
import { backupWritten, restorePostgres, restoreWhileRunning } from './texts.ts'
import { isOtherStore } from './verify.ts'

/** Asks the running gateway to write the copy. If no gateway uses the store, opens the store in this process. */
export async function backup(config: Config, dataFolder: DataFolder, file: string): Promise<string> {
  const target = resolve(file)
  const location = parseStoreLocation(config.store, dataFolder)
  const gateway = isOtherStore(location, dataFolder) ? null : findGateway(dataFolder)
  if (gateway) return backupWritten(target, (await gateway.call('backup', { file: target })).bytes, true)
  const store = await openStore(location, dataFolder)
  try {
    return backupWritten(target, (await store.backup(target)).bytes, false)
  } finally {
    await store.close()
  }
}

export async function restore(config: Config, dataFolder: DataFolder, file: string): Promise<string> {
  if (runningProcess(dataFolder, 'gateway')) throw new Fault('store_locked', restoreWhileRunning)
  const location = parseStoreLocation(config.store, dataFolder)
  if (location.kind !== 'sqlite') throw new Fault('unsupported', restorePostgres)
  const { restoreSqlite } = await import('@holdpoint/store')
  const { events, previous, prepared } = await restoreSqlite({
    from: resolve(file),
    to: location.file,
    headFile: headFileOf(location, dataFolder),
    prepare: preparation => recordRestore(preparation, dataFolder.ownerToken()),
  })
  return restoreReport({ file: location.file, events, previous, ...prepared })
}

/** Makes the restored store safe to use, and compares it with the previous one. */
async function recordRestore({ restored, previous, lastSeq }: RestorePreparation, ownerSecret: string) {
  const { seq } = await restored.head()
  const undone = previous ? await undoneChanges(restored, previous) : null
  const lostEvents = lastSeq === null ? null : Math.max(0, lastSeq - seq)
  const event = (recovery: Recovery) => ({ type: 'store.restored' as const, seq, lostEvents, ...recovery })
  return { undone, lostEvents, ...(await recoverFromLoss(restored, { ownerSecret, event })) }
}
