/** Submits an answer and prints the outcome. If someone else answered first, throws an error that says who answered and how. */
import { resolutionText } from '@holdpoint/client'
import { type Answer, type Call, Fault, Request, type RequestId } from '@holdpoint/protocol'
import { out } from '../output/output.ts'
import { resolutionStyle } from '../output/request.ts'
import { row, trusted } from '../output/span.ts'
import { answerTexts, results } from './texts.ts'

export interface SubmitAnswerOptions {
  readonly request: Request
  readonly answer: Answer
  /** The digest that the person passed. The default is the digest of `request`. */
  readonly digest?: string | undefined
  readonly json?: boolean | undefined
}

export async function submitAnswer(call: Call, { request, answer, digest, json }: SubmitAnswerOptions): Promise<void> {
  const { id } = request
  const resolved = await call('answerRequest', { id, digest: digest ?? request.digest, answer }).catch(
    (error: unknown) => {
      throw explainRefusal(error, id, json)
    },
  )
  if (json) return out.json(resolved)
  const { resolution } = resolved
  if (!resolution) return out.print(row(trusted(results.awaitingOthers(id))))
  const { id: me } = await call('whoAmI', {})
  out.print(row(trusted(`${id} `), trusted(resolutionText(resolution, me), resolutionStyle(resolution))))
}

/** Rewords a refusal for people. After a digest mismatch, does not reveal the right digest, so that the person has to read the request again. */
function explainRefusal(error: unknown, id: RequestId, json: boolean | undefined): unknown {
  if (!(error instanceof Fault)) return error
  if (error.code === 'digest_mismatch') return new Fault(error.code, answerTexts.otherDigest(id))
  if (error.code !== 'already_resolved') return error
  const { request } = Object(error.detail)
  const winner = Request.safeParse(request)
  return winner.success ? alreadyResolved(winner.data, json) : error
}

/** Returns the error for a resolved request. With --json, also prints the request, so that a script can act on the other person's answer. */
export function alreadyResolved(request: Request, json: boolean | undefined): Fault {
  if (json) out.json(request)
  const { id, resolution } = request
  const label = resolution ? resolutionText(resolution) : 'resolved'
  return new Fault('already_resolved', answerTexts.alreadyResolved(id, label), { request })
}
