/**
 * The hooks of Gemini. Measured with 0.61 in a pseudo-terminal: a hook before a call can deny it, edit it, or make Gemini ask in its
 * terminal, but no hook can answer what Gemini asks there. Gemini shows no dialog while a hook runs, and gives its calls no ids.
 */
import { posix } from 'node:path'
import { type Action, actionProblem, hostOf, JsonObject, type ToolCall } from '@holdpoint/protocol'
import { z } from 'zod'
import { shownAction } from '../claude/approvals/shown-action.ts'
import { plainAsk } from './plain-ask.ts'
import {
  hookCapabilities,
  reportingSeconds,
  type TerminalAgent,
  type TerminalEvent,
  type TerminalReply,
  waitingSeconds,
} from './terminal-agent.ts'

const common = { session_id: z.string().min(1).max(200), cwd: z.string() }
const toolCall = {
  ...common,
  tool_name: z.string().min(1),
  tool_input: JsonObject,
  /** Present if the tool belongs to an MCP server. */
  mcp_context: z.object({ server_name: z.string(), tool_name: z.string() }).optional(),
}

const HookInput = z.discriminatedUnion('hook_event_name', [
  z.object({ ...common, hook_event_name: z.literal('BeforeAgent'), prompt: z.string() }),
  z.object({ ...toolCall, hook_event_name: z.literal('BeforeTool') }),
  z.object({ ...common, hook_event_name: z.literal('Notification'), details: z.looseObject({ title: z.string() }) }),
  z.object({
    ...toolCall,
    hook_event_name: z.literal('AfterTool'),
    tool_response: z.object({ llmContent: z.unknown().optional(), error: z.unknown().optional() }),
  }),
  z.object({ ...common, hook_event_name: z.literal('AfterAgent'), prompt_response: z.string() }),
  z.object({ ...common, hook_event_name: z.literal('SessionEnd') }),
])
type HookInput = z.infer<typeof HookInput>

/** Gemini measures a timeout in milliseconds, and shows the name of a hook while the hook runs. */
const entry = (seconds: number) => ({ name: 'holdpoint', timeout: seconds * 1000 })

export const geminiTerminal: TerminalAgent = {
  title: 'Gemini',
  capabilities: [...hookCapabilities, 'editInput'],
  hooks: {
    BeforeAgent: entry(reportingSeconds),
    // If a rule says that a person decides, this hook asks the person and waits.
    BeforeTool: entry(waitingSeconds),
    Notification: entry(reportingSeconds),
    AfterTool: entry(reportingSeconds),
    AfterAgent: entry(reportingSeconds),
    SessionEnd: entry(reportingSeconds),
  },
  beforeHook: 'BeforeTool',
  canAnswer: false,
  canMakeAsk: true,
  parse: text => eventOf(HookInput.parse(JSON.parse(text))),
  format: formatReply,
  describe: describeCall,
  askFor: event => plainAsk(describeCall(event), { editable: true }),
}

function eventOf(hook: HookInput): TerminalEvent {
  const base = { conversation: hook.session_id, cwd: hook.cwd, agentPath: [] }
  switch (hook.hook_event_name) {
    case 'BeforeAgent':
      return { ...base, kind: 'prompt', text: hook.prompt, name: hook.hook_event_name }
    case 'BeforeTool':
      return { ...base, kind: 'before', tool: toolOf(hook), input: hook.tool_input, id: null }
    case 'Notification':
      return { ...base, kind: 'asking', message: questionOf(hook.details) }
    case 'AfterTool': {
      const { tool_input: input, tool_response: response, hook_event_name: name } = hook
      const ok = response.error === undefined || response.error === null
      return { ...base, kind: 'after', tool: toolOf(hook), input, id: null, ok, output: response.llmContent, name }
    }
    case 'AfterAgent':
      return { ...base, kind: 'stop', text: hook.prompt_response }
    case 'SessionEnd':
      return { ...base, kind: 'end' }
  }
}

/** Names the tool of an MCP server as other agents do, so that rules and people see the server. */
function toolOf({ tool_name: tool, mcp_context: mcp }: { tool_name: string; mcp_context?: Mcp | undefined }): string {
  return mcp ? `mcp__${mcp.server_name}__${mcp.tool_name}` : tool
}
type Mcp = { readonly server_name: string; readonly tool_name: string }

function questionOf({
  title,
  command,
  filePath,
}: Readonly<Record<string, unknown>> & { readonly title: string }): string {
  const subject = command ?? filePath
  return typeof subject === 'string' ? `${title}: ${subject}` : title
}

function formatReply(reply: TerminalReply): JsonObject {
  switch (reply.kind) {
    case 'deny':
    case 'block':
      return { decision: 'deny', reason: reply.reason }
    case 'ask':
      return { decision: 'ask', reason: reply.reason, systemMessage: reply.reason }
    case 'edit':
      return { hookSpecificOutput: { hookEventName: 'BeforeTool', tool_input: reply.input } }
    case 'context':
      return { hookSpecificOutput: { hookEventName: reply.event, additionalContext: reply.text } }
    case 'permission':
      throw new Error('Gemini has no hook for permissions')
  }
}

const writingTools: ReadonlySet<string> = new Set(['write_file', 'replace'])
const readingTools: ReadonlySet<string> = new Set(['read_file', 'list_directory'])

function describeCall({ tool, input, cwd }: Pick<ToolCall, 'tool' | 'input' | 'cwd'>): ToolCall {
  const { dir_path: folder } = input
  if (tool === 'run_shell_command')
    return { tool, input, cwd: typeof folder === 'string' ? posix.resolve(cwd, folder) : cwd }
  const call = { tool, input, cwd }
  if (tool.startsWith('mcp__')) return { ...call, ...shownAction(call) }
  const action = actionFor(call)
  return action && actionProblem({ ...call, action }) === null ? { ...call, action } : call
}

function actionFor({ tool, input: { file_path: file, dir_path: folder, url } }: ToolCall): Action | null {
  const path = file ?? folder
  if (typeof path === 'string' && writingTools.has(tool)) return { write: [path] }
  if (typeof path === 'string' && readingTools.has(tool)) return { read: [path] }
  return tool === 'web_fetch' && typeof url === 'string' && hostOf(url) !== '' ? { fetch: hostOf(url) } : null
}
