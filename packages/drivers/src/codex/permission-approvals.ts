/** Approvals of further permissions, such as access to the network or to another folder. */
import { type ApprovalAsk, type JsonObject, limits } from '@holdpoint/protocol'
import type { Decision } from '../session/decisions.ts'
import { codexCalls, codexSuggestions } from './messages.ts'
import type { NativeCall } from './native-call.ts'
import type { PermissionApproval } from './wire.ts'

const sessionSuggestion = { id: 'session', label: codexSuggestions.permissions, scope: 'session' }

export function permissionsCall({
  threadId,
  turnId,
  itemId,
  cwd,
  reason,
  permissions,
}: PermissionApproval): NativeCall {
  const requested: JsonObject = Object.fromEntries(Object.entries(permissions).filter(([, value]) => value !== null))
  const ask: ApprovalAsk = {
    kind: 'approval',
    tool: 'request_permissions',
    input: requested,
    action: { other: 'request_permissions' },
    title: codexCalls.permissions,
    ...(reason ? { description: reason.slice(0, limits.reasonMax).toWellFormed() } : {}),
    cwd,
    editable: false,
    suggestions: [sessionSuggestion],
  }
  const reply = ({ answer, stopsTurn }: Decision) => {
    if (stopsTurn) return null
    if (answer?.kind !== 'allow') return { permissions: {}, scope: 'turn' }
    return { permissions: requested, scope: answer.suggestion === sessionSuggestion.id ? 'session' : 'turn' }
  }
  return { threadId, turnId, itemId, ask, reply }
}
