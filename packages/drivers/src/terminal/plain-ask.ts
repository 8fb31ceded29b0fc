/** The asks of agents whose hooks report only the name and the input of a tool. */
import { type Ask, actionOf, callTitles, limits, type ToolCall } from '@holdpoint/protocol'

export function plainAsk(call: ToolCall, options: { readonly editable: boolean; readonly description?: string }): Ask {
  const { tool, input, cwd, action } = call
  const { editable, description } = options
  return {
    kind: 'approval',
    tool,
    input,
    ...(action ? { action } : {}),
    title: titleOf(call),
    ...(description ? { description: description.slice(0, limits.reasonMax).toWellFormed() } : {}),
    cwd,
    editable,
  }
}

function titleOf(call: ToolCall): string {
  const action = actionOf(call)
  if ('shell' in action) return callTitles.run(action.shell)
  if ('write' in action) return callTitles.change(action.write)
  return 'fetch' in action ? callTitles.fetch(action.fetch) : callTitles.use(call.tool)
}
