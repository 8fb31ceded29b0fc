/** The agent's own copy of a request: the ask, and the id and digest that the gateway must return for it. Every reply of the gateway is compared with this copy, so that only the agent's own input runs, or an edited one whose digest matches (G7, G11). */
import {
  type Ask,
  canonicalJson,
  digestText,
  editedCall,
  Fault,
  formatId,
  hasCredential,
  type JsonObject,
  maskCredentials,
  type Request,
  type RequestId,
  type Resolution,
  requestIdText,
  type SessionId,
} from '@holdpoint/protocol'
import { sha256, sha256Hex } from './node-modules.ts'

/** Thrown if the gateway returns a request that differs from the one that was opened. The agent must not run anything then. */
export class WrongRequest extends Fault {
  constructor(id: RequestId, problem: string) {
    super(
      'internal',
      `The gateway returned a wrong reply for request ${id}: ${problem}. Nothing was run. Check which program answers as the gateway`,
    )
  }
}

export interface ExpectedRequest {
  readonly id: RequestId
  readonly session: SessionId
  /** The agent's own copy of the ask. Nobody else has a reference to it. */
  readonly ask: Ask
  readonly digest: string
  readonly digestText: string
}

export function expectRequest(session: SessionId, key: string, ask: Ask): ExpectedRequest {
  // The gateway masks Holdpoint's own credentials before it looks at the call.
  const { value: masked } = maskCredentials({ key, ask })
  const text = digestText(session, masked.ask)
  const id = formatId('req', sha256(requestIdText(session, masked.key)))
  return { id, session, ask, digest: sha256Hex(text), digestText: text }
}

/** Returns the request if it is the expected one; otherwise throws `WrongRequest`. Titles and descriptions may differ, because a repeated ask gets the request of the first one. */
export function requireExpected(expected: ExpectedRequest, request: Request): Request {
  const { id, session, digest } = expected
  if (request.id !== id || request.session !== session)
    throw new WrongRequest(id, `it has the id ${request.id} of session ${request.session}`)
  if (request.digest !== digest) throw new WrongRequest(id, `its digest is ${request.digest} instead of ${digest}`)
  if (digestText(session, request.ask) !== expected.digestText)
    throw new WrongRequest(id, 'its ask differs from the ask that this agent sent')
  return request
}

/** Returns the input that an allow permits to run: the effective input, if it is the agent's own or if it was edited and its digest matches. Returns null if the answer is not an allow. */
export function permittedInput({ id, session, ask }: ExpectedRequest, resolution: Resolution): JsonObject | null {
  const { answer, editedDigest, effective } = resolution
  if (answer?.kind !== 'allow') return null
  if (ask.kind !== 'approval') throw new WrongRequest(id, `it allows a request of kind ${ask.kind}`)
  if (hasCredential(ask.input))
    throw new WrongRequest(id, 'it allows a call that contains one of Holdpoint’s credentials')
  if (!effective?.input) throw new WrongRequest(id, 'the allowed input is missing')
  const isEdited = editedDigest !== undefined || canonicalJson(effective.input) !== canonicalJson(ask.input)
  if (!isEdited) return ask.input
  if (!ask.editable) throw new WrongRequest(id, 'its input was edited, but this request cannot be edited')
  if (editedDigest !== sha256Hex(digestText(session, editedCall(ask, effective.input))))
    throw new WrongRequest(id, 'the digest of the edited input does not match the input')
  return effective.input
}
