/** A process that dies with its runner, and with everything it started in its group. */
import { accessSync, constants } from 'node:fs'

const setpriv = '/usr/bin/setpriv'

/** On Linux the kernel ends it when its runner dies, however that happens. */
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
    // The group is gone already.
  }
}
