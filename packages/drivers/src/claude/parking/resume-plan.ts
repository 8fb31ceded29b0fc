/** How a turn goes on whose process is gone: decided from the rows and the log alone, in one place. */

import type { ToolCall, TranscriptIndex } from '../transcript/transcript-index.ts'
import type { TranscriptStore } from '../transcript/transcript-store.ts'
import type { InterruptedTurn } from './carried-requests.ts'
import type { ParkingProbe } from './parking-method.ts'

export type ResumePlan =
  /** The waiting call is asked for again, under its own id. */
  | { readonly kind: 'call'; readonly call: ToolCall }
  /** The CLI never had the message: it is given, and an identical call finds its answer. */
  | { readonly kind: 'message' }
  /** The calls cannot be had again: the agent is told what was decided, and may make them anew. */
  | { readonly kind: 'tell' }
  | { readonly kind: 'interrupted' }
  | { readonly kind: 'failed'; readonly reason: string }

/** How often one and the same place of a conversation is come back to without getting past it. */
const triesMax = 5

export async function planResume(
  { open, interrupted }: InterruptedTurn,
  index: TranscriptIndex,
  message: string | null,
  parking: ParkingProbe,
): Promise<ResumePlan> {
  if (interrupted) return { kind: 'interrupted' }
  if (message !== null && !index.hasMessage(message)) return { kind: 'message' }
  if (open.size === 0)
    return { kind: 'failed', reason: 'The runner was lost in the middle of the turn; send a message to go on' }
  const [call, ...others] = index.open
  if (call === undefined || others.length > 0 || !open.has(call.id)) return { kind: 'tell' }
  // An agent in the background had asked as well: it is gone, and what was decided on it has to be told.
  if ([...open.values()].some(({ key, doubtful }) => key !== call.id && !doubtful)) return { kind: 'tell' }
  const back = index.deferred === call.id || (await parking.find()) === 'row'
  return back ? { kind: 'call', call } : { kind: 'tell' }
}

/** The process was let go on purpose: that is no failure of the place that it had come to. */
export function resetAttempts(rows: TranscriptStore): void {
  if (rows.meta.comebacks) rows.note({ comebacks: { at: null, times: 0 } })
}

/** Counts the attempt. False where it has been tried often enough: something ends the process each time. */
export function countAttempt(rows: TranscriptStore): boolean {
  const at = rows.index.lastUuid
  const { comebacks } = rows.meta
  const times = comebacks && comebacks.at === at ? comebacks.times + 1 : 1
  rows.note({ comebacks: { at, times } })
  return times <= triesMax
}
