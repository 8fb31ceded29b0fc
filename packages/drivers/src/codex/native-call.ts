/** The common form of all requests of Codex: the ask that people see, and the reply to Codex for each decision. */
import type { AgentCall } from '../session/agent-connection.ts'
import type { Decision } from '../session/decisions.ts'

export interface NativeCall extends Pick<AgentCall, 'ask' | 'deadlineMs' | 'onDeadline'> {
  readonly threadId: string
  /** Null if Codex does not know which turn caused the question. */
  readonly turnId: string | null
  /** The item that runs if the call is allowed. */
  readonly itemId: string | null
  /** Returns the result of the request, or null if Codex has no reply for this decision and its turn must be interrupted instead. */
  reply(decision: Decision): object | null
}
