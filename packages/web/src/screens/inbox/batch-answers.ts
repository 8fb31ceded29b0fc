/** Answers several requests at once, in batches of the size that the gateway accepts, and reports which answers failed. */
import { type AnswerDraft, labelText } from '@holdpoint/client'
import { type Answer, type Call, limits, type Request, type RequestId } from '@holdpoint/protocol'
import { allowAnswer } from '../../request/approval/allow-button.tsx'
import { skippedStarted } from './texts.ts'

export interface BatchAnswer {
  readonly request: Request
  readonly answer: Answer
}
export interface FailedAnswer {
  readonly id: RequestId
  readonly reason: string
}
export interface BatchOutcome {
  readonly answered: number
  readonly failed: readonly FailedAnswer[]
}

/** Sends all answers. A failed answer does not affect the others. If a whole batch can’t be sent, each of its answers fails with the same reason. */
export async function answerAll(
  call: Call,
  answers: readonly BatchAnswer[],
  messageOf: (error: unknown) => string,
): Promise<BatchOutcome> {
  const failed: FailedAnswer[] = []
  for (let from = 0; from < answers.length; from += limits.batchAnswersMax) {
    const batch = answers.slice(from, from + limits.batchAnswersMax)
    try {
      const { items } = await call('answerRequests', {
        items: batch.map(({ request: { id, digest }, answer }) => ({ id, digest, answer })),
      })
      for (const { id, error } of items) if (error) failed.push({ id, reason: labelText(error.message) })
    } catch (error) {
      for (const { request } of batch) failed.push({ id: request.id, reason: messageOf(error) })
    }
  }
  return { answered: answers.length - failed.length, failed }
}

export interface BatchAllow {
  readonly answers: readonly BatchAnswer[]
  /** The requests that are skipped, because the person has started another answer. */
  readonly started: ReadonlySet<RequestId>
  /** A sentence that says why requests were skipped; empty if no request was skipped. */
  readonly skipped: string
}

/** Returns the answers that the Allow buttons of the cards would send, including notes. Skips requests that the person has edited, commented on, asked about or begun to deny. */
export function allowEach(requests: readonly Request[], draftOf: (id: RequestId) => AnswerDraft): BatchAllow {
  const answers: BatchAnswer[] = []
  const started = new Set<RequestId>()
  for (const request of requests) {
    const draft = draftOf(request.id)
    const { edit, reason, question, comments } = draft
    if (request.ask.kind !== 'approval' || (edit ?? reason ?? question ?? comments) !== undefined)
      started.add(request.id)
    else answers.push({ request, answer: allowAnswer(request.ask, draft) })
  }
  return { answers, started, skipped: started.size > 0 ? skippedStarted(started.size) : '' }
}
