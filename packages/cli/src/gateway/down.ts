/** Stops what runs: the runner first, so that it can still give its agents back, then the gateway, and again until neither is left. */
import { Fault } from '@holdpoint/protocol'
import { type DataFolder, isRunning, runningProcess } from '../config/data-folder.ts'

const stopMaxMs = 15_000
const killMaxMs = 5000
const pollMs = 20
const roundsMax = 5

export async function down(home: DataFolder): Promise<string> {
  const stopped = new Set<string>()
  // A gateway starts another runner as soon as its own is gone, until it is gone itself.
  for (let round = 0; round < roundsMax && anyRunning(home); round++)
    for (const name of ['runner', 'gateway'] as const) if (await stop(home, name)) stopped.add(name)
  if (anyRunning(home))
    throw new Fault('session_live', `Something of ${home.path} still runs; run holdpoint down again`)
  return stopped.size > 0
    ? `Stopped: ${[...stopped].join(' and ')}. Pending requests wait for the next start.`
    : 'Nothing runs.'
}

function anyRunning(home: DataFolder): boolean {
  return runningProcess(home, 'gateway') !== null || runningProcess(home, 'runner') !== null
}

/** By SIGTERM; by SIGKILL where that takes too long. */
async function stop(home: DataFolder, name: 'gateway' | 'runner'): Promise<boolean> {
  const found = runningProcess(home, name)
  if (!found) return false
  sendSignal(found.pid, 'SIGTERM')
  for (let waitedMs = 0; waitedMs < stopMaxMs + killMaxMs; waitedMs += pollMs) {
    if (!isRunning(found)) return true
    if (waitedMs >= stopMaxMs) sendSignal(found.pid, 'SIGKILL')
    await new Promise(resolve => setTimeout(resolve, pollMs))
  }
  return runningProcess(home, name)?.pid !== found.pid
}

function sendSignal(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch {
    // It has ended by itself.
  }
}
