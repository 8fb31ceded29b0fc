/** How an answer is sent, and what is said of it; the loser of a race is told who won and with what. */
import { resolutionLabel } from '@holdpoint/client'
import { type Answer, type Call, Fault, Request, type RequestId } from '@holdpoint/protocol'
import { out } from '../output/output.ts'
import { resolutionStyle } from '../output/request.ts'
import { row, trusted } from '../output/span.ts'

export interface SubmitAnswerOptions {
  readonly request: Request
  readonly answer: Answer
  /** Of what was read; where the person named none, of what was found. */
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
  if (!resolution) return out.print(row(trusted(`${id} is endorsed; it waits for others.`)))
  const { person } = await call('whoAmI', {})
  out.print(row(trusted(`${id} `), trusted(resolutionLabel(resolution, person), resolutionStyle(resolution))))
}

/** Whoever read something else must read this, not be handed its name. With --json the winner's resolution is printed too: whoever lost may want to act on it. */
function explainRefusal(error: unknown, id: RequestId, json: boolean | undefined): unknown {
  if (!(error instanceof Fault)) return error
  if (error.code === 'digest_mismatch')
    return new Fault(error.code, `${id} is not what you read; read it again: holdpoint show ${id}`)
  if (error.code !== 'already_resolved') return error
  const { request } = Object(error.detail)
  const winner = Request.safeParse(request)
  if (!winner.success) return error
  return alreadyResolved(winner.data, json)
}

export function alreadyResolved(winner: Request, json: boolean | undefined): Fault {
  if (json) out.json(winner)
  const { id, resolution } = winner
  const said = resolution ? resolutionLabel(resolution) : 'resolved'
  return new Fault('already_resolved', `${id} was resolved before: ${said}`, { request: winner })
}
