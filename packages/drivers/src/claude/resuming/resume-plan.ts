/** Decides how to continue a turn whose process was lost, based on the transcript, the log and the parking method. */
import type { InterruptedTurn } from '../../session/agent-connection.ts'
import { turnFailed } from '../messages.ts'
import type { ParkingProbe } from '../parking/parking-method.ts'
import type { ToolCall } from '../transcript/transcript-index.ts'
import type { TranscriptStore } from '../transcript/transcript-store.ts'

type ClaudeResumePlan =
  /** Resume the CLI at the open call. The CLI asks for the call again under the same id. */
  | { readonly kind: 'call'; readonly call: ToolCall }
  /** Send the message again, because the CLI never received it. A call that repeats a carried request then gets the recorded answer. */
  | { readonly kind: 'message' }
  /** Tell the agent what was decided, because its calls cannot be resumed. The agent can then make the calls again. */
  | { readonly kind: 'summary' }
  | { readonly kind: 'interrupted' }
  | { readonly kind: 'failed'; readonly reason: string }

/** How often a session is resumed at the same transcript row before the turn fails. */
const attemptsMax = 5

export async function planResume(
  { requests, interrupted }: InterruptedTurn,
  transcript: TranscriptStore,
  messageUuid: string | null,
  parkingProbe: ParkingProbe,
): Promise<ClaudeResumePlan> {
  const { index } = transcript
  if (interrupted) return { kind: 'interrupted' }
  if (messageUuid !== null && !index.hasMessage(messageUuid)) return { kind: 'message' }
  if (requests.size === 0) return { kind: 'failed', reason: turnFailed.runnerLost }
  const [call, ...others] = index.openCalls
  if (call === undefined || others.length > 0 || !requests.has(call.id)) return { kind: 'summary' }
  // A background subagent also had a request. The subagent was lost with the process, so the agent must be told what was decided.
  if ([...requests.values()].some(({ key, outcomeUnknown }) => key !== call.id && !outcomeUnknown))
    return { kind: 'summary' }
  // Do not resume the call: the agent would read the recorded result, not the result of the resumed call.
  if (transcript.hasCliResult(call.id)) return { kind: 'summary' }
  const isResumable = index.deferredCallId === call.id || (await parkingProbe.findMethod()) === 'markerRow'
  return isResumable ? { kind: 'call', call } : { kind: 'summary' }
}

/** Call this when the driver stopped the process on purpose, so that earlier attempts do not count as failures. */
export function resetAttempts(transcript: TranscriptStore): void {
  if (transcript.meta.resumeAttempts) transcript.updateMeta({ resumeAttempts: { rowUuid: null, count: 0 } })
}

/** Counts one attempt to resume at the last transcript row. Returns false after too many attempts at the same row, because the process evidently exits whenever it resumes there. */
export function countAttempt(transcript: TranscriptStore): boolean {
  const rowUuid = transcript.index.lastRowUuid
  const { resumeAttempts } = transcript.meta
  const count = resumeAttempts && resumeAttempts.rowUuid === rowUuid ? resumeAttempts.count + 1 : 1
  transcript.updateMeta({ resumeAttempts: { rowUuid, count } })
  return count <= attemptsMax
}
