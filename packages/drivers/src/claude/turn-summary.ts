/** Converts the SDK's result message to the events that end a turn, with the ending, the usage and the cost. */
import type { SDKResultMessage } from '@anthropic-ai/claude-agent-sdk'
import { type AgentEvent, limits } from '@holdpoint/protocol'
import { errorEvent } from './error-events.ts'
import { turnFailed } from './messages.ts'
import type { TranscriptStore } from './transcript/transcript-store.ts'

export interface TurnSummary {
  readonly events: readonly AgentEvent[]
  /** Why the turn failed, or null if it did not fail. */
  readonly failure: string | null
}

/** Returns the events that end a turn. A turn without a result consisted only of a background subagent's request. */
export function summarizeTurn(
  result: SDKResultMessage | null,
  transcript: TranscriptStore,
  turnEnding: 'cancelled' | 'interrupted' | null,
): TurnSummary {
  if (result === null) return { events: [{ type: 'turn.finished', ending: turnEnding ?? 'done' }], failure: null }
  const failed = turnEnding === null && (result.is_error || result.subtype !== 'success')
  const { input_tokens: inputTokens, output_tokens: outputTokens } = result.usage
  const cost = unreportedCost(result, transcript)
  const finished: AgentEvent = {
    type: 'turn.finished',
    ending: turnEnding ?? (failed ? 'failed' : 'done'),
    usage: { inputTokens, outputTokens },
    cost,
  }
  if (!failed) return { events: [finished], failure: null }
  const message = result.subtype === 'success' ? result.result : result.errors.join('; ')
  const failure = (message || turnFailed.endedBy(result.subtype)).slice(0, limits.reasonMax)
  // After an error of the model's API, the subtype is `success`. The error was reported when it happened, so do not report it again.
  if (result.subtype === 'success') return { events: [finished], failure }
  return { events: [errorEvent(result.subtype, failure), finished], failure }
}

/** Returns the part of the cost that has not been reported yet. The CLI reports the total cost of the conversation. */
function unreportedCost({ total_cost_usd: total }: SDKResultMessage, transcript: TranscriptStore): number {
  const reported = transcript.meta.reportedCost ?? 0
  transcript.updateMeta({ reportedCost: total })
  return Math.max(0, total - reported)
}
