/** `holdpoint backup` copies the database to a file, and `holdpoint restore` replaces the database with such a file. */
import { resolve } from 'node:path'
import { Fault } from '@holdpoint/protocol'
import type { Config } from '../config/config-schema.ts'
import { type DataFolder, runningProcess } from '../config/data-folder.ts'
import { findGateway } from '../gateway-client/gateway-client.ts'
import { openStore, parseStoreLocation } from './open-store.ts'
import { backupWritten, restored, restorePostgres, restoreWhileRunning } from './texts.ts'

/** Asks the running gateway to write the copy. If no gateway is running, opens the store in this process. */
export async function backup(config: Config, dataFolder: DataFolder, file: string): Promise<string> {
  const target = resolve(file)
  const gateway = findGateway(dataFolder)
  if (gateway) return backupWritten(target, (await gateway.call('backup', { file: target })).bytes, true)
  const store = await openStore(parseStoreLocation(config.store, dataFolder))
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
  const { previous: previousFile } = await restoreSqlite({ from: resolve(file), to: location.file })
  return restored(location.file, previousFile)
}
