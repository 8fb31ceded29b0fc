/** Finds the session of the agent that has started this process. */
import type { Call, SessionId } from '@holdpoint/protocol'
import { liveSessions } from '../commands/queries.ts'
import type { DataFolder } from '../config/data-folder.ts'
import { allTerminals, ancestorPids } from './terminal-folder.ts'

/** Returns the session of the agent whose process is one of the processes that started this one, or null if there is none. */
export async function ownSession(call: Call, dataFolder: DataFolder): Promise<SessionId | null> {
  const ancestors = new Set(ancestorPids())
  const terminal = allTerminals(dataFolder)
    .map(folder => folder.read())
    .find(known => known !== null && ancestors.has(known.process.pid))
  if (terminal) return terminal.session.id
  const session = (await liveSessions(call)).find(
    ({ process: own }) => own?.pid !== undefined && ancestors.has(own.pid),
  )
  return session?.id ?? null
}
