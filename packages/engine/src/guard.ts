/** Who may write for the agent: the holder of the newest fence, or an agent's own credential for the session it lives in. */
import { Fault, type SessionId } from '@holdpoint/protocol'
import type { Caller } from './desk.ts'
import type { SessionRow } from './rows.ts'

export const externalDriver = 'external'

export function noSession(id: string): Fault {
  return new Fault('not_found', `There is no session ${id}`, { id })
}
export function noRequest(id: string): Fault {
  return new Fault('not_found', `There is no request ${id}`, { id })
}

/** An agent sees the sessions it opened, and those a person opened for agents that live elsewhere; no other exists for it. */
export function maySee(caller: Caller, row: Pick<SessionRow, 'driver' | 'agent'>): boolean {
  return (
    caller.role !== 'agent' || (row.driver === externalDriver && (row.agent === null || row.agent === caller.token))
  )
}

/** The session, if the caller may write on its agent's behalf now. */
export function agentSide(
  row: SessionRow | undefined,
  caller: Caller,
  id: SessionId,
  fence: number | undefined,
  even?: 'ended',
): SessionRow | Fault {
  if (!row || !maySee(caller, row)) return noSession(id)
  if (caller.role === 'person' && row.driver !== externalDriver)
    return new Fault('forbidden', `Session ${id} is driven by a runner; a person cannot speak for its agent`, { id })
  if (fence === undefined) {
    if (row.driver !== externalDriver) return new Fault('bad_input', 'fence: is required; it comes from attach', { id })
  } else if (fence !== row.fence || (row.lease === null && row.driver !== externalDriver))
    return new Fault(
      'fenced',
      `Session ${id} is held by another; fence ${fence} is not ${row.fence}. Stop driving it`,
      { id, fence: row.fence },
    )
  if (row.state === 'ended' && even !== 'ended')
    return new Fault('session_ended', `Session ${id} has ended (${row.ending?.reason ?? 'done'})`, { id })
  return row
}
