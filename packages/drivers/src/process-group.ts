/** Makes the kernel kill a process when the runner dies, and signals a process or its whole process group. */
import { accessSync, constants } from 'node:fs'

const setpriv = '/usr/bin/setpriv'

/** Wraps the command in `setpriv --pdeathsig` on Linux if setpriv is installed, so that the kernel kills the process when the runner dies, even if the runner gets SIGKILL. */
export function withParentDeathSignal(argv: readonly string[]): readonly string[] {
  if (process.platform !== 'linux') return argv
  try {
    accessSync(setpriv, constants.X_OK)
    return [setpriv, '--pdeathsig', 'KILL', ...argv]
  } catch {
    return argv
  }
}

export function signalProcess(pid: number | undefined, signal: NodeJS.Signals): void {
  if (pid === undefined) return
  try {
    process.kill(pid, signal)
  } catch {
    // The process or the process group has already ended.
  }
}

export function signalGroup(pid: number | undefined, signal: NodeJS.Signals): void {
  signalProcess(pid && -pid, signal)
}
