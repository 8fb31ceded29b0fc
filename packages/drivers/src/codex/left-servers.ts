/** Ends app-servers that a lost runner has left and that no session needs. */
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { pause, SessionId } from '@holdpoint/protocol'
import type { RunnerAccess } from '../driver.ts'
import { AppServer } from './app-server.ts'

/** The first check is late enough for a new runner to attach all sessions that need a runner. */
const checkEveryMs = 60_000

/** Ends the servers that earlier runners have left, with a pause before each check, until there are no more. `isRunning` says whether this runner runs the session: its server is then still in use. */
export async function endLeftServers(
  folder: string,
  isRunning: (id: SessionId) => boolean,
  { clock, signal, sessionOf }: RunnerAccess,
): Promise<void> {
  const left = () => leftServers(folder).filter(({ id }) => !isRunning(id))
  while (!signal.aborted && left().length > 0) {
    // The pause ends early if the runner stops.
    await pause(clock, checkEveryMs, signal).catch(() => {})
    if (signal.aborted) break
    for (const { id, server } of left()) {
      const session = await sessionOf(id)
      // An answer to a pending request resumes the session, and its server still waits for the answer.
      const isNeeded = session !== null && session.state !== 'ended' && session.pending > 0
      if (!isNeeded && !isRunning(id)) await server.end()
    }
  }
  // A runner that stops ends everything that its agents have started.
  await Promise.all(left().map(({ server }) => server.end()))
}

function leftServers(folder: string): readonly { readonly id: SessionId; readonly server: AppServer }[] {
  if (!existsSync(folder)) return []
  return readdirSync(folder).flatMap(name => {
    const id = SessionId.safeParse(name)
    const server = id.success ? AppServer.find(join(folder, name)) : null
    return id.success && server ? [{ id: id.data, server }] : []
  })
}
