/** The data folder of one installation: its database, its tokens (mode 0600), and the pid files of gateway and runner. */
import { randomBytes } from 'node:crypto'
import {
  chmodSync,
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { processStartTime } from '@holdpoint/drivers'
import { Fault, formatId, messageOf, newSecret, RunnerId } from '@holdpoint/protocol'
import { version } from '../version.ts'
import { type AccessProblem, privateAccessProblem, privateEntryProblem } from './file-access.ts'
import { dataFolderTexts } from './texts.ts'

export interface DataFolder {
  readonly path: string
  readonly databaseFile: string
  readonly tokenFile: string
  readonly runnerTokenFile: string
  /** The token of MCP clients over HTTP. It lets them ask, and nothing else. */
  readonly mcpTokenFile: string
  readonly runnerLog: string
  /** The settings of this installation, which need no trust. */
  readonly configFile: string
  /** The rules of this installation, which need no trust. */
  readonly rulesFile: string
  /** The config files in other folders that the person has trusted. */
  readonly trustFile: string
  readonly ownerToken: () => string
  readonly runnerToken: () => string
  readonly mcpToken: () => string
  readonly runnerId: () => RunnerId
}

/** Describes the data folder without creating it, for commands that only talk to a gateway. */
export function dataFolderAt(folder = process.env.HOLDPOINT_HOME || join(homedir(), '.holdpoint')): DataFolder {
  const root = resolve(folder)
  const tokenFile = join(root, 'token')
  const runnerTokenFile = join(root, 'runner-token')
  const mcpTokenFile = join(root, 'mcp-token')
  return {
    path: root,
    databaseFile: join(root, 'holdpoint.db'),
    tokenFile,
    runnerTokenFile,
    mcpTokenFile,
    runnerLog: join(root, 'runner.log'),
    configFile: join(root, 'holdpoint.config.json'),
    rulesFile: join(root, 'holdpoint.rules.json'),
    trustFile: join(root, 'trusted-configs.json'),
    ownerToken: () => readOrCreateToken(root, tokenFile),
    runnerToken: () => readOrCreateToken(root, runnerTokenFile),
    mcpToken: () => readOrCreateToken(root, mcpTokenFile),
    runnerId: () => RunnerId.parse(readOrCreate(join(root, 'runner-id'), () => formatId('run', randomBytes(20)))),
  }
}

export function openDataFolder(folder?: string): DataFolder {
  const dataFolder = dataFolderAt(folder)
  try {
    makeFolder(dataFolder.path)
  } catch (error) {
    throw new Fault(
      'store_unavailable',
      `Cannot create the data folder ${dataFolder.path} (${messageOf(error)}). Choose another with --home or HOLDPOINT_HOME`,
    )
  }
  requirePrivate(dataFolder.path)
  return dataFolder
}

/** Returns the file that holds the token of the owner or of the local runner. */
export function tokenFileOf({ tokenFile, runnerTokenFile }: DataFolder, role: string): string {
  return role === 'owner' ? tokenFile : runnerTokenFile
}

/** Returns why another user could change or replace the data folder or a file in it, or null if nobody can. A user who can do that can become the owner, for example by replacing the token. */
export function dataFolderProblem(folder: string): AccessProblem | null {
  const problem = privateAccessProblem(folder)
  if (problem || !existsSync(folder)) return problem
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name)
    // The target of a link may be in other folders than those that were checked above.
    const found = entry.isSymbolicLink()
      ? privateAccessProblem(path)
      : entry.isFile()
        ? privateEntryProblem(path)
        : null
    if (found) return found
  }
  return null
}

/** Throws if others could change the data folder. If they can only read it, removes their permissions. */
export function requirePrivate(folder: string): void {
  const problem = dataFolderProblem(folder)
  if (problem) throw new Fault('forbidden', dataFolderTexts.notPrivate(problem))
  const mode = statSync(folder, { throwIfNoEntry: false })?.mode ?? 0
  if ((mode & 0o077) !== 0) chmodSync(folder, mode & 0o700)
}

/** Creates one level at a time, because Node's `recursive` option loops forever on file systems such as /proc, where creating a folder fails as if its parent did not exist. */
function makeFolder(folder: string): void {
  if (!existsSync(dirname(folder))) makeFolder(dirname(folder))
  try {
    mkdirSync(folder, { mode: 0o700 })
  } catch (error) {
    if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory()) throw error
  }
}

function readOrCreateToken(folder: string, file: string): string {
  requirePrivate(folder)
  const secret = readOrCreate(file, () => newSecret(randomBytes))
  if (secret.length < 40)
    throw new Fault(
      'unauthenticated',
      `${file} does not contain a valid token. Delete the file, and restart the program that uses it to create a new one`,
    )
  chmodSync(file, 0o600)
  return secret
}

/** Reads a small text file. If the file does not exist, creates it with the content that `createContent` returns. */
function readOrCreate(file: string, createContent: () => string): string {
  if (existsSync(file)) return readFileSync(file, 'utf8').trim()
  const value = createContent()
  writeAtomically(file, value)
  return value
}
/** Writes a temporary file and renames it, so that a crash or a power loss leaves either the previous file, if any, or the complete new one. The temporary name is random, so nobody can create a file or link there first. */
export function writeAtomically(file: string, text: string): void {
  const temporary = `${file}.${randomBytes(12).toString('hex')}`
  try {
    writeFileSync(temporary, `${text}\n`, { mode: 0o600, flag: 'wx', flush: true })
    renameSync(temporary, file)
    flushFolder(dirname(file))
  } catch (error) {
    rmSync(temporary, { force: true })
    throw new Fault('store_unavailable', dataFolderTexts.notWritable(file, messageOf(error)))
  }
}

/** Makes a renamed file durable. Windows cannot open folders and does not need this. */
function flushFolder(folder: string): void {
  if (process.platform === 'win32') return
  const descriptor = openSync(folder, 'r')
  try {
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}

/** Identifies a process by pid and start time, because the system may have reused the pid for another process. */
export interface PidFile {
  readonly pid: number
  readonly started: string
  readonly version?: string
  /** The process that restarts this one after a crash. */
  readonly supervisor?: PidFile
}
export interface GatewayPidFile extends PidFile {
  readonly url: string
  /** The path of the gateway's Unix socket. Older versions had none. */
  readonly socket?: string
  /** The SQLite file that the gateway has open, or null with another store. Older versions did not write it. */
  readonly storeFile?: string | null
}

function processExists(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

export function writeGatewayPidFile(
  dataFolder: DataFolder,
  address: Pick<GatewayPidFile, 'url' | 'socket' | 'storeFile'>,
  supervisor?: number,
): void {
  const pidFile: GatewayPidFile = {
    ...identify(process.pid),
    ...address,
    ...(supervisor === undefined ? {} : { supervisor: identify(supervisor) }),
  }
  writePidFile(dataFolder, 'gateway', pidFile)
}
export function writeRunnerPidFile(dataFolder: DataFolder, pid: number): void {
  writePidFile(dataFolder, 'runner', identify(pid))
}
function identify(pid: number): PidFile {
  return { pid, started: processStartTime(pid), version }
}
function writePidFile(dataFolder: DataFolder, name: 'gateway' | 'runner', pidFile: PidFile): void {
  writeAtomically(join(dataFolder.path, `${name}.json`), JSON.stringify(pidFile))
}
export function removePidFile(dataFolder: DataFolder, name: 'gateway' | 'runner'): void {
  const pidFile = readPidFile(dataFolder, name)
  if (pidFile?.pid === process.pid) rmSync(join(dataFolder.path, `${name}.json`), { force: true })
}
function readPidFile(dataFolder: DataFolder, name: string): PidFile | null {
  try {
    return JSON.parse(readFileSync(join(dataFolder.path, `${name}.json`), 'utf8')) as PidFile // only `writePidFile` writes this file
  } catch {
    return null
  }
}
/** Returns the process in the pid file, or null if that process is no longer running. A gateway that has crashed counts as running while its supervisor is about to restart it. */
export function runningProcess(dataFolder: DataFolder, name: 'gateway' | 'runner'): PidFile | null {
  const pidFile = readPidFile(dataFolder, name)
  return pidFile && (isRunning(pidFile) || runningSupervisor(pidFile)) ? pidFile : null
}
/** Returns the SQLite file that the running gateway has open, null if it uses another store, or undefined if that is not known or no gateway runs. */
export function storeFileOfGateway(dataFolder: DataFolder): string | null | undefined {
  const pidFile = runningProcess(dataFolder, 'gateway') as GatewayPidFile | null // only gateways write this file
  return pidFile?.storeFile
}
/** Returns the process that restarts this one after a crash, or null. */
export function runningSupervisor({ supervisor }: PidFile): PidFile | null {
  return supervisor && isRunning(supervisor) ? supervisor : null
}
/** Returns true also for a process that has removed its pid file but has not exited yet. */
export function isRunning({ pid, started }: PidFile): boolean {
  const hasProc = existsSync('/proc/self/stat')
  return processExists(pid) && (!hasProc || processStartTime(pid) === started)
}
/** Returns where the gateway was last known to listen. It may not be running now. */
export function lastGateway(dataFolder: DataFolder): Pick<GatewayPidFile, 'url' | 'socket'> | null {
  return readPidFile(dataFolder, 'gateway') as GatewayPidFile | null // only `writeGatewayPidFile` writes this file
}
