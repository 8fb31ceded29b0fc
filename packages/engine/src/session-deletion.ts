/** Deletes an ended session with its history. The log keeps who deleted it, which part of the log was removed, and who had decided what. */
import { type EventBody, Fault, type KeptDecision, type SessionId } from '@holdpoint/protocol'
import { sessionNotFound } from './authorization.ts'
import type { Context, MutationCall } from './context.ts'
import type { OperationResult } from './gateway.ts'
import { chunksOf, scanEvents } from './paging.ts'
import { auditTypes } from './rows.ts'
import { nextSessionState, sessionReads } from './session-transitions.ts'

type SessionDeleted = Extract<EventBody, { type: 'session.deleted' }>
export type DeletedBy = Pick<SessionDeleted, 'by' | 'person' | 'personId' | 'via'>

/** The number of decisions in one event. */
const decisionsMax = 500

/** Thrown inside `decide` if the session was reopened after its decisions were read. */
class StaleDecisions extends Error {}

export async function deleteWithHistory(
  ctx: Context,
  id: SessionId,
  by: DeletedBy,
  call?: MutationCall,
): Promise<OperationResult<Record<string, never>>> {
  for (;;) {
    const endedAt = (await ctx.store.get('session', id))?.endedAt
    // An ended session gets no further decisions, unless it is reopened.
    const decisions = await decisionsOf(ctx, id)
    try {
      return await ctx.commit<Record<string, never>>(
        {
          label: 'deleteSession',
          reads: sessionReads(id),
          decide: change => {
            const row = change.get('session', id)
            if (!row) return sessionNotFound(id)
            const to = nextSessionState(row, 'delete')
            if (to instanceof Fault) return to
            if (row.endedAt !== endedAt) throw new StaleDecisions()
            change.purge(id)
            const removed = { first: row.ord, last: change.nextSeq - 1 }
            const chunks = decisions.length === 0 ? [[]] : chunksOf(decisions, decisionsMax)
            for (const chunk of chunks)
              change.event(id, { type: 'session.deleted', ...by, ...removed, decisions: [...chunk] })
            return { status: 200, body: {} }
          },
        },
        call,
      )
    } catch (error) {
      if (!(error instanceof StaleDecisions)) throw error
    }
  }
}

async function decisionsOf(ctx: Context, session: SessionId): Promise<readonly KeptDecision[]> {
  const decisions: KeptDecision[] = []
  for await (const { body } of scanEvents(ctx, { session, types: auditTypes })) {
    if (body.type !== 'request.resolved') continue
    const { answer, effective: _effective, reason: _reason, ...resolution } = body.resolution
    const { request, digest } = body
    decisions.push({ request, digest, ...resolution, ...(answer ? { answer: answer.kind } : {}) })
  }
  return decisions
}
