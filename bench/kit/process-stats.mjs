/** Reads the CPU time and memory of a process from /proc or `ps`, and ends processes. */
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'

const hasProc = existsSync('/proc/self/stat')
/** Linux reports CPU time in hundredths of a second (USER_HZ is 100 on all platforms of Node). */
const tickMs = 10

/** Returns the user and system CPU time of a process so far. */
export function cpuMsOf(pid) {
  if (!hasProc) return parseCpuTime(ps(pid, 'time'))
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  // The command name in field 2 may contain blanks and parentheses, so count the fields after the last parenthesis.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[11]) + Number(fields[12])) * tickMs
}

export function rssMbOf(pid) {
  if (!hasProc) return Number(ps(pid, 'rss')) / 1024
  return Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024
}

function ps(pid, column) {
  return execFileSync('ps', ['-o', `${column}=`, '-p', String(pid)], { encoding: 'utf8' }).trim()
}

/** Parses a time in the format [[hh:]mm:]ss.cc. */
function parseCpuTime(time) {
  return time.split(':').reduce((sum, part) => sum * 60 + Number(part), 0) * 1000
}

function isRunning(pid) {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

/** Sends a signal to a process and resolves when the process is gone. Kills the process if it is still running after `graceMs` milliseconds. */
export async function endProcess(pid, signal = 'SIGTERM', graceMs = 6000) {
  const killAt = Date.now() + graceMs
  for (let next = signal; isRunning(pid); await sleep(20)) {
    if (next) process.kill(pid, next)
    next = Date.now() > killAt ? 'SIGKILL' : null
  }
}
