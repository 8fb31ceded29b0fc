/** Several requests answered by one press: in portions that the gateway takes, with a result for each. */
import { type Answer, type Call, limits, type Request, type RequestId, reveal } from '@holdpoint/protocol'

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
  requests: readonly Request[],
  answer: Answer,
  saidOf: (error: unknown) => string,
): Promise<BatchOutcome> {
  const refused: Refusal[] = []
  for (let from = 0; from < requests.length; from += limits.batchAnswersMax) {
    const portion = requests.slice(from, from + limits.batchAnswersMax)
    try {
      const { items } = await call('answerRequests', {
        items: portion.map(({ id, digest }) => ({ id, digest, answer })),
      })
      for (const { id, error } of items) if (error) refused.push({ id, why: reveal(error.message) })
    } catch (error) {
      for (const { id } of portion) refused.push({ id, why: saidOf(error) })
    }
  }
  return { answered: requests.length - refused.length, refused }
}
