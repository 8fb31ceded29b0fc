/** Tells a process apart from a later one with the same pid, by its start time in /proc (Linux). */
import { readFileSync } from 'node:fs'

/** The kernel's start time of a process. Empty if the process has ended or the system has no /proc. */
export function processStartTime(pid: number): string {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    // Field 22. The command name in field 2 may contain blanks and parentheses, so count from its end.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return fields[0] === 'Z' ? '' : (fields[19] ?? '')
  } catch {
    return ''
  }
}
