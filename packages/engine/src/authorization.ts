/** Who may see a session, and who may write on behalf of its agent: the runner with the current fence or, for external agents, the agent's own credential. */
import { externalInfo, Fault, type SessionId } from '@holdpoint/protocol'
import type { Caller } from './gateway.ts'
import type { SessionRow } from './rows.ts'

export const externalDriver = externalInfo.name

/** The same message whether the session does not exist or belongs to another agent, so that agents cannot probe for ids. */
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

/** An agent's credential sees only the sessions it opened and those a person opened for it. */
export function maySee(caller: Caller, row: Pick<SessionRow, 'driver' | 'agent'>): boolean {
  return caller.role !== 'agent' || (row.driver === externalDriver && row.agent === caller.token)
}

/** Why the caller may not write on behalf of the session's agent; null if it may. */
export function agentAccessFault(caller: Caller, row: SessionRow): Fault | null {
  if (!maySee(caller, row)) return sessionNotFound(row.id, caller)
  const external = row.driver === externalDriver
  if (caller.role === 'agent' || (caller.role === 'runner' && !external)) return null
  if (!external)
    return new Fault('forbidden', `Session ${row.id} is driven by a runner; a person cannot write for its agent`, {
      id: row.id,
    })
  if (caller.role === 'person' && row.person === caller.name) return null
  const owner = row.person === null ? 'the agent that opened it' : `${row.person} and the agent named at its start`
  return new Fault(
    'forbidden',
    `Session ${row.id} belongs to ${owner}; open a session of your own (options.agent names its agent)`,
    {
      id: row.id,
    },
  )
}

/** The session if the caller may write on behalf of its agent now, else the Fault to return. */
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
      return new Fault('bad_input', 'fence: is required; attachSession returns it', { id })
  } else if (fence !== row.fence || (row.lease === null && row.driver !== externalDriver))
    return new Fault(
      'fenced',
      `Session ${id} has been attached again (fence ${row.fence}); fence ${fence} is stale. Stop driving it`,
      { id, fence: row.fence },
    )
  if (row.state === 'ended' && ended === 'refuseEnded')
    return new Fault('session_ended', `Session ${id} has ended (${row.ending?.reason ?? 'done'})`, { id })
  return row
}
