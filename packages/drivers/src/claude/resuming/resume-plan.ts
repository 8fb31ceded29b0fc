/** Decides how to continue a turn whose process was lost, based on the transcript, the log and the parking method. */
import type { InterruptedTurn, ResumePlan } from '../../session/agent-connection.ts'
import { loopMessages } from '../../session/loop-messages.ts'
import { turnFailed } from '../messages.ts'
import type { ParkingProbe } from '../parking/parking-method.ts'
import type { TranscriptStore } from '../transcript/transcript-store.ts'

/** How often a session is resumed at the same transcript row before the turn fails. */
const attemptsMax = 5

/** Decides how to resume the turn, and counts the attempt. */
export async function planResume(
  turn: InterruptedTurn,
  transcript: TranscriptStore,
  messageUuid: string | null,
  parkingProbe: ParkingProbe,
): Promise<ResumePlan> {
  const plan = await choosePlan(turn, transcript, messageUuid, parkingProbe)
  if (plan.kind === 'interrupted' || plan.kind === 'failed' || countAttempt(transcript)) return plan
  return { kind: 'failed', reason: turnFailed.resumedTooOften }
}

async function choosePlan(
  { requests, interrupted }: InterruptedTurn,
  transcript: TranscriptStore,
  messageUuid: string | null,
  parkingProbe: ParkingProbe,
): Promise<ResumePlan> {
  const { index } = transcript
  if (interrupted) return { kind: 'interrupted' }
  if (messageUuid !== null && !index.hasMessage(messageUuid)) return { kind: 'message' }
  if (requests.size === 0) return { kind: 'failed', reason: loopMessages.turnFailed.runnerLost }
  const [call, ...others] = index.openCalls
  if (call === undefined || others.length > 0 || !requests.has(call.id)) return { kind: 'summary' }
  // A background subagent also had a request. The subagent was lost with the process, so the agent must be told what was decided.
  if ([...requests.values()].some(({ key, outcomeUnknown }) => key !== call.id && !outcomeUnknown))
    return { kind: 'summary' }
  // Do not resume the call: the agent would read the recorded result, not the result of the resumed call.
  if (transcript.hasCliResult(call.id)) return { kind: 'summary' }
  const isResumable = index.deferredCallId === call.id || (await parkingProbe.findMethod()) === 'markerRow'
  return isResumable ? { kind: 'continue', call: call.id } : { kind: 'summary' }
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
