/** Keeps one runner running next to the gateway. Reuses a runner that outlived the previous gateway, otherwise starts a new one, and restarts the runner when it exits. */
import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync, openSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { executableVariable, withoutHoldpointVariables } from '@holdpoint/drivers'
import { type Call, messageOf } from '@holdpoint/protocol'
import { type Config, executableKeys } from '../config/config-schema.ts'
import { type DataFolder, runningProcess, writeRunnerPidFile } from '../config/data-folder.ts'
import { runnerCrashPoints } from '../crash-points.ts'
import { log } from '../log.ts'
import { countFailure, restartDelayMs } from '../supervisor/restart-delay.ts'
import { keepLeaseAlive, leaseCheckMs } from './lease-keepalive.ts'

interface SupervisorOptions {
  readonly dataFolder: DataFolder
  readonly config: Config
  /** Calls the gateway with the runner's token. */
  readonly call: Call
}
type StopSupervising = () => Promise<void>

const firstDelayMs = 500
const checkMs = 1000

export async function superviseRunner(
  mode: 'process' | 'inline' | 'none',
  options: SupervisorOptions,
): Promise<StopSupervising> {
  if (mode === 'none') return async () => {}
  return mode === 'inline' ? runInline(options) : superviseProcess(options)
}

/** Imports the runner with all its drivers only here, because most gateways start the runner as another process. */
async function runInline({ dataFolder, config, call }: SupervisorOptions): Promise<StopSupervising> {
  const { runInProcess } = await import('../runner/runner.ts')
  const stop = new AbortController()
  const done = runInProcess({ call, id: dataFolder.runnerId(), config, dataFolder, signal: stop.signal }).catch(error =>
    // Keep the gateway running without this runner, because the gateway may still serve external agents and other runners.
    log({ event: 'runner.failed', message: messageOf(error) }),
  )
  return async () => {
    stop.abort()
    await done
  }
}

/** Starts the runner detached, so that its agents survive a crash or an upgrade of the gateway. Also polls the pid file, because a runner that another process started emits no exit event here. */
function superviseProcess({ dataFolder, call }: SupervisorOptions): StopSupervising {
  const id = dataFolder.runnerId()
  let stopped = false
  let timer: NodeJS.Timeout | undefined
  let child: ChildProcess | undefined
  let failures = 0
  // For crash tests: only the first runner gets the crash point, because the runner that replaces it must stay up.
  let crashAt = runnerCrashPoints
  const checkIn = (ms: number) => {
    clearTimeout(timer)
    if (!stopped) timer = setTimeout(check, ms).unref()
  }
  const check = () => {
    if (!child && !runningProcess(dataFolder, 'runner')) {
      const startedAt = performance.now()
      child = startRunner(dataFolder, crashAt)
      child.once('exit', (code, signal) => {
        failures = nextFailures(failures, { code, signal, uptimeMs: performance.now() - startedAt })
        void onRunnerExit()
      })
      crashAt = undefined
    }
    checkIn(checkMs)
  }
  const onRunnerExit = async () => {
    clearTimeout(timer)
    // Void the leases now, so that the next runner does not have to wait until they expire. If another runner is
    // running, keep the leases, because they belong to that runner. This runner exited because it found the other one.
    // Ignore an error, because the leases expire in any case.
    if (!stopped && !runningProcess(dataFolder, 'runner')) await call('retireRunner', { id }).catch(() => {})
    child = undefined
    checkIn(restartDelayMs(failures, firstDelayMs))
  }
  const renewLease = keepLeaseAlive({
    call,
    id,
    isProcessRunning: () => runningProcess(dataFolder, 'runner') !== null,
    now: () => performance.now(),
  })
  // Ignore errors: if the store is briefly unavailable, the next check tries again.
  const renewal = setInterval(() => void renewLease().catch(() => {}), leaseCheckMs).unref()
  check()
  return async () => {
    stopped = true
    clearTimeout(timer)
    clearInterval(renewal)
  }
}

interface RunnerExit {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  readonly uptimeMs: number
}

/** Returns the number of consecutive failures after this exit. A runner that was stopped or killed has not failed. */
export function nextFailures(failures: number, { code, signal, uptimeMs }: RunnerExit): number {
  return code === 0 || signal === 'SIGKILL' || signal === 'SIGTERM' ? 0 : countFailure(failures, uptimeMs)
}

/** Returns the path of this package's executable. Resolves it by package name, because no relative path fits both places from which this code runs: the bundle and, in a program that embeds the gateway, `dist/gateway`. */
export function programFile(): string {
  return join(createRequire(import.meta.url).resolve('holdpoint/package.json'), '../bin/holdpoint.js')
}

function startRunner(dataFolder: DataFolder, crashAt: string | undefined): ChildProcess {
  const logFile = openSync(dataFolder.runnerLog, 'a', 0o600)
  // Agents can read the environment of the runner, so it gets only the Holdpoint variables that it needs.
  const executables = executableKeys.map(executableVariable).filter(name => process.env[name])
  const env = {
    ...withoutHoldpointVariables(process.env),
    ...Object.fromEntries(executables.map(name => [name, process.env[name]])),
  }
  const child = spawn(process.execPath, [programFile(), 'runner', '--home', dataFolder.path], {
    detached: true,
    stdio: ['ignore', logFile, logFile],
    env: crashAt ? { ...env, HOLDPOINT_CRASH_AT: crashAt } : env,
  })
  closeSync(logFile)
  child.unref()
  // The runner writes its pid file only once it is up. Write it here too, so that `down` finds the runner before that.
  if (child.pid !== undefined) writeRunnerPidFile(dataFolder, child.pid)
  return child
}
