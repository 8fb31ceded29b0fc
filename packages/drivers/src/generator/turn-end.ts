/** The ways in which a turn ends early. Each is an error, so that it stops the turn wherever it is. Any other error is a bug of the driver. */
import { limits } from '@holdpoint/protocol'
import { TurnCancelled } from './asks.ts'

/** A person interrupted the turn. */
export class Interrupted extends Error {
  override readonly name = 'Interrupted'
}
/** The agent threw an error or did something invalid. */
export class TurnFailed extends Error {
  override readonly name = 'TurnFailed'
}
/** An ask has waited longer than `parkAfterMs`. */
export class ParkTurn extends Error {
  override readonly name = 'ParkTurn'
}

/** The turn has ended. */
export interface FinishedTurn {
  readonly ending: 'done' | 'interrupted' | 'cancelled' | 'failed'
  readonly reason?: string
}
/** How a run ended: the turn is over, or it is parked and will run again when there is an answer. */
export type TurnEnd = FinishedTurn | { readonly ending: 'parked' }

export function turnEndFrom(error: unknown): TurnEnd | null {
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
