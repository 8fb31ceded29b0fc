/** The asks of processes that act with a person's credential, such as hooks. From such a process, the gateway accepts only an action that the input shows, so any other action is left out. */
import type { PermissionUpdate } from '@anthropic-ai/claude-agent-sdk'
import { type Ask, actionProblem, type JsonObject, type ToolCall } from '@holdpoint/protocol'
import { actionFor } from './action.ts'
import { askFor, type PermissionContext } from './permission.ts'

/** Returns the action of a call, or nothing if the input does not show it. Without an action, the gateway derives one. */
export function shownAction({ tool, input, cwd }: Omit<ToolCall, 'action'>): Pick<ToolCall, 'action'> {
  const action = actionFor(tool, input, cwd)
  return actionProblem({ tool, input, cwd, action }) === null ? { action } : {}
}

export interface ShownCall {
  readonly tool: string
  readonly input: JsonObject
  readonly cwd: string
  readonly description?: string | undefined
  readonly suggestions?: readonly PermissionUpdate[]
}

/** Returns the ask for a call that Claude Code wants a permission for. */
export function shownAsk({ tool, input, cwd, description, suggestions = [] }: ShownCall): Ask {
  const context = { suggestions, description } as unknown as PermissionContext // `askFor` uses only fields that are also known outside of the SDK
  const ask = askFor({ tool, input, context, cwd }, false)
  if (ask.kind !== 'approval') return ask
  const { action: _, ...rest } = ask
  return { ...rest, ...shownAction({ tool, input, cwd }) } as Ask
}
