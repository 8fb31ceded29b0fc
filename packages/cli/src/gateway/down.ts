/** `holdpoint down`: stops the runner and then the gateway, in this order because the runner needs the gateway to release its sessions. */
import { Fault } from '@holdpoint/protocol'
import { type DataFolder, isRunning, runningProcess, runningSupervisor } from '../config/data-folder.ts'
import { nothingRunning, stillRunning, stoppedText } from './texts.ts'

const stopMaxMs = 15_000
const killMaxMs = 5000
const pollMs = 20
const roundsMax = 5

export async function down(dataFolder: DataFolder): Promise<string> {
  const stopped = new Set<string>()
  // One round may not be enough, because a gateway that is still running replaces a runner that has exited.
  for (let round = 0; round < roundsMax && anyRunning(dataFolder); round++)
    for (const name of ['runner', 'gateway'] as const) if (await stop(dataFolder, name)) stopped.add(name)
  if (anyRunning(dataFolder)) throw new Fault('session_live', stillRunning(dataFolder.path))
  return stopped.size > 0 ? stoppedText(stopped) : nothingRunning(dataFolder.path)
}

function anyRunning(dataFolder: DataFolder): boolean {
  return runningProcess(dataFolder, 'gateway') !== null || runningProcess(dataFolder, 'runner') !== null
}

/** Sends SIGTERM, and SIGKILL if the process is still running after `stopMaxMs`. Returns true if the process was running and has ended. */
async function stop(dataFolder: DataFolder, name: 'gateway' | 'runner'): Promise<boolean> {
  const found = runningProcess(dataFolder, name)
  if (!found) return false
  const supervisor = runningSupervisor(found)
  const processes = supervisor ? [supervisor, found] : [found]
  // A supervisor passes the signal on. A gateway that got the signal twice would not finish its calls.
  sendSignal((supervisor ?? found).pid, 'SIGTERM')
  for (let waitedMs = 0; waitedMs < stopMaxMs + killMaxMs; waitedMs += pollMs) {
    const running = processes.filter(isRunning)
    if (running.length === 0) return true
    if (waitedMs >= stopMaxMs) for (const { pid } of running) sendSignal(pid, 'SIGKILL')
    await new Promise(resolve => setTimeout(resolve, pollMs))
  }
  return runningProcess(dataFolder, name)?.pid !== found.pid
}

function sendSignal(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch {
    // The process has already ended.
  }
}
