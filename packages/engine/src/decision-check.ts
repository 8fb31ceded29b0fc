/** Checks that the decision in a row is the decision in the log, so that a row that was changed in the database is not handed to an agent. */
import { digestText, Fault, type Resolution, withEffective } from '@holdpoint/protocol'
import { type Context, sha256 } from './context.ts'
import { scanEvents } from './paging.ts'
import { resolvedEvent } from './request-transitions.ts'
import { auditTypes, type RequestRow } from './rows.ts'
import { maskResolution } from './wire-views.ts'

/** Resolves with the Fault that says that a resolved request does not match the log, or with null if it does. */
export async function decisionFault(ctx: Context, row: RequestRow): Promise<Fault | null> {
  const isIntact = sha256(digestText(row.session, row.ask)) === row.digest && (await isLogged(ctx, row))
  if (isIntact) return null
  return new Fault(
    'store_damaged',
    `The stored answer to request ${row.id} does not match the log, so it was not handed to the agent. Someone may have changed the database. Check it with: holdpoint audit verify`,
    { id: row.id },
  )
}

async function isLogged(ctx: Context, row: RequestRow): Promise<boolean> {
  if (row.resolvedSeq === undefined) return isLoggedInSession(ctx, row)
  // The event can be rebuilt from the row exactly, so it is enough to compare the hash of the event, which the hash chain covers.
  const event = resolvedEvent(row)
  const logged = await ctx.store.bodyHashAt(row.resolvedSeq)
  if (logged === sha256(JSON.stringify(event))) return true
  // Holdpoint 0.1 wrote the same event without `effective`.
  const { effective: _, ...resolution } = event.resolution
  return logged === sha256(JSON.stringify({ ...event, resolution }))
}

/** Returns whether the log has the decision of a row of schema 3. Such a row does not contain the position of its event, so this function searches for the event. */
async function isLoggedInSession(ctx: Context, row: RequestRow): Promise<boolean> {
  const range = { session: row.session, types: auditTypes, newestFirst: true }
  for await (const { body } of scanEvents(ctx, range))
    if (body.type === 'request.resolved' && body.request === row.id)
      return body.digest === row.digest && isSameDecision(row, body.resolution)
  return false
}
/** Masks secrets in both before it compares them, because rows of schema 3 contain secrets and events do not. Also adds `effective` to both, because rows do not contain it. */
function isSameDecision({ ask, resolution }: RequestRow, logged: Resolution): boolean {
  const masked = (decision: Resolution) => JSON.stringify(withEffective(ask, maskResolution(ask, decision)))
  return resolution !== null && masked(resolution) === masked(logged)
}
