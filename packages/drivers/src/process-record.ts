/** Records the process of an agent on disk, so that the next runner can find or end a process that was left behind, together with everything that it started. */
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { signalGroup } from './process-group.ts'
import { listedStartTime, processStartTime } from './process-start-time.ts'

const ProcessRecord = z.object({
  pid: z.int(),
  startTime: z.string(),
  /** Identifies the descendants of this process in /proc. The id of the Holdpoint session would also match another process of the same session. */
  tag: z.string(),
  /** The address at which the process listens, if it does. */
  address: z.string().optional(),
})
export type ProcessRecord = z.infer<typeof ProcessRecord>

/** The environment variable that holds the tag. Descendants inherit it. Its name does not start with HOLDPOINT_, because agents inherit no such variable. */
export const tagVariable = 'AGENT_PROCESS_TAG'

const recordFile = (folder: string) => join(folder, 'process.json')

export function recordProcess(folder: string, process: Omit<ProcessRecord, 'startTime'>): ProcessRecord {
  const record = { ...process, startTime: startTimeOf(process.pid) }
  writeFileSync(recordFile(folder), JSON.stringify(record), { mode: 0o600 })
  return record
}

/** Returns null if there is no record, or if a crash left the record incomplete. */
export function readProcessRecord(folder: string): ProcessRecord | null {
  try {
    return ProcessRecord.parse(JSON.parse(readFileSync(recordFile(folder), 'utf8')))
  } catch {
    return null
  }
}

/** Removes the record of this process, but not the record of a later process. */
export function removeProcessRecord(folder: string, tag: string): void {
  if (readProcessRecord(folder)?.tag === tag) rmSync(recordFile(folder), { force: true })
}

/** A process without a known start time counts as ended, because its pid may belong to an unrelated process. */
export function isProcessRunning({ pid, startTime }: ProcessRecord): boolean {
  return startTime !== '' && startTimeOf(pid) === startTime
}
/** Only Linux has /proc. */
function startTimeOf(pid: number): string {
  return process.platform === 'linux' ? processStartTime(pid) : listedStartTime(pid)
}

/** Ends the process that an earlier runner recorded in this folder, if it is still running. */
export function endOrphan(folder: string): void {
  const record = readProcessRecord(folder)
  if (record) killRecorded(record)
  rmSync(recordFile(folder), { force: true })
}

/** Kills a recorded process, its group and its descendants in other groups. */
export function killRecorded({ pid, startTime, tag }: ProcessRecord): void {
  const current = startTimeOf(pid)
  // The current start time is empty if the process has ended, but its children may still run in its process group. If the start time differs or was not recorded, the pid may belong to an unrelated process.
  if (startTime !== '' && (current === startTime || current === '')) {
    signalGroup(pid, 'SIGKILL')
    killSession(pid)
  }
  killDescendants(tag)
}

/** Kills every process of the POSIX session that this process leads or has led. Programs that an agent starts with an environment of their own do not have the tag. */
function killSession(leader: number): void {
  killProcesses(name => {
    const stat = readFileSync(`/proc/${name}/stat`, 'utf8')
    // The id of the POSIX session is field 6. Count from the end of field 2, because the command name may contain spaces and parentheses.
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[3] === String(leader)
  })
}

/** Kills every process that has inherited the tag. Agents start shells in separate process groups, so the shells survive when the agent's own group is killed. */
export function killDescendants(tag: string): void {
  const entry = `${tagVariable}=${tag}\0`
  killProcesses(name => readFileSync(`/proc/${name}/environ`, 'latin1').includes(entry))
}

/** Kills every other process that matches. Only Linux lists processes as files. */
function killProcesses(matches: (pid: string) => boolean): void {
  if (process.platform !== 'linux') return
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name) || Number(name) === process.pid) continue
    try {
      if (matches(name)) process.kill(Number(name), 'SIGKILL')
    } catch {
      // The process has exited, or it belongs to another user.
    }
  }
}
