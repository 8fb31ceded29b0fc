/** Decides who may see a session and who may write on behalf of its agent: the runner with the current fence or, in an external session, the agent's own credential or the person who opened the session. */
import { externalInfo, Fault, type SessionId } from '@holdpoint/protocol'
import type { Caller } from './gateway.ts'
import type { SessionRow } from './rows.ts'

export const externalDriver = externalInfo.name

/** Returns the same Fault whether the session does not exist or belongs to another agent, so that agents cannot probe for ids. */
export function sessionNotFound(id: string, caller?: Caller): Fault {
  const hint =
    caller?.role === 'agent'
      ? ' for this credential. To use a session that a person opens, its options.agent must name this credential'
      : ''
  return new Fault('not_found', `There is no session ${id}${hint}`, { id })
}
export function requestNotFound(id: string): Fault {
  return new Fault('not_found', `There is no request ${id}`, { id })
}

/** Returns whether the caller may see a session. An agent sees only sessions that it opened itself or that a person opened for it. */
export function maySee(caller: Caller, row: Pick<SessionRow, 'driver' | 'agent'>): boolean {
  return caller.role !== 'agent' || (row.driver === externalDriver && row.agent === caller.token)
}

/** Returns the Fault that says why the caller may not write on behalf of the session's agent, or null if the caller may. */
export function agentAccessFault(caller: Caller, row: SessionRow): Fault | null {
  if (!maySee(caller, row)) return sessionNotFound(row.id, caller)
  const external = row.driver === externalDriver
  if (caller.role === 'agent' || (caller.role === 'runner' && !external)) return null
  if (!external)
    return new Fault('forbidden', `Session ${row.id} is driven by a runner; a person cannot write for its agent`, {
      id: row.id,
    })
  if (caller.role === 'person' && row.person === caller.name) return null
  const owner =
    row.person === null ? 'the agent that opened it' : `${row.person} and the agent named when it was opened`
  return new Fault(
    'forbidden',
    `Session ${row.id} belongs to ${owner}; open your own session (a person names its agent in options.agent)`,
    {
      id: row.id,
    },
  )
}

/** Returns the session if the caller may write on behalf of its agent now, or else a Fault. */
export function requireAgentAccess(
  row: SessionRow | undefined,
  caller: Caller,
  id: SessionId,
  fence: number | undefined,
  ended: 'refuseEnded' | 'allowEnded' = 'refuseEnded',
): SessionRow | Fault {
  if (!row) return sessionNotFound(id, caller)
  const denied = agentAccessFault(caller, row)
  if (denied) return denied
  if (fence === undefined) {
    if (row.driver !== externalDriver)
      return new Fault('bad_input', 'fence: missing; pass the fence that attachSession returned', { id })
  } else if (fence !== row.fence || (row.lease === null && row.driver !== externalDriver))
    return new Fault(
      'fenced',
      `Session ${id} has been attached again (fence ${row.fence}); fence ${fence} is stale. Stop driving the session`,
      { id, fence: row.fence },
    )
  if (row.state === 'ended' && ended === 'refuseEnded')
    return new Fault('session_ended', `Session ${id} has ended (${row.ending?.reason ?? 'done'})`, { id })
  return row
}
