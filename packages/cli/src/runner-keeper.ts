/** Keeps one runner beside the gateway: finds the one that outlived the last gateway, or starts one, and starts another when it dies. */
import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync, openSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Call } from '@holdpoint/protocol'
import type { Config } from './config.ts'
import { type Home, livingProcess } from './home.ts'
import { runHere } from './runner.ts'

interface Parts {
  readonly home: Home
  readonly config: Config
  /** The desk, with the runner's rights. */
  readonly call: Call
}

const restartMs = 500
const lookMs = 1000

export async function keepRunner(how: 'process' | 'inline' | 'none', parts: Parts): Promise<() => Promise<void>> {
  if (how === 'none') return async () => {}
  if (how === 'inline') return keepInline(parts)
  return keepProcess(parts)
}

function keepInline({ home, config, call }: Parts): () => Promise<void> {
  const stop = new AbortController()
  const done = runHere({ call, id: home.runnerId(), config, signal: stop.signal })
  return async () => {
    stop.abort()
    await done
  }
}

/** The runner is detached, so that a crash or an upgrade of the gateway does not touch its agents. Its death is noticed by looking. */
function keepProcess({ home, call }: Parts): () => Promise<void> {
  let stopped = false
  let timer: NodeJS.Timeout | undefined
  let child: ChildProcess | undefined
  // A runner that was told to crash does so once: the next one lives.
  let crashAt = process.env.HOLDPOINT_RUNNER_CRASH_AT
  const lookIn = (ms: number) => {
    clearTimeout(timer)
    if (!stopped) timer = setTimeout(look, ms).unref()
  }
  const look = () => {
    if (!child && !livingProcess(home, 'runner')) {
      child = startRunner(home, crashAt).once('exit', () => void bury())
      crashAt = undefined
    }
    lookIn(lookMs)
  }
  const bury = async () => {
    clearTimeout(timer)
    // Its leases are void from now on, and the next one need not wait for them to run out; unless it only gave way to another that lives.
    if (!stopped && !livingProcess(home, 'runner')) await call('retireRunner', { id: home.runnerId() }).catch(() => {})
    child = undefined
    lookIn(restartMs)
  }
  look()
  return async () => {
    stopped = true
    clearTimeout(timer)
  }
}

function startRunner(home: Home, crashAt: string | undefined): ChildProcess {
  const log = openSync(home.runnerLog, 'a', 0o600)
  const main = fileURLToPath(new URL('./main.js', import.meta.url))
  // A gateway that is told to crash must not take its runner along.
  const { HOLDPOINT_CRASH_AT: _gateway, HOLDPOINT_RUNNER_CRASH_AT: _runner, ...env } = process.env
  const child = spawn(process.execPath, [main, 'runner', '--home', home.folder], {
    detached: true,
    stdio: ['ignore', log, log],
    env: crashAt ? { ...env, HOLDPOINT_CRASH_AT: crashAt } : env,
  })
  closeSync(log)
  child.unref()
  return child
}
