/** Converts the SDK's result message to the end of a turn, with the ending, the usage and the cost. */
import type { SDKResultMessage } from '@anthropic-ai/claude-agent-sdk'
import { limits } from '@holdpoint/protocol'
import type { AgentTurnEnd } from '../session/agent-connection.ts'
import { errorEvent } from './error-events.ts'
import { turnFailed } from './messages.ts'
import { usageOf } from './token-usage.ts'
import type { TranscriptStore } from './transcript/transcript-store.ts'

/** `sent` has the ids of the messages that were sent to the CLI, by uuid. */
export function turnEndOf(
  result: SDKResultMessage,
  transcript: TranscriptStore,
  sent: ReadonlyMap<string, string>,
): AgentTurnEnd {
  const messages = messagesOf(result, sent)
  const end = {
    type: 'turnEnded',
    usage: usageOf(result.usage),
    cost: unreportedCost(result, transcript),
    ...(messages === null ? {} : { messages }),
  } as const
  if (!result.is_error && result.subtype === 'success') return { ...end, ending: 'done' }
  const message = result.subtype === 'success' ? result.result : result.errors.join('; ')
  const reason = (message || turnFailed.endedBy(result.subtype)).slice(0, limits.reasonMax).toWellFormed()
  // After an error of the model's API, the subtype is `success`. The error was reported when it happened, so do not report it again.
  const events = result.subtype === 'success' ? [] : [errorEvent(result.subtype, reason)]
  return { ...end, ending: 'failed', reason, events }
}

/** Returns the messages that the CLI has carried out in the turn, or null if the result does not say. The result of a turn that the CLI started by itself has an origin other than `human`, and lists a message only if the CLI processed it during that turn. */
function messagesOf(
  { origin, user_message_uuids: uuids }: SDKResultMessage,
  sent: ReadonlyMap<string, string>,
): readonly string[] | null {
  if (uuids) return uuids.flatMap(uuid => sent.get(uuid) ?? [])
  return origin === undefined || origin.kind === 'human' ? null : []
}

/** Returns the part of the cost that has not been reported yet. The CLI reports the total cost of the conversation. */
function unreportedCost({ total_cost_usd: total }: SDKResultMessage, transcript: TranscriptStore): number {
  const reported = transcript.meta.reportedCost ?? 0
  transcript.updateMeta({ reportedCost: total })
  return Math.max(0, total - reported)
}
