/** The end of a turn in our words: how it ended, what it used, what it cost. */
import type { SDKResultMessage } from '@anthropic-ai/claude-agent-sdk'
import { type AgentEvent, limits } from '@holdpoint/protocol'
import { errorEvent } from './error-events.ts'
import type { TranscriptStore } from './transcript/transcript-store.ts'

export interface TurnSummary {
  readonly sayings: readonly AgentEvent[]
  /** Why it failed; null where it did not. */
  readonly reason: string | null
}

/** Where it had no result of its own, it was only an agent in the background that asked. */
export function summarizeTurn(
  result: SDKResultMessage | null,
  rows: TranscriptStore,
  stopped: 'cancelled' | 'interrupted' | null,
): TurnSummary {
  if (result === null) return { sayings: [{ type: 'turn.finished', ending: stopped ?? 'done' }], reason: null }
  const failed = stopped === null && (result.is_error || result.subtype !== 'success')
  const { input_tokens: inputTokens, output_tokens: outputTokens } = result.usage
  const cost = costOf(result, rows)
  const finished: AgentEvent = {
    type: 'turn.finished',
    ending: stopped ?? (failed ? 'failed' : 'done'),
    usage: { inputTokens, outputTokens },
    cost,
  }
  if (!failed) return { sayings: [finished], reason: null }
  const said = result.subtype === 'success' ? result.result : result.errors.join('; ')
  const reason = (said || `Claude Code ended the turn: ${result.subtype}`).slice(0, limits.reasonMax)
  // What the model's service refused has been told when it was.
  return { sayings: result.subtype === 'success' ? [finished] : [errorEvent(result.subtype, reason), finished], reason }
}

/** The CLI counts on from the beginning of the conversation; what was told before is not told twice. */
function costOf({ total_cost_usd: total }: SDKResultMessage, rows: TranscriptStore): number {
  const told = rows.meta.costTold ?? 0
  rows.note({ costTold: total })
  return Math.max(0, total - told)
}
