/** Whether the archive can be opened: tried on a copy, since opening the real one would leave a mark in it. */

import { constants, copyFileSync, existsSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { createConnection } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Fault, messageOf } from '@holdpoint/protocol'
import type { Config } from '../config/config.ts'
import { type DataFolder, runningProcess } from '../config/data-folder.ts'
import { parseStoreLocation, type StoreLocation } from '../gateway/open-store.ts'

export interface Finding {
  readonly name: string
  readonly ok: boolean
  readonly detail: string
  /** What to do about it; where all is well, what one might do. */
  readonly remedy?: string
}

const copyMaxBytes = 1024 ** 3
const connectMaxMs = 3000

export async function storeFindings(config: Config, home: DataFolder): Promise<readonly Finding[]> {
  const archive = parseStoreSetting(config.store, home)
  if ('detail' in archive) return [archive]
  if (archive.kind === 'postgres') return [await postgresFinding(new URL(archive.url))]
  return [await sqliteFinding(), await fileFinding(archive.file, runningProcess(home, 'gateway') !== null)]
}

function parseStoreSetting(store: string | undefined, home: DataFolder): StoreLocation | Finding {
  try {
    return parseStoreLocation(store, home)
  } catch (error) {
    if (!(error instanceof Fault)) throw error
    const remedy = 'set it right where it stands: --store, HOLDPOINT_STORE or holdpoint.config.json'
    return { name: 'Archive', ok: false, detail: error.message, remedy }
  }
}

/** A new file in a folder of its own: the library is there, and works on this machine. */
async function sqliteFinding(): Promise<Finding> {
  const problem = await tryOpen('a new file', () => {})
  return problem === null
    ? { name: 'SQLite', ok: true, detail: 'works' }
    : { name: 'SQLite', ok: false, detail: problem, remedy: 'install Holdpoint again for this machine: npm ci' }
}

async function fileFinding(file: string, inUse: boolean): Promise<Finding> {
  const name = 'Archive'
  if (!existsSync(file)) return { name, ok: true, detail: `${file}, made at the first start` }
  const { size } = statSync(file)
  const detail = `${file} (${Math.ceil(size / 1024).toLocaleString('en-US')} KiB)`
  if (inUse) return { name, ok: true, detail: `${detail}, in use by the gateway` }
  if (size > copyMaxBytes) return { name, ok: true, detail: `${detail}, too large to be tried here` }
  const problem = await tryOpen(file, copy => {
    for (const suffix of ['', '-wal'])
      if (existsSync(file + suffix)) copyFileSync(file + suffix, copy + suffix, constants.COPYFILE_FICLONE)
  })
  if (problem === null) return { name, ok: true, detail }
  return {
    name,
    ok: false,
    detail: problem,
    remedy: 'holdpoint restore FILE puts a backup in its place; what is there now is kept',
  }
}

/** Why a file that was put in place cannot be opened, in the name of the one that it stands for; null where it can. */
async function tryOpen(name: string, prepare: (file: string) => void): Promise<string | null> {
  const folder = mkdtempSync(join(tmpdir(), 'holdpoint-doctor-'))
  const file = join(folder, 'tried.db')
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

/** Only whether somebody is there: to open it would be to upgrade it. The address is shown without its password. */
async function postgresFinding({ hostname, port, pathname }: URL): Promise<Finding> {
  const at = `postgres://${hostname}${port ? `:${port}` : ''}${pathname}`
  const problem = await new Promise<string | null>(resolve => {
    const socket = createConnection({ host: hostname, port: Number(port || 5432), timeout: connectMaxMs })
    const end = (said: string | null) => {
      socket.destroy()
      resolve(said)
    }
    socket.once('connect', () => end(null))
    socket.once('timeout', () => end('nobody answers'))
    socket.once('error', error => end(error.message))
  })
  if (problem === null) return { name: 'Archive', ok: true, detail: `${at}, reachable` }
  return {
    name: 'Archive',
    ok: false,
    detail: `${at}: ${problem}`,
    remedy: 'start PostgreSQL, or name another archive (--store, HOLDPOINT_STORE)',
  }
}
