/** Remembers, in the row of a session, the requests to which people asked back, so that the agent's next request refers to the earlier one. */
import { type Answer, canonicalJson, type RequestId, type SessionId } from '@holdpoint/protocol'
import type { ChangeBuilder } from './change-builder.ts'
import type { RequestRow, SessionRow } from './rows.ts'

/** Older questions are forgotten, so that the row of a session stays small. */
const askedBackMax = 16

export function noteAskedBack(change: ChangeBuilder, { id, session, agentPath }: RequestRow, answer: Answer): void {
  const row = change.get('session', session)
  if (!row || (answer.kind !== 'deny' && answer.kind !== 'decline') || !answer.askBack) return
  change.put('session', { ...row, askedBack: [...(row.askedBack ?? []), { id, agentPath }].slice(-askedBackMax) })
}

/** Returns the request that a new request of this agent follows, or null. */
export function followedRequest({ askedBack = [] }: SessionRow, agentPath: readonly string[]): RequestId | null {
  const path = canonicalJson(agentPath)
  return askedBack.find(request => canonicalJson(request.agentPath) === path)?.id ?? null
}

/** Forgets that a person asked back to this request. Called when the agent's next request goes to a person. If a rule answers that request, the question stays open for the one after it. */
export function forgetAskedBack(change: ChangeBuilder, session: SessionId, id: RequestId): void {
  const row = change.get('session', session)
  if (!row?.askedBack) return
  const { askedBack, ...rest } = row
  const remaining = askedBack.filter(request => request.id !== id)
  change.put('session', remaining.length === 0 ? rest : { ...rest, askedBack: remaining })
}
