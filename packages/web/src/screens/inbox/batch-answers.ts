/** Several requests answered by one press: in portions that the gateway takes, with a result for each. */
import { type Answer, type Call, escapeInvisible, limits, type Request, type RequestId } from '@holdpoint/protocol'
import type { CardActions } from '../../shortcuts/card-actions.ts'

export interface BatchAnswer {
  readonly request: Request
  readonly answer: Answer
}
export interface Refusal {
  readonly id: RequestId
  readonly why: string
}
export interface BatchOutcome {
  readonly answered: number
  readonly refused: readonly Refusal[]
}

/** One that fails fails no other. Where the gateway goes away in between, what was not sent is refused with that. */
export async function answerAll(
  call: Call,
  replies: readonly BatchAnswer[],
  saidOf: (error: unknown) => string,
): Promise<BatchOutcome> {
  const refused: Refusal[] = []
  for (let from = 0; from < replies.length; from += limits.batchAnswersMax) {
    const portion = replies.slice(from, from + limits.batchAnswersMax)
    try {
      const { items } = await call('answerRequests', {
        items: portion.map(({ request: { id, digest }, answer }) => ({ id, digest, answer })),
      })
      for (const { id, error } of items) if (error) refused.push({ id, why: escapeInvisible(error.message) })
    } catch (error) {
      for (const { request } of portion) refused.push({ id: request.id, why: saidOf(error) })
    }
  }
  return { answered: replies.length - refused.length, refused }
}

export interface BatchAllow {
  readonly replies: readonly BatchAnswer[]
  /** Why the others wait on; empty where none does. */
  readonly left: string
}

/** Each is allowed as its own card would allow it now, with the note that was written there. */
export function allowEach(
  requests: readonly Request[],
  actionsOf: (id: RequestId) => CardActions | undefined,
): BatchAllow {
  const replies: BatchAnswer[] = []
  let [unseen, begun] = [0, 0]
  for (const request of requests) {
    const { allow, allowAnswer } = actionsOf(request.id) ?? {}
    if (allowAnswer === null) begun++
    else if (allow && allowAnswer) replies.push({ request, answer: allowAnswer })
    else unseen++
  }
  const left = [
    ...(unseen === 1 ? ['1 waits on: it was not shown whole yet.'] : []),
    ...(unseen > 1 ? [`${unseen} wait on: they were not shown whole yet.`] : []),
    ...(begun === 1 ? ['1 waits on: another answer to it is begun.'] : []),
    ...(begun > 1 ? [`${begun} wait on: other answers to them are begun.`] : []),
  ]
  return { replies, left: left.join(' ') }
}
