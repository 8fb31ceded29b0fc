/** Reads the start time of a process, from /proc (Linux) or with `ps`, to distinguish the process from a later one with the same pid. */
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'

/** Returns the kernel's start time of a process, or an empty string if the process has ended or the system has no /proc. */
export function processStartTime(pid: number): string {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    // The start time is field 22. Count from the end of field 2, because the command name may contain spaces and parentheses.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return fields[0] === 'Z' ? '' : (fields[19] ?? '')
  } catch {
    return ''
  }
}

/** Returns the start time that `ps` prints, or an empty string if the process has ended or there is no `ps`. */
export function listedStartTime(pid: number): string {
  try {
    const options = { encoding: 'utf8', env: { ...process.env, LC_ALL: 'C', TZ: 'UTC' }, stdio: 'pipe' } as const
    const [state = '', ...time] = execFileSync('ps', ['-o', 'stat=,lstart=', '-p', String(pid)], options)
      .trim()
      .split(/\s+/)
    return state.startsWith('Z') ? '' : time.join(' ')
  } catch {
    return ''
  }
}
