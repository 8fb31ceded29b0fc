/** Ends agents' processes together with the runner and with everything they started. */
import { accessSync, constants } from 'node:fs'

const setpriv = '/usr/bin/setpriv'

/** On Linux, `setpriv --pdeathsig` makes the kernel kill the process when the runner dies, even by SIGKILL. */
export function withParentDeathSignal(argv: readonly string[]): readonly string[] {
  if (process.platform !== 'linux') return argv
  try {
    accessSync(setpriv, constants.X_OK)
    return [setpriv, '--pdeathsig', 'KILL', ...argv]
  } catch {
    return argv
  }
}

export function signalGroup(pid: number | undefined, signal: NodeJS.Signals): void {
  if (pid === undefined) return
  try {
    process.kill(-pid, signal)
  } catch {
    // The process group has already ended.
  }
}
