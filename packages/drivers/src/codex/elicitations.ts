/** Requests of MCP servers that Codex passes on: approvals of their tools, and forms. Codex sends both with the same method. */
import { type ApprovalAsk, canonicalJson, type FormAsk, limits, truncateTitle } from '@holdpoint/protocol'
import type { Decision } from '../session/decisions.ts'
import { type CodexSuggestion, ownSettings } from './command-approvals.ts'
import { codexCalls, codexSuggestions } from './messages.ts'
import type { NativeCall } from './native-call.ts'
import { type CodexItem, type Elicitation, type ToolApproval, toolApprovalIn } from './wire.ts'

type ToolCallItem = Extract<CodexItem, { readonly type: 'mcpToolCall' }>

/** `running` lists the tool calls of MCP servers that Codex has announced and that have not finished. Returns null if people cannot answer the request. */
export function elicitationCall(params: Elicitation, running: readonly ToolCallItem[], cwd: string): NativeCall | null {
  const approval = toolApprovalIn(params)
  if (approval) return toolCall(params, approval, running, cwd)
  return params.mode === 'form' || params.mode === 'url' ? formCall(params) : null
}

/** The request names the tool only in its message. The item of the call has the name of the tool and the same arguments, but other tools can run with the same arguments at the same time. */
function toolCall(
  { threadId, turnId = null, serverName, message }: Elicitation,
  { tool_params: params, tool_description: description, persist }: ToolApproval,
  running: readonly ToolCallItem[],
  cwd: string,
): NativeCall {
  const input = params ?? {}
  const named = toolIn(message)
  const items = running.filter(
    ({ server, tool, arguments: args }) =>
      server === serverName && tool === (named ?? tool) && canonicalJson(args ?? {}) === canonicalJson(input),
  )
  const item = new Set(items.map(({ tool }) => tool)).size === 1 ? items[0] : undefined
  const tool = named ?? item?.tool
  const suggestions = suggestionsFor(persist)
  const ask: ApprovalAsk = {
    kind: 'approval',
    tool: `mcp__${serverName}__${tool ?? 'unknown'}`.slice(0, limits.nameMax).toWellFormed(),
    input,
    action:
      tool === undefined
        ? { other: `mcp__${serverName}`.slice(0, limits.nameMax).toWellFormed() }
        : { mcp: serverName, tool },
    title: truncateTitle(tool === undefined ? message : codexCalls.useTool(serverName, tool)),
    ...(description ? { description: description.slice(0, limits.reasonMax).toWellFormed() } : {}),
    cwd,
    editable: false,
    suggestions: suggestions.map(({ reply: _, ...suggestion }) => suggestion),
  }
  const reply = ({ answer, stopsTurn }: Decision) => {
    if (stopsTurn) return null
    if (answer?.kind !== 'allow') return { action: 'decline', content: null, _meta: null }
    const persisted = suggestions.find(({ id }) => id === answer.suggestion)?.reply
    return { action: 'accept', content: {}, _meta: persisted === undefined ? null : { persist: persisted } }
  }
  return { threadId, turnId, itemId: item?.id ?? null, ask, reply }
}

/** Returns the tool in a message such as: Allow the shop MCP server to run tool "order"? The name of a tool can contain quotation marks too. */
function toolIn(message: string): string | undefined {
  const [start, end] = ['tool "', '"?']
  const at = message.indexOf(start)
  return at >= 0 && message.endsWith(end) ? message.slice(at + start.length, -end.length) : undefined
}

function suggestionsFor(persist: readonly string[]): readonly CodexSuggestion[] {
  const offered: readonly CodexSuggestion[] = [
    { id: 'session', label: codexSuggestions.toolInSession, scope: 'session', reply: 'session' },
    { id: 'always', label: codexSuggestions.toolAlways, scope: ownSettings, reply: 'always' },
  ]
  return offered.filter(({ id }) => persist.includes(id))
}

function formCall({ threadId, turnId = null, serverName, message, requestedSchema, url }: Elicitation): NativeCall {
  const schema = requestedSchema ?? { type: 'object', properties: {} }
  const ask: FormAsk = {
    kind: 'form',
    title: truncateTitle(codexCalls.form(serverName)),
    message: message.slice(0, limits.reasonMax).toWellFormed(),
    schema: schema as FormAsk['schema'], // a server can send anything, but `AgentSession.open` validates the ask
    ...(url ? { url } : {}),
  }
  const reply = ({ answer, stopsTurn }: Decision) => {
    if (stopsTurn) return null
    if (answer?.kind !== 'submit') return { action: 'decline', content: null, _meta: null }
    return { action: 'accept', content: answer.values, _meta: null }
  }
  return { threadId, turnId, itemId: null, ask, reply }
}
