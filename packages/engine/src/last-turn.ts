/** Derives how the last turn of a session ended. People see this beside the state of the session. */
import { type AgentEvent, type Session, truncateTitle } from '@holdpoint/protocol'

type LastTurn = NonNullable<Session['lastTurn']>

/** Returns the message of the last error before the item at `index`, or null. The items are those of one call. */
export function errorBefore(items: readonly Pick<AgentEvent, 'type'>[], index: number): string | null {
  const error = (items as readonly AgentEvent[]).slice(0, index).findLast(item => item.type === 'error.raised') // items have the fields of their events
  return error ? truncateTitle(error.message) : null
}

export function lastTurnAfter(at: number, ending: LastTurn['ending'], error: string | null): LastTurn {
  const problem = ending === 'failed' ? error : null
  return { ending, ...(problem === null ? {} : { problem }), at }
}
