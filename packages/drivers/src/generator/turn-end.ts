/** Errors that end a turn early. They are thrown, so that they stop the turn at any point. Any other error that leaves a turn is a bug in the driver. */
import { type AgentEvent, limits } from '@holdpoint/protocol'
import { TurnCancelled } from './asks.ts'

/** Thrown when a person interrupts the turn. */
export class Interrupted extends Error {
  override readonly name = 'Interrupted'
}
/** Thrown when the agent has thrown an error or done something invalid. */
export class TurnFailed extends Error {
  override readonly name = 'TurnFailed'
}
/** Thrown to park the turn when an ask has waited longer than `parkAfterMs`. It is also the abort reason of a parked turn's signal. */
export class ParkTurn extends Error {
  override readonly name = 'ParkTurn'
}

/** How a turn ended. The `turn.finished` event contains `ending`. */
export interface FinishedTurn {
  readonly ending: 'done' | 'interrupted' | 'cancelled' | 'failed'
  readonly reason?: string
}
/** A finished turn with the events that belong to its end. */
export interface FinishedRun extends FinishedTurn {
  readonly events: readonly AgentEvent[]
}
/** How a run of the generator ended: the turn is over, or the turn is parked and will be replayed when an answer arrives. */
export type TurnEnd<T = FinishedTurn> = T | { readonly ending: 'parked' }

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
  return new TurnFailed(`This agent is not deterministic: ${what}. Put side effects and random values into step()`)
}
