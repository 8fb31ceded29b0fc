/** Creates pending requests for tests without a gateway. */
import type { Ask, Request, RequestId, SessionId } from '@holdpoint/protocol'

export function pendingRequest(ask: Ask, id = 'req_x'): Request {
  return {
    id: id as RequestId, // an invalid id, but no gateway reads it
    session: 'ses_00000000000000000000' as SessionId, // a valid id
    key: id,
    agentPath: [],
    ask,
    digest: id,
    openedAt: 0,
    deadlineAt: null,
    onDeadline: 'wait',
    overdue: false,
    status: 'pending',
    needs: 1,
    endorsements: [],
    resolution: null,
    delivery: { state: 'waiting', at: 0 },
  }
}
