/** Keeps one runner beside the gateway: finds the one that outlived the last gateway, or starts one, and starts another when it dies. */

import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync, openSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { type Call, messageOf } from '@holdpoint/protocol'
import type { Config } from '../config/config.ts'
import { type DataFolder, runningProcess, writePidFile } from '../config/data-folder.ts'
import { log } from '../log.ts'
import { withoutSecrets } from '../runner/isolate-agents.ts'
import { runInProcess } from '../runner/runner.ts'
import { keepLeaseAlive, leaseCheckMs } from './lease-keepalive.ts'

interface SupervisorOptions {
  readonly dataFolder: DataFolder
  readonly config: Config
  /** The gateway, with the runner's rights. */
  readonly call: Call
}

/** Between a runner that failed and the next: doubling, until one has lived for a while. */
const restartBackoff = { firstMs: 500, capMs: 30_000, soundMs: 60_000 }
const checkMs = 1000

export async function superviseRunner(
  how: 'process' | 'inline' | 'none',
  parts: SupervisorOptions,
): Promise<() => Promise<void>> {
  if (how === 'none') return async () => {}
  if (how === 'inline') return runInline(parts)
  return superviseProcess(parts)
}

function runInline({ dataFolder, config, call }: SupervisorOptions): () => Promise<void> {
  const stop = new AbortController()
  const done = runInProcess({ call, id: dataFolder.runnerId(), config, dataFolder, signal: stop.signal }).catch(error =>
    // Without agents the gateway still serves those that live elsewhere.
    log({ event: 'runner.failed', message: messageOf(error) }),
  )
  return async () => {
    stop.abort()
    await done
  }
}

/** The runner is detached, so that a crash or an upgrade of the gateway does not touch its agents. Its death is noticed by looking. */
function superviseProcess({ dataFolder, call }: SupervisorOptions): () => Promise<void> {
  const id = dataFolder.runnerId()
  let stopped = false
  let timer: NodeJS.Timeout | undefined
  let child: ChildProcess | undefined
  let failures = 0
  // A runner that was told to crash does so once: the next one lives.
  let crashAt = process.env.HOLDPOINT_RUNNER_CRASH_AT
  const lookIn = (ms: number) => {
    clearTimeout(timer)
    if (!stopped) timer = setTimeout(look, ms).unref()
  }
  const look = () => {
    if (!child && !runningProcess(dataFolder, 'runner')) {
      const startedAt = performance.now()
      child = startRunner(dataFolder, crashAt)
      child.once('exit', (code, signal) => {
        failures = nextFailures(failures, { code, signal, uptimeMs: performance.now() - startedAt })
        void bury()
      })
      crashAt = undefined
    }
    lookIn(checkMs)
  }
  const bury = async () => {
    clearTimeout(timer)
    // Its leases are void from now on, and the next one need not wait for them to run out; unless it only gave way to another that lives.
    if (!stopped && !runningProcess(dataFolder, 'runner')) await call('retireRunner', { id }).catch(() => {})
    child = undefined
    lookIn(restartDelayMs(failures))
  }
  const renew = keepLeaseAlive({
    call,
    id,
    isProcessRunning: () => runningProcess(dataFolder, 'runner') !== null,
    now: () => performance.now(),
  })
  // An archive that is away for a moment is met again at the next look.
  const renewing = setInterval(() => void renew().catch(() => {}), leaseCheckMs).unref()
  look()
  return async () => {
    stopped = true
    clearTimeout(timer)
    clearInterval(renewing)
  }
}

interface RunnerExit {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  readonly uptimeMs: number
}

/** How often runners have failed in a row; one that was stopped or killed has not failed. */
export function nextFailures(failures: number, { code, signal, uptimeMs }: RunnerExit): number {
  if (code === 0 || signal === 'SIGKILL' || signal === 'SIGTERM') return 0
  return uptimeMs >= restartBackoff.soundMs ? 1 : failures + 1
}
export function restartDelayMs(failures: number): number {
  return Math.min(restartBackoff.capMs, restartBackoff.firstMs * 2 ** Math.max(0, failures - 1))
}

function startRunner(home: DataFolder, crashAt: string | undefined): ChildProcess {
  const out = openSync(home.runnerLog, 'a', 0o600)
  const main = fileURLToPath(new URL('./main.js', import.meta.url))
  // A gateway that is told to crash must not take its runner along.
  const { HOLDPOINT_CRASH_AT: _gateway, HOLDPOINT_RUNNER_CRASH_AT: _runner, ...env } = withoutSecrets(process.env)
  const child = spawn(process.execPath, [main, 'runner', '--home', home.path], {
    detached: true,
    stdio: ['ignore', out, out],
    env: crashAt ? { ...env, HOLDPOINT_CRASH_AT: crashAt } : env,
  })
  closeSync(out)
  child.unref()
  // Noted by whoever starts it, so that there is no moment when it runs and cannot be found.
  if (child.pid !== undefined) writePidFile(home, 'runner', child.pid)
  return child
}
