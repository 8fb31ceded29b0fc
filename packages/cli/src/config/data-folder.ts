/** The folder where everything of one installation is: the archive, the secrets (0600), and notes on which processes live. */

import { randomBytes } from 'node:crypto'
import { chmodSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { processStartTime } from '@holdpoint/drivers'
import { Fault, formatId, messageOf, RunnerId } from '@holdpoint/protocol'
import { version } from '../version.ts'

export interface DataFolder {
  readonly path: string
  readonly databaseFile: string
  readonly tokenFile: string
  readonly runnerTokenFile: string
  readonly runnerLog: string
  readonly ownerToken: () => string
  readonly runnerToken: () => string
  readonly runnerId: () => RunnerId
}

/** Where it would be, whether it is there or not: whoever only asks a gateway something makes no folder. */
export function dataFolderAt(folder = process.env.HOLDPOINT_HOME ?? join(homedir(), '.holdpoint')): DataFolder {
  const root = resolve(folder)
  const tokenFile = join(root, 'token')
  const runnerTokenFile = join(root, 'runner-token')
  return {
    path: root,
    databaseFile: join(root, 'holdpoint.db'),
    tokenFile,
    runnerTokenFile,
    runnerLog: join(root, 'runner.log'),
    ownerToken: () => readOrCreateToken(tokenFile),
    runnerToken: () => readOrCreateToken(runnerTokenFile),
    runnerId: () => RunnerId.parse(readOrCreate(join(root, 'runner-id'), () => formatId('run', randomBytes(20)))),
  }
}

export function openDataFolder(folder?: string): DataFolder {
  const home = dataFolderAt(folder)
  try {
    makeFolder(home.path)
  } catch (error) {
    throw new Fault(
      'store_unavailable',
      `The folder ${home.path} cannot be made (${messageOf(error)}); set HOLDPOINT_HOME to one that can`,
    )
  }
  return home
}

/** Step by step: where a file system calls a new folder missing, as /proc does, Node's own `recursive` tries for ever. */
function makeFolder(folder: string): void {
  if (!existsSync(dirname(folder))) makeFolder(dirname(folder))
  try {
    mkdirSync(folder, { mode: 0o700 })
  } catch (error) {
    if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory()) throw error
  }
}

function readOrCreateToken(file: string): string {
  const secret = readOrCreate(file, () => `hp_${randomBytes(32).toString('base64url')}`)
  if (secret.length < 40)
    throw new Fault('unauthenticated', `${file} holds no usable token; delete it and start again to make a new one`)
  chmodSync(file, 0o600)
  return secret
}

/** Reads a small file, or makes it. Written aside and renamed, so that a crash leaves the whole of it or nothing. */
function readOrCreate(file: string, make: () => string): string {
  if (existsSync(file)) return readFileSync(file, 'utf8').trim()
  const value = make()
  writeAtomically(file, value)
  return value
}
function writeAtomically(file: string, text: string): void {
  const aside = `${file}.${process.pid}`
  writeFileSync(aside, `${text}\n`, { mode: 0o600 })
  renameSync(aside, file)
}

/** Which process is what: a pid alone may have been given to another since, its start time tells them apart. */
export interface PidFile {
  readonly pid: number
  readonly started: string
  readonly url?: string
  readonly version?: string
}

function processExists(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

export function writePidFile(home: DataFolder, name: 'gateway' | 'runner', pid: number, url?: string): void {
  const note: PidFile = { pid, started: processStartTime(pid), version, ...(url === undefined ? {} : { url }) }
  writeAtomically(join(home.path, `${name}.json`), JSON.stringify(note))
}
export function removePidFile(home: DataFolder, name: 'gateway' | 'runner'): void {
  const note = readPidFile(home, name)
  if (note?.pid === process.pid) rmSync(join(home.path, `${name}.json`), { force: true })
}
function readPidFile(home: DataFolder, name: string): PidFile | null {
  try {
    return JSON.parse(readFileSync(join(home.path, `${name}.json`), 'utf8')) as PidFile // written by noteProcess above
  } catch {
    return null
  }
}
/** The process noted under this name, if it is still that process. */
export function runningProcess(home: DataFolder, name: 'gateway' | 'runner'): PidFile | null {
  const note = readPidFile(home, name)
  return note && isRunning(note) ? note : null
}
/** Also when it has taken its note back and is about to end. */
export function isRunning({ pid, started }: PidFile): boolean {
  const onProc = existsSync('/proc/self/stat')
  return processExists(pid) && (!onProc || processStartTime(pid) === started)
}
/** Where the gateway was last; it may be away. */
export function lastUrl(home: DataFolder): string | null {
  return readPidFile(home, 'gateway')?.url ?? null
}
