/** Checks the store for `holdpoint doctor`: its log, and its rows against the log. */
import { existsSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { createConnection } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Fault, messageOf } from '@holdpoint/protocol'
import type { Config } from '../config/config-schema.ts'
import { type DataFolder, runningProcess } from '../config/data-folder.ts'
import { parseStoreLocation, type StoreLocation } from '../gateway/open-store.ts'
import { isOtherStore, verifyLocation } from '../gateway/verify.ts'

export interface Finding {
  readonly name: string
  readonly ok: boolean
  readonly detail: string
  /** How to fix the problem; an optional suggestion if `ok` is true. */
  readonly remedy?: string
  /** The name of an agent that is not installed. Nobody needs all agents, so the agents of these findings are listed in one line. */
  readonly notInstalled?: string
}

type SqliteLocation = Extract<StoreLocation, { kind: 'sqlite' }>
type PostgresLocation = Extract<StoreLocation, { kind: 'postgres' }>

const copyMaxBytes = 1024 ** 3
const connectMaxMs = 3000

export async function storeFindings(config: Config, dataFolder: DataFolder): Promise<readonly Finding[]> {
  const location = parseStoreSetting(config.store, dataFolder)
  if ('detail' in location) return [location]
  if (location.kind === 'postgres') return [await postgresFinding(location, dataFolder)]
  return [await sqliteFinding(), await fileFinding(location, dataFolder)]
}

function parseStoreSetting(setting: string | undefined, dataFolder: DataFolder): StoreLocation | Finding {
  try {
    return parseStoreLocation(setting, dataFolder)
  } catch (error) {
    if (!(error instanceof Fault)) throw error
    const remedy = 'fix it in --store, HOLDPOINT_STORE or holdpoint.config.json'
    return { name: 'Store', ok: false, detail: error.message, remedy }
  }
}

/** Opens a new database to check that the SQLite library works on this machine. */
async function sqliteFinding(): Promise<Finding> {
  const folder = mkdtempSync(join(tmpdir(), 'holdpoint-doctor-'))
  try {
    const { openSqlite } = await import('@holdpoint/store')
    await (await openSqlite({ file: join(folder, 'new.db') })).close()
    return { name: 'SQLite', ok: true, detail: 'works' }
  } catch (error) {
    return {
      name: 'SQLite',
      ok: false,
      detail: messageOf(error),
      remedy: 'reinstall Holdpoint on this machine (npm ci)',
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

async function fileFinding(location: SqliteLocation, dataFolder: DataFolder): Promise<Finding> {
  const name = 'Store'
  const { file } = location
  if (!existsSync(file)) return { name, ok: true, detail: `${file}, created on first start` }
  const { size } = statSync(file)
  const isInUse = runningProcess(dataFolder, 'gateway') !== null && !isOtherStore(location, dataFolder)
  const inUse = isInUse ? ', in use by the gateway' : ''
  const detail = `${file} (${Math.ceil(size / 1024).toLocaleString('en-US')} KiB)${inUse}`
  if (size > copyMaxBytes)
    return { name, ok: true, detail, remedy: 'check this large database with: holdpoint audit verify' }
  const remedy = 'replace it with a backup: holdpoint restore FILE (the current file is kept)'
  try {
    const report = await verifyLocation(location, dataFolder)
    if (report.ok)
      return { name, ok: true, detail: `${detail}, ${report.events.toLocaleString('en-US')} events verified` }
    return { name, ok: false, detail: `${file}: ${report.problem}. ${report.meaning}`, remedy }
  } catch (error) {
    return { name, ok: false, detail: messageOf(error), remedy }
  }
}

/** Verifies the store without opening it, because opening would migrate it. The finding shows the address without the password. */
async function postgresFinding(location: PostgresLocation, dataFolder: DataFolder): Promise<Finding> {
  const { hostname, port, pathname } = new URL(location.url)
  const address = `postgres://${hostname}${port ? `:${port}` : ''}${pathname}`
  const problem = await new Promise<string | null>(resolve => {
    const socket = createConnection({ host: hostname, port: Number(port || 5432), timeout: connectMaxMs })
    const finish = (result: string | null) => {
      socket.destroy()
      resolve(result)
    }
    socket.once('connect', () => finish(null))
    socket.once('timeout', () => finish('no answer'))
    socket.once('error', error => finish(error.message))
  })
  if (problem === null) return verifiedPostgres(address, location, dataFolder)
  return {
    name: 'Store',
    ok: false,
    detail: `${address}: ${problem}`,
    remedy: 'start PostgreSQL, or choose another store with --store or HOLDPOINT_STORE',
  }
}

async function verifiedPostgres(address: string, location: PostgresLocation, dataFolder: DataFolder): Promise<Finding> {
  const name = 'Store'
  try {
    const report = await verifyLocation(location, dataFolder)
    if (report.ok)
      return { name, ok: true, detail: `${address}, ${report.events.toLocaleString('en-US')} events verified` }
    const remedy = 'restore the database from a backup with pg_restore'
    return { name, ok: false, detail: `${address}: ${report.problem}. ${report.meaning}`, remedy }
  } catch (error) {
    // A database that is empty or has an older schema is fine: the next gateway creates or migrates the tables.
    const isFine = error instanceof Fault && (error.code === 'not_found' || error.code === 'store_older')
    const remedy = 'check the URL of the store, and the log of PostgreSQL'
    return { name, ok: isFine, detail: `${address}: ${messageOf(error)}`, ...(isFine ? {} : { remedy }) }
  }
}
