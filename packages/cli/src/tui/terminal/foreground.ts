/** Whether this process may change the settings of its terminal. A process in the background that tries is stopped by SIGTTOU, and Node then repeats the call until it succeeds, so that no signal but SIGKILL would end the process. */
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'

/** Returns whether the process group of this process is the one in the foreground of its terminal. A process whose terminal does not control it, for example after `setsid`, has no group in the foreground, and nothing stops it. */
export function isInForeground(): boolean {
  try {
    const [own, foreground] = processGroups()
    return own === foreground || Number(foreground) <= 0
  } catch {
    // If the process groups cannot be read, assume the foreground, as most programs do.
    return true
  }
}

function processGroups(): readonly string[] {
  if (process.platform !== 'linux')
    return execFileSync('ps', ['-o', 'pgid=,tpgid=', '-p', String(process.pid)], { encoding: 'utf8' })
      .trim()
      .split(/\s+/)
  // The name of the program is in parentheses and may contain spaces. After it: the state, the parent, the process group, the session, the terminal, and the group in its foreground.
  const stat = readFileSync('/proc/self/stat', 'utf8')
  const [, , group = '', , , foreground = ''] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return [group, foreground]
}

/** Ends the process by a signal if it is in the background, because a normal exit of Node would change the settings of the terminal. The settings were restored before the process was stopped. */
export function exitInBackground(): void {
  if (isInForeground()) return
  process.removeAllListeners('SIGTERM')
  process.kill(process.pid, 'SIGTERM')
}
