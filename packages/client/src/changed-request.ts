/** Applies what an event says about a request to a client's copy of the request. */
import { type Request, withEffective } from '@holdpoint/protocol'

/** Returns the request after a change. Resolutions in events that Holdpoint 0.1 stored lack `effective`, so it is computed here. */
export function changedRequest(request: Request, change: Partial<Request>): Request {
  const next = { ...request, ...change }
  return change.resolution ? { ...next, resolution: withEffective(request.ask, change.resolution) } : next
}
