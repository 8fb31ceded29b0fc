/** Decides what a caller may do. The access table decides by role; the other functions decide which sessions the caller may see and for which agents the caller may write. */
import {
  accessOf,
  actionProblem,
  type ExtraAction,
  externalInfo,
  Fault,
  type OperationName,
  type ParsedInput,
  type PersonId,
  type RunnerId,
  type SessionId,
  type ToolCall,
} from '@holdpoint/protocol'
import type { Caller } from './gateway.ts'
import type { RuleRow, SessionRow } from './rows.ts'
import type { Query } from './store.ts'

export const externalDriver = externalInfo.name

/** Returns the Fault that refuses the action, or null if the caller may do it. */
export function accessFault(caller: Caller | null, action: OperationName | ExtraAction): Fault | null {
  if (accessOf(caller?.role ?? 'nobody', action) !== 'no') return null
  if (!caller) return new Fault('unauthenticated', 'This call needs a credential: send Authorization: Bearer <token>')
  if (caller.role === 'agent' && action.startsWith('answer'))
    return new Fault('forbidden', 'An agent’s credential cannot answer requests; only a person can')
  const subject = caller.role === 'agent' ? 'an agent' : `a ${caller.role}`
  const what = Object.hasOwn(extraActionPhrases, action) ? extraActionPhrases[action as ExtraAction] : `call ${action}` // `hasOwn` has shown that the action is a key of the phrases
  const advice = ownerMay(action) ? '; only the owner of this gateway may' : ''
  return new Fault('forbidden', `The credential of ${subject} may not ${what}${advice}`)
}

const extraActionPhrases: Readonly<Record<ExtraAction, string>> = {
  subscribe: 'open the event stream',
  'startSession.mode': 'start a session in a chosen mode',
  'startSession.options': 'start a session with options',
  'patchSession.mode': 'change the mode of a session',
  'answer.mode': 'change the mode with an answer',
  'answer.settings': 'accept a suggestion that changes settings',
  'rule.allow': 'add or change a rule that allows something',
  'rule.others': 'change or remove a rule that somebody else has added',
  'makeLink.person': 'create a link for another person',
}
function ownerMay(action: OperationName | ExtraAction): boolean {
  return accessOf('owner', action) !== 'no' && accessOf('person', action) === 'no'
}

/** Returns the further actions that a call needs permission for because of its input. */
export function extraActions<K extends OperationName>(op: K, input: ParsedInput<K>): readonly ExtraAction[] {
  const check = extraChecks[op] as ((input: ParsedInput<K>) => readonly ExtraAction[]) | undefined // the entry of an operation takes its input
  return check?.(input) ?? []
}
const extraChecks: { readonly [K in OperationName]?: (input: ParsedInput<K>) => readonly ExtraAction[] } = {
  // No runner starts the agent of an external session, so its mode and options have no effect.
  startSession: ({ driver, mode, options }) =>
    driver === externalDriver
      ? []
      : [
          ...(mode === undefined ? [] : ['startSession.mode' as const]),
          ...(Object.keys(options ?? {}).length === 0 ? [] : ['startSession.options' as const]),
        ],
  patchSession: ({ mode }) => (mode === undefined ? [] : ['patchSession.mode']),
  addRule: ({ effect }) => (effect === 'allow' ? ['rule.allow'] : []),
  patchRule: ({ rule }) => (rule?.effect === 'allow' ? ['rule.allow'] : []),
  makeLink: ({ person }) => (person === undefined ? [] : ['makeLink.person']),
}

/** Returns the Fault that refuses to change or remove a stored rule, or null. People may change their own rules, and the owner may change all rules. */
export function ruleAccessFault(caller: Caller, { madeById }: Pick<RuleRow, 'madeById'>): Fault | null {
  return madeById === caller.id ? null : accessFault(caller, 'rule.others')
}

/** Throws a Fault if a call reports an action that its input does not show. Runners are exempt, because they report what the agent's own program does. For everybody else, the action is only a claim. */
export function requireShownAction({ role }: Caller, call: ToolCall): void {
  const problem = role === 'runner' ? null : actionProblem(call)
  if (problem !== null) throw new Fault('bad_input', problem)
}

export function isPerson({ role }: Pick<Caller, 'role'>): boolean {
  return role === 'owner' || role === 'person'
}
export function personIdOf(caller: Caller): PersonId {
  if (!isPerson(caller)) throw new Error(`the caller of a person's operation is ${caller.role}`)
  return caller.id as PersonId // the credential of a person belongs to a person
}

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

/** Returns the Fault that refuses to act for this runner, or null if the caller may. A runner's token is for one runner. */
export function runnerAccessFault(caller: Caller, id: RunnerId): Fault | null {
  if (caller.role !== 'runner' || caller.id === id) return null
  return new Fault('forbidden', `This token is for the runner ${caller.id}, not for ${id}`, { id: caller.id })
}

/** Returns the condition on the columns of a session that selects the sessions that `maySee` allows. */
export function visibleSessions(caller: Caller): NonNullable<Query['where']> {
  if (isPerson(caller)) return {}
  return caller.role === 'agent' ? { agent: caller.id } : { runner: caller.id }
}

/** Returns whether the caller may see a session. An agent sees only sessions that it opened itself or that a person opened for it, and a runner sees only sessions whose lease it holds. */
export function maySee(caller: Caller, row: Pick<SessionRow, 'agent' | 'lease'>): boolean {
  if (isPerson(caller)) return true
  return caller.role === 'agent' ? row.agent === caller.id : row.lease?.runner === caller.id
}

/** Returns whether the caller may read the row of a session. The runner that drove the session last may too: it must find out whether it still needs what it has stored for the session. */
export function mayRead(caller: Caller, row: Pick<SessionRow, 'agent' | 'lease' | 'runner'>): boolean {
  return maySee(caller, row) || (caller.role === 'runner' && row.runner === caller.id)
}

/** Returns the Fault that says why the caller may not write on behalf of the session's agent, or null if the caller may. */
export function agentAccessFault(caller: Caller, row: SessionRow): Fault | null {
  // The runner that drove the session last may pass. If it has lost the lease, the check of its fence refuses it.
  if (caller.role === 'runner' && row.runner === caller.id) return null
  if (!maySee(caller, row)) return sessionNotFound(row.id, caller)
  if (!isPerson(caller)) return null
  if (row.driver !== externalDriver)
    return new Fault('forbidden', `Session ${row.id} is driven by a runner; a person cannot write for its agent`, {
      id: row.id,
    })
  if (row.openedBy?.id === caller.id) return null
  const owner =
    row.openedBy === null ? 'the agent that opened it' : `${row.openedBy.name} and the agent named when it was opened`
  return new Fault(
    'forbidden',
    `Session ${row.id} belongs to ${owner}; open your own session (a person names its agent in options.agent)`,
    {
      id: row.id,
    },
  )
}

/** Replaces the Fault about a session that the caller may not see with a Fault about the id that the caller sent, so that the caller learns nothing about the session. */
export function hideSession<T>(session: T | Fault, notFound: () => Fault): T | Fault {
  return session instanceof Fault && session.code === 'not_found' ? notFound() : session
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
