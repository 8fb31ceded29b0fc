/** Submits an answer and prints the outcome. If someone else answered first, throws an error that says who answered and how. */
import { resolutionText } from '@holdpoint/client'
import { type Answer, type Call, Fault, Request, type RequestId } from '@holdpoint/protocol'
import { out } from '../output/output.ts'
import { resolutionStyle } from '../output/request.ts'
import { type Row, row, trusted } from '../output/span.ts'
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
      const winner = error instanceof Fault ? winnerOf(error) : null
      if (winner) throw alreadyResolved(winner, json)
      throw error instanceof Fault ? explainRefusal(error, id) : error
    },
  )
  if (json) return out.json(resolved)
  const { id: me } = await call('whoAmI', {})
  out.print(resultRow(resolved, me))
}

/** Says how a request was resolved, or that other people have to answer it too. */
export function resultRow({ id, resolution }: Request, me: string): Row {
  if (!resolution) return row(trusted(results.awaitingOthers(id)))
  return row(trusted(`${id} `), trusted(resolutionText(resolution, me), resolutionStyle(resolution)))
}

/** Rewords a refusal for people. After a digest mismatch, does not reveal the right digest, so that the person has to read the request again. */
export function explainRefusal(fault: Fault, id: RequestId): Fault {
  if (fault.code === 'digest_mismatch') return new Fault(fault.code, answerTexts.otherDigest(id))
  const winner = winnerOf(fault)
  return winner ? resolvedFault(winner) : fault
}

/** Returns the request if the fault says that someone else has answered it first. */
function winnerOf({ code, detail }: Fault): Request | null {
  const winner = code === 'already_resolved' ? Request.safeParse(Object(detail).request) : null
  return winner?.success ? winner.data : null
}

/** Returns the error for a resolved request. With --json, also prints the request, so that a script can act on the other person's answer. */
export function alreadyResolved(request: Request, json: boolean | undefined): Fault {
  if (json) out.json(request)
  return resolvedFault(request)
}

export function resolvedFault(request: Request): Fault {
  const { id, resolution } = request
  const label = resolution ? resolutionText(resolution) : 'resolved'
  return new Fault('already_resolved', answerTexts.alreadyResolved(id, label), { request })
}
