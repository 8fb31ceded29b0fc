/** The ways a turn ends: each is an error that stops it from wherever it is. Anything else that is thrown is not the turn's. */
import { limits } from '@holdpoint/protocol'
import { TurnCancelled } from './asks.ts'

/** The person wants the turn to stop. */
export class Interrupted extends Error {
  override readonly name = 'Interrupted'
}
/** The agent, or what it did, fails the turn. */
export class TurnFailed extends Error {
  override readonly name = 'TurnFailed'
}
/** An ask waits longer than the process is kept for it. */
export class ParkTurn extends Error {
  override readonly name = 'Cold'
}

/** The turn is over. */
export interface Finished {
  readonly ending: 'done' | 'interrupted' | 'cancelled' | 'failed'
  readonly reason?: string
}
/** Or it is let go, to be run again when there is an answer. */
export type TurnEnd = Finished | { readonly ending: 'parked' }

export function endOf(error: unknown): TurnEnd | null {
  if (error instanceof ParkTurn) return { ending: 'parked' }
  if (error instanceof Interrupted) return { ending: 'interrupted' }
  if (error instanceof TurnCancelled) return { ending: 'cancelled', reason: clip(error.message) }
  if (error instanceof TurnFailed) return { ending: 'failed', reason: clip(error.message) }
  return null
}
function clip(message: string): string {
  return message.slice(0, limits.reasonMax).toWellFormed()
}

export function notDeterministic(what: string): TurnFailed {
  return new TurnFailed(`this agent is not deterministic: ${what}; put side effects and random values into step()`)
}
