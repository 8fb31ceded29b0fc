/** The action of a tool call, for the log. With it, watchers see the results of calls that the agent runs without asking. */
import { Action, type JsonObject, limits } from '@holdpoint/protocol'

/** Leaves out an action that the gateway would refuse, because the call must be in the log anyway. */
export function loggedAction(action: Action, input: JsonObject): { readonly action?: Action } {
  const size = JSON.stringify(action).length + JSON.stringify(input).length
  return size <= limits.textMax && Action.safeParse(action).success ? { action } : {}
}
