/** Removes what a driver has stored for sessions that were deleted. */
import { existsSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { pause, SessionId } from '@holdpoint/protocol'
import type { RunnerAccess } from './driver.ts'
import { isProcessRunning, readProcessRecord } from './process-record.ts'

/** The first check is late enough for a new runner to attach all sessions that need a runner. */
const firstCheckMs = 60_000
const checkEveryMs = 60 * 60_000

/** Checks the folders, which are named after their sessions, until the runner stops. A folder with a process that still runs is kept. */
export async function removeDeletedSessions(folder: string, { clock, signal, sessionOf }: RunnerAccess): Promise<void> {
  for (let waitMs = firstCheckMs; ; waitMs = checkEveryMs) {
    // The pause ends early if the runner stops.
    await pause(clock, waitMs, signal).catch(() => {})
    if (signal.aborted) return
    for (const name of existsSync(folder) ? readdirSync(folder) : []) {
      const id = SessionId.safeParse(name)
      if (!id.success || (await sessionOf(id.data)) !== null) continue
      const record = readProcessRecord(join(folder, name))
      if (record === null || !isProcessRunning(record)) rmSync(join(folder, name), { recursive: true, force: true })
    }
  }
}
