/** `holdpoint service`: installs `holdpoint up` as a service of this person, removes it, and says whether it runs. */
import { execFile } from 'node:child_process'
import { closeSync, existsSync, fstatSync, mkdirSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { agentEnvironment, holdpointVariables } from '@holdpoint/drivers'
import { Fault } from '@holdpoint/protocol'
import { type DataFolder, dataFolderAt, lastGateway, runningProcess } from '../config/data-folder.ts'
import { lastLogLine, waitForGateway } from '../gateway/detach.ts'
import { down } from '../gateway/down.ts'
import { requireGateway } from '../gateway-client/gateway-client.ts'
import { printNotice } from '../output/notice.ts'
import { hasPassword } from '../password-in-arguments.ts'
import { type Launcher, launcherOf } from './launchers.ts'
import { serviceTexts as texts } from './texts.ts'

const startMaxMs = 20_000
/** Variables that say which gateway a command uses. The other variables are settings of the gateway. */
const addressVariables = ['HOLDPOINT_HOME', 'HOLDPOINT_URL', 'HOLDPOINT_TOKEN']
const run = promisify(execFile)

export interface ServiceOptions {
  readonly json?: boolean
}

/** `flags` are options of `up`, which the service passes on. */
export async function serviceInstall(
  dataFolder: DataFolder,
  flags: Readonly<Record<string, string | true>>,
  options: ServiceOptions,
): Promise<void> {
  const launcher = requireLauncher()
  const program = requireProgram()
  if (existsSync(launcher.file)) throw new Fault('key_conflict', texts.exists(launcher.file))
  if (runningProcess(dataFolder, 'gateway'))
    throw new Fault('store_locked', texts.gatewayRuns(lastGateway(dataFolder)?.url ?? ''))
  await requireAvailable(launcher)
  const { PATH: path = '' } = agentEnvironment(process.env)
  const logFile = join(dataFolder.path, 'gateway.log')
  const words = wordsOf(flags)
  const definition = { program, dataFolder: dataFolder.path, options: words, logFile, cwd: homedir(), path }
  for (const part of [...program, dataFolder.path, homedir(), path, ...words])
    if (/[\r\n]/.test(part)) throw new Fault('bad_input', texts.lineBreak(part))
  // The log contains sign-in links, and the launcher would let others read it.
  const log = openSync(logFile, 'a', 0o600)
  const earlierBytes = fstatSync(log).size
  closeSync(log)
  mkdirSync(dirname(launcher.file), { recursive: true })
  writeFileSync(launcher.file, launcher.describe(definition), { flag: 'wx' })
  try {
    for (const command of launcher.start) await runCommand(command)
    const until = performance.now() + startMaxMs
    if (!(await waitForGateway(dataFolder, () => performance.now() < until)))
      throw new Fault('internal', texts.didNotStart(lastLogLine(logFile, earlierBytes), logFile))
  } catch (error) {
    // Report the first error, even if removing fails too.
    await removeFrom(launcher).catch(() => {})
    throw error
  }
  const settings = holdpointVariables(process.env).filter(name => !addressVariables.includes(name))
  if (settings.length > 0) printNotice(texts.variables(settings, dataFolder.configFile))
  await printInstalled(launcher, dataFolder, logFile, options)
}

/** Returns options as words of a command line. Throws if one of them contains a password, because others could read it. */
function wordsOf(flags: Readonly<Record<string, string | true>>): readonly string[] {
  const words = Object.entries(flags).flatMap(([name, value]) => {
    const flag = `--${name.replace(/[A-Z]/g, letter => `-${letter.toLowerCase()}`)}`
    return value === true ? [flag] : [flag, value]
  })
  if (words.some(hasPassword)) throw new Fault('bad_input', texts.password)
  return words
}

async function printInstalled(
  { name, file }: Launcher,
  dataFolder: DataFolder,
  logFile: string,
  { json = false }: ServiceOptions,
): Promise<void> {
  const { url, call } = requireGateway({ home: dataFolder.path })
  const link = `${url}/#code=${(await call('makeLink', {})).code}`
  if (json) return console.log(JSON.stringify({ url, link, file, logFile }))
  console.log(texts.installed({ url, link }, file, logFile))
  if (name === 'systemd') console.log(texts.atBoot)
}

export async function serviceRemove(): Promise<void> {
  const launcher = requireLauncher()
  if (!existsSync(launcher.file)) return console.log(texts.notInstalled)
  await requireAvailable(launcher)
  const dataFolder = installedDataFolder(launcher)
  await removeFrom(launcher)
  // launchd stops only the gateway, not the runner.
  await down(dataFolder)
  console.log(texts.removed(dataFolder.path))
}

/** Returns the exit code: 0 if the service is running. */
export async function serviceStatus({ json }: ServiceOptions): Promise<number> {
  const launcher = requireLauncher()
  const { file } = launcher
  const isInstalled = existsSync(file)
  const isRunning = isInstalled && launcher.isRunning(await runCommand(launcher.state).catch(() => ''))
  const dataFolder = installedDataFolder(launcher)
  const url = isRunning && runningProcess(dataFolder, 'gateway') ? (lastGateway(dataFolder)?.url ?? null) : null
  if (json)
    console.log(JSON.stringify({ installed: isInstalled, running: isRunning, url, file: isInstalled ? file : null }))
  else if (isInstalled) {
    const state = isRunning ? texts.stateRunning : texts.stateStopped
    console.log(texts.status(state, { file, dataFolder: dataFolder.path }, url))
  } else console.log(texts.notInstalled)
  return isRunning ? 0 : 1
}

async function removeFrom({ file, stop, forget }: Launcher): Promise<void> {
  for (const command of stop) await runCommand(command)
  rmSync(file, { force: true })
  for (const command of forget) await runCommand(command)
}

function requireLauncher(): Launcher {
  const { platform } = process
  const launcher = launcherOf(platform, { home: homedir(), uid: process.getuid?.() ?? 0, env: process.env })
  if (!launcher) throw new Fault('unsupported', texts.unsupported(platform))
  return launcher
}

/** Returns Node and the program that runs now, which the service will run. */
function requireProgram(): readonly [string, string] {
  const [node = '', program = ''] = process.argv
  if (program.split('/').includes('_npx')) throw new Fault('unsupported', texts.fromCache)
  return [node, program]
}

/** Throws if the launcher is missing, or does not run for this person, as in a container. */
async function requireAvailable({ name, check }: Launcher): Promise<void> {
  const [program] = check
  try {
    await run(program, check.slice(1))
  } catch (error) {
    const isMissing = (error as NodeJS.ErrnoException).code === 'ENOENT'
    const problem = isMissing ? texts.notFound(program) : problemOf(error)
    throw new Fault('unsupported', texts.notAvailable(name, problem))
  }
}

async function runCommand([program, ...words]: readonly [string, ...string[]]): Promise<string> {
  try {
    return (await run(program, words)).stdout
  } catch (error) {
    throw new Fault('internal', texts.failed([program, ...words].join(' '), problemOf(error)))
  }
}

/** Returns the first line that a failed program wrote to stderr. */
function problemOf(error: unknown): string {
  const { stderr = '', message } = error as { readonly stderr?: string; readonly message: string } // execFile rejects with such errors
  return stderr.trim().split('\n')[0] || message
}

/** Returns the data folder that the service uses, which may differ from that of this command. */
function installedDataFolder({ file, dataFolderIn }: Launcher): DataFolder {
  return dataFolderAt((existsSync(file) && dataFolderIn(readFileSync(file, 'utf8'))) || undefined)
}
