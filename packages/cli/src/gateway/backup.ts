/** Backup and restore of the archive, with the gateway running or not. */
import { resolve } from 'node:path'
import { Fault } from '@holdpoint/protocol'
import type { Config } from '../config/config.ts'
import { type DataFolder, runningProcess } from '../config/data-folder.ts'
import { findGateway } from '../gateway-client/gateway-client.ts'
import { openStore, parseStoreLocation } from './open-store.ts'

export async function backup(config: Config, home: DataFolder, file: string): Promise<string> {
  const to = resolve(file)
  const remote = findGateway(home)
  if (remote) return `${to}: ${(await remote.call('backup', { file: to })).bytes} bytes, copied while the gateway runs`
  const store = await openStore(parseStoreLocation(config.store, home))
  try {
    return `${to}: ${(await store.backup(to)).bytes} bytes`
  } finally {
    await store.close()
  }
}

export async function restore(config: Config, home: DataFolder, file: string): Promise<string> {
  if (runningProcess(home, 'gateway'))
    throw new Fault('store_locked', 'The gateway runs; stop it first (holdpoint down), then restore')
  const archive = parseStoreLocation(config.store, home)
  if (archive.kind !== 'sqlite')
    throw new Fault('unsupported', 'A PostgreSQL archive is restored with pg_restore or psql')
  const { restoreSqlite } = await import('@holdpoint/store')
  const { kept } = await restoreSqlite({ from: resolve(file), to: archive.file })
  return `Restored ${archive.file}.${kept ? ` What was there before is ${kept}.` : ''} Clients notice it and start from a snapshot.`
}
