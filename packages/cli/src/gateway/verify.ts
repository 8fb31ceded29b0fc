/** Verifies the log and the rows of a store. A SQLite file is verified on a copy, because opening the original would change it and a running gateway has locked it. */
import { constants, copyFileSync, existsSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Fault, messageOf } from '@holdpoint/protocol'
import type { StoreReport, VerifyOptions } from '@holdpoint/store'
import { type DataFolder, runningProcess, storeFileOfGateway } from '../config/data-folder.ts'
import { findGateway } from '../gateway-client/gateway-client.ts'
import { headFileOf, type StoreLocation } from './open-store.ts'

export async function verifyLocation(
  location: StoreLocation,
  dataFolder: DataFolder,
  onProgress: VerifyOptions['onProgress'] = () => {},
): Promise<StoreReport> {
  const headFile = headFileOf(location, dataFolder)
  if (location.kind === 'postgres') {
    const { verifyPostgres } = await import('@holdpoint/store')
    return verifyPostgres({ url: location.url, headFile, onProgress })
  }
  const folder = mkdtempSync(join(tmpdir(), 'holdpoint-verify-'))
  const copy = join(folder, 'copy.db')
  try {
    await copyDatabase(location, copy, dataFolder)
    const { openSqlite, verifyStore } = await import('@holdpoint/store')
    const store = await openSqlite({ file: copy, headFile: null })
    try {
      return await verifyStore(store, { headFile, onProgress })
    } finally {
      await store.close()
    }
  } catch (error) {
    throw error instanceof Fault ? new Fault(error.code, messageOf(error).replaceAll(copy, location.file)) : error
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Lets the running gateway write the copy, or copies the files if no gateway uses the database. */
async function copyDatabase(
  location: Extract<StoreLocation, { kind: 'sqlite' }>,
  copy: string,
  dataFolder: DataFolder,
): Promise<void> {
  const isGatewayRunning = runningProcess(dataFolder, 'gateway') !== null
  const gateway = isGatewayRunning && !isOtherStore(location, dataFolder) ? findGateway(dataFolder) : null
  if (gateway) {
    await gateway.call('backup', { file: copy })
    return
  }
  const { file } = location
  if (!existsSync(file)) throw new Fault('not_found', `There is no database at ${file} yet.`)
  for (const suffix of ['', '-wal'])
    if (existsSync(file + suffix)) copyFileSync(file + suffix, copy + suffix, constants.COPYFILE_FICLONE)
}

/** Returns whether `--store` or a setting names another store than the one that the running gateway of the data folder uses. */
export function isOtherStore(location: StoreLocation, dataFolder: DataFolder): boolean {
  const storeFile = storeFileOfGateway(dataFolder)
  if (storeFile === undefined) return false
  if (location.kind === 'postgres') return storeFile !== null
  const { file } = location
  // The default file stands for the store of the gateway: the gateway may have been started with another store, and this command without `--store`.
  if (file === dataFolder.databaseFile) return false
  return storeFile !== (existsSync(file) ? realpathSync(file) : file)
}
