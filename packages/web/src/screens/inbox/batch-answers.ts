/** Answers several requests at once, in batches of the size that the gateway accepts, and reports which answers failed. */
import { labelText } from '@holdpoint/client'
import { type Answer, type Call, limits, type Request, type RequestId } from '@holdpoint/protocol'
import type { CardActions } from '../../shortcuts/card-actions.ts'
import { skippedStarted, skippedUnread } from './texts.ts'

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
  /** A sentence that says why requests were skipped; empty if no request was skipped. */
  readonly skipped: string
}

/** Returns the answers that the Allow buttons of the cards would send now, including notes. Skips requests whose cards do not let the person allow them yet. */
export function allowEach(
  requests: readonly Request[],
  actionsOf: (id: RequestId) => CardActions | undefined,
): BatchAllow {
  const answers: BatchAnswer[] = []
  let [unread, started] = [0, 0]
  for (const request of requests) {
    const { allow, allowAnswer } = actionsOf(request.id) ?? {}
    if (allowAnswer === null) started++
    else if (allow && allowAnswer) answers.push({ request, answer: allowAnswer })
    else unread++
  }
  const skipped = [...(unread > 0 ? [skippedUnread(unread)] : []), ...(started > 0 ? [skippedStarted(started)] : [])]
  return { answers, skipped: skipped.join(' ') }
}
