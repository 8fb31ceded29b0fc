/** `holdpoint up --detach`: starts `holdpoint up` in the background, waits until its gateway answers, and prints where it is. */
import { spawn } from 'node:child_process'
import { closeSync, fstatSync, openSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { type Call, Fault } from '@holdpoint/protocol'
import { type DataFolder, runningProcess } from '../config/data-folder.ts'
import { requireGateway } from '../gateway-client/gateway-client.ts'
import { movePasswordToEnvironment } from '../password-in-arguments.ts'
import { detachedTexts } from './texts.ts'
import { requireNoGateway } from './up.ts'

const pollMs = 50
/** How long the command waits for the runner. Without one, the gateway is of use already: it shows what is pending. */
const runnerTimeoutMs = 10_000

interface DetachOptions {
  readonly json: boolean
  /** Whether `up` also starts a runner. */
  readonly startsRunner: boolean
}

/** `words` are the arguments of `up`. */
export async function upDetached(
  words: readonly string[],
  dataFolder: DataFolder,
  { json, startsRunner }: DetachOptions,
): Promise<void> {
  requireNoGateway(dataFolder)
  const logFile = join(dataFolder.path, 'gateway.log')
  const log = openSync(logFile, 'a', 0o600)
  const earlierBytes = fstatSync(log).size
  const given = { words: words.filter(word => word !== '--detach' && word !== '--json'), env: process.env }
  const { words: rest, env } = movePasswordToEnvironment(given)
  const [, program = ''] = process.argv
  const child = spawn(process.execPath, [...process.execArgv, program, 'up', ...rest], {
    detached: true,
    stdio: ['ignore', log, log],
    env,
  })
  closeSync(log)
  child.unref()
  if (!(await waitForGateway(dataFolder, () => child.exitCode === null && child.signalCode === null)))
    throw new Fault('internal', detachedTexts.failed(lastLogLine(logFile, earlierBytes), logFile))
  const { url, call } = requireGateway({ home: dataFolder.path })
  if (startsRunner) await waitForRunner(call)
  const link = `${url}/#code=${(await call('makeLink', {})).code}`
  const { tokenFile } = dataFolder
  process.stdout.write(
    `${json ? JSON.stringify({ url, link, tokenFile }) : detachedTexts.running({ url, link }, logFile)}\n`,
  )
}

/** Resolves with true when the gateway is running, or with false if `mayStart` returns false first. */
export async function waitForGateway(dataFolder: DataFolder, mayStart: () => boolean): Promise<boolean> {
  while (mayStart()) {
    if (runningProcess(dataFolder, 'gateway')) return true
    await delay(pollMs)
  }
  return false
}

/** Waits for a live runner, so that the next command finds the agents. */
async function waitForRunner(call: Call): Promise<void> {
  for (let waitedMs = 0; waitedMs < runnerTimeoutMs; waitedMs += pollMs) {
    const { items } = await call('listDrivers', {})
    if (items.some(({ runner }) => runner !== null)) return
    await delay(pollMs)
  }
}

/** Returns the last line of the log, which says why the gateway ended. Lines of earlier gateways do not count. */
export function lastLogLine(file: string, earlierBytes: number): string {
  const line = readFileSync(file).subarray(earlierBytes).toString().trimEnd().split('\n').at(-1) ?? ''
  return line.replace(/^holdpoint: /, '')
}
