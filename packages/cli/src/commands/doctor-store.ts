/** Checks the store for `holdpoint doctor`. Opens a copy of the database file, because opening the original would change it. */
import { constants, copyFileSync, existsSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { createConnection } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Fault, messageOf } from '@holdpoint/protocol'
import type { Config } from '../config/config-schema.ts'
import { type DataFolder, runningProcess } from '../config/data-folder.ts'
import { parseStoreLocation, type StoreLocation } from '../gateway/open-store.ts'

export interface Finding {
  readonly name: string
  readonly ok: boolean
  readonly detail: string
  /** How to fix the problem; an optional suggestion if `ok` is true. */
  readonly remedy?: string
}

const copyMaxBytes = 1024 ** 3
const connectMaxMs = 3000

export async function storeFindings(config: Config, dataFolder: DataFolder): Promise<readonly Finding[]> {
  const location = parseStoreSetting(config.store, dataFolder)
  if ('detail' in location) return [location]
  if (location.kind === 'postgres') return [await postgresFinding(new URL(location.url))]
  return [await sqliteFinding(), await fileFinding(location.file, runningProcess(dataFolder, 'gateway') !== null)]
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
  const problem = await tryOpen('a new file', () => {})
  return problem === null
    ? { name: 'SQLite', ok: true, detail: 'works' }
    : { name: 'SQLite', ok: false, detail: problem, remedy: 'reinstall Holdpoint on this machine (npm ci)' }
}

async function fileFinding(file: string, inUse: boolean): Promise<Finding> {
  const name = 'Store'
  if (!existsSync(file)) return { name, ok: true, detail: `${file}, created on first start` }
  const { size } = statSync(file)
  const detail = `${file} (${Math.ceil(size / 1024).toLocaleString('en-US')} KiB)`
  if (inUse) return { name, ok: true, detail: `${detail}, in use by the gateway` }
  if (size > copyMaxBytes) return { name, ok: true, detail: `${detail}, too large to check` }
  const problem = await tryOpen(file, copy => {
    for (const suffix of ['', '-wal'])
      if (existsSync(file + suffix)) copyFileSync(file + suffix, copy + suffix, constants.COPYFILE_FICLONE)
  })
  if (problem === null) return { name, ok: true, detail }
  return {
    name,
    ok: false,
    detail: problem,
    remedy: 'replace it with a backup: holdpoint restore FILE (the current file is kept)',
  }
}

/** Opens a database in a temporary folder. Returns null on success, otherwise the error message with `name` instead of the temporary path. */
async function tryOpen(name: string, prepare: (file: string) => void): Promise<string | null> {
  const folder = mkdtempSync(join(tmpdir(), 'holdpoint-doctor-'))
  const file = join(folder, 'copy.db')
  try {
    prepare(file)
    const { openSqlite } = await import('@holdpoint/store')
    await (await openSqlite({ file })).close()
    return null
  } catch (error) {
    return messageOf(error).replaceAll(file, name)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Only checks that the server accepts connections, because opening the store would migrate it. The finding shows the address without the password. */
async function postgresFinding({ hostname, port, pathname }: URL): Promise<Finding> {
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
  if (problem === null) return { name: 'Store', ok: true, detail: `${address}, reachable` }
  return {
    name: 'Store',
    ok: false,
    detail: `${address}: ${problem}`,
    remedy: 'start PostgreSQL, or choose another store with --store or HOLDPOINT_STORE',
  }
}
