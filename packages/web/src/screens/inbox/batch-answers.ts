/** Answers several requests at once, in batches of the size that the gateway accepts, with a result for each. */
import { type Answer, type Call, escapeInvisible, limits, type Request, type RequestId } from '@holdpoint/protocol'
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

/** One failure does not affect the other answers. If the gateway becomes unreachable, the unsent answers fail with that message. */
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
      for (const { id, error } of items) if (error) failed.push({ id, reason: escapeInvisible(error.message) })
    } catch (error) {
      for (const { request } of batch) failed.push({ id: request.id, reason: messageOf(error) })
    }
  }
  return { answered: answers.length - failed.length, failed }
}

export interface BatchAllow {
  readonly answers: readonly BatchAnswer[]
  /** Why the others were skipped; empty if none was. */
  readonly skipped: string
}

/** Allows each request exactly as its own card would allow it now, including the note written there. */
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
