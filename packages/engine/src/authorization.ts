/** Who may write for the agent: the holder of the newest fence, or an agent's own credential for the session it lives in. */
import { externalInfo, Fault, type SessionId } from '@holdpoint/protocol'
import type { Caller } from './gateway.ts'
import type { SessionRow } from './rows.ts'

export const externalDriver = externalInfo.name

/** In the same words whether it is not there or not for this agent. */
export function sessionNotFound(id: string, caller?: Caller): Fault {
  const hint =
    caller?.role === 'agent'
      ? ' for this credential; one that a person opens is for the agent that options.agent names at its start'
      : ''
  return new Fault('not_found', `There is no session ${id}${hint}`, { id })
}
export function requestNotFound(id: string): Fault {
  return new Fault('not_found', `There is no request ${id}`, { id })
}

/** An agent sees the sessions that it opened, and those that a person opened for it by name; no other exists for it. */
export function maySee(caller: Caller, row: Pick<SessionRow, 'driver' | 'agent'>): boolean {
  return caller.role !== 'agent' || (row.driver === externalDriver && row.agent === caller.token)
}

/** Why the caller does not speak for the session's agent; null where it does. */
export function agentAccessFault(caller: Caller, row: SessionRow): Fault | null {
  if (!maySee(caller, row)) return sessionNotFound(row.id, caller)
  const external = row.driver === externalDriver
  if (caller.role === 'agent' || (caller.role === 'runner' && !external)) return null
  if (!external)
    return new Fault('forbidden', `Session ${row.id} is driven by a runner; a person cannot speak for its agent`, {
      id: row.id,
    })
  if (caller.role === 'person' && row.person === caller.name) return null
  const whose = row.person === null ? 'the agent that opened it' : `${row.person} and the agent named at its start`
  return new Fault(
    'forbidden',
    `Session ${row.id} is for ${whose}; open one of your own (options.agent names an agent)`,
    {
      id: row.id,
    },
  )
}

/** The session, if the caller may write on its agent's behalf now. */
export function requireAgentAccess(
  row: SessionRow | undefined,
  caller: Caller,
  id: SessionId,
  fence: number | undefined,
  even?: 'ended',
): SessionRow | Fault {
  if (!row) return sessionNotFound(id, caller)
  const foreign = agentAccessFault(caller, row)
  if (foreign) return foreign
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
