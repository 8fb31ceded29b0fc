/** What the operating system knows of a process: its processor time, its memory, and whether it is still there. */
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'

const onProc = existsSync('/proc/self/stat')
/** The kernel counts processor time in hundredths of a second on every Linux that Node runs on. */
const tickMs = 10

/** User and system time so far. */
export function cpuMsOf(pid) {
  if (!onProc) return spelledMs(ps(pid, 'time'))
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  // The command in the second field may hold blanks and brackets, so count from its end.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[11]) + Number(fields[12])) * tickMs
}

export function rssMbOf(pid) {
  if (!onProc) return Number(ps(pid, 'rss')) / 1024
  return Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024
}

function ps(pid, column) {
  return execFileSync('ps', ['-o', `${column}=`, '-p', String(pid)], { encoding: 'utf8' }).trim()
}

/** From [[hh:]mm:]ss.cc */
function spelledMs(time) {
  return time.split(':').reduce((sum, part) => sum * 60 + Number(part), 0) * 1000
}

function lives(pid) {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

/** Ends a process that may not be a child of ours, and returns when it is gone. */
export async function endProcess(pid, signal = 'SIGTERM', patienceMs = 6000) {
  const lateAt = Date.now() + patienceMs
  for (let next = signal; lives(pid); await sleep(20)) {
    if (next) process.kill(pid, next)
    next = Date.now() > lateAt ? 'SIGKILL' : null
  }
}
