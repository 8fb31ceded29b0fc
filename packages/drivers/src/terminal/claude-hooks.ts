/** The hooks of Claude Code: their input and their output, as far as Holdpoint uses them. */
import type { PermissionUpdate, SDKAssistantMessageError } from '@anthropic-ai/claude-agent-sdk'
import { jsonCopy } from '@holdpoint/client'
import type { JsonObject } from '@holdpoint/protocol'
import { z } from 'zod'
import { shownAction, shownAsk } from '../claude/approvals/shown-action.ts'
import { modelError } from '../claude/error-events.ts'
import { callFields, callFieldsWithId, commonFields, subagentPath } from './hook-fields.ts'
import { terminalTexts } from './messages.ts'
import {
  hookCapabilities,
  reportingSeconds,
  type TerminalAgent,
  type TerminalEvent,
  type TerminalReply,
  waitingSeconds,
} from './terminal-agent.ts'

const HookInput = z.discriminatedUnion('hook_event_name', [
  z.object({ ...commonFields, hook_event_name: z.literal('UserPromptSubmit'), prompt: z.string() }),
  z.object({ ...callFieldsWithId, hook_event_name: z.literal('PreToolUse') }),
  z.object({
    ...callFields,
    hook_event_name: z.literal('PermissionRequest'),
    permission_suggestions: z.array(z.unknown()).optional(),
  }),
  z.object({ ...callFieldsWithId, hook_event_name: z.literal('PostToolUse'), tool_response: z.unknown() }),
  z.object({ ...callFieldsWithId, hook_event_name: z.literal('PostToolUseFailure'), error: z.unknown() }),
  z.object({ ...commonFields, hook_event_name: z.literal('Stop'), last_assistant_message: z.string().nullish() }),
  z.object({
    ...commonFields,
    hook_event_name: z.literal('StopFailure'),
    error: z.string(),
    last_assistant_message: z.string().nullish(),
  }),
  // Claude Code shows the form of an MCP server only after this hook has ended, so the hook does not wait for an answer.
  z.object({
    ...commonFields,
    hook_event_name: z.literal('Elicitation'),
    mcp_server_name: z.string(),
    message: z.string(),
    url: z.string().optional(),
  }),
  z.object({ ...commonFields, hook_event_name: z.literal('SessionEnd') }),
])
type HookInput = z.infer<typeof HookInput>

const reporting = { timeout: reportingSeconds }

/** A permission request does not name its tool call, and Claude Code shows its own dialog while the hook runs. */
export const claudeTerminal: TerminalAgent = {
  title: 'Claude Code',
  capabilities: [...hookCapabilities, 'questions', 'editInput'],
  hooks: {
    UserPromptSubmit: reporting,
    PreToolUse: reporting,
    PermissionRequest: { timeout: waitingSeconds },
    PostToolUse: reporting,
    PostToolUseFailure: reporting,
    Elicitation: reporting,
    Stop: reporting,
    StopFailure: reporting,
    SessionEnd: reporting,
  },
  beforeHook: 'PreToolUse',
  canAnswer: true,
  canMakeAsk: true,
  parse: text => eventOf(HookInput.parse(JSON.parse(text))),
  format: formatReply,
  describe: call => ({ ...call, ...shownAction(call) }),
  askFor: ({ tool, input, cwd, suggestions = [] }) =>
    shownAsk({ tool, input, cwd, suggestions: suggestions as PermissionUpdate[] }), // Claude Code documents this type
}

function eventOf(hook: HookInput): TerminalEvent {
  const base = {
    conversation: hook.session_id,
    cwd: hook.cwd,
    mode: hook.permission_mode,
    agentPath: subagentPath(hook),
  }
  switch (hook.hook_event_name) {
    case 'UserPromptSubmit':
      return { ...base, kind: 'prompt', text: hook.prompt, name: hook.hook_event_name }
    case 'PreToolUse':
      return { ...base, kind: 'before', ...callOf(hook), id: hook.tool_use_id }
    case 'PermissionRequest':
      return { ...base, kind: 'permission', ...callOf(hook), suggestions: hook.permission_suggestions ?? [] }
    case 'PostToolUse':
    case 'PostToolUseFailure': {
      const name = hook.hook_event_name
      const ok = name === 'PostToolUse'
      const output = ok ? hook.tool_response : hook.error
      return { ...base, kind: 'after', ...callOf(hook), id: hook.tool_use_id, ok, output, name }
    }
    case 'Stop':
      return { ...base, kind: 'stop', text: hook.last_assistant_message ?? '' }
    case 'StopFailure': {
      const error = hook.error as SDKAssistantMessageError // an unknown error of a newer version has a sentence, too
      const { code = '', message } = modelError(error, hook.last_assistant_message ?? '')
      return { ...base, kind: 'failed', code, message }
    }
    case 'Elicitation':
      return { ...base, kind: 'asking', message: terminalTexts.form(hook.mcp_server_name, hook.message, hook.url) }
    case 'SessionEnd':
      return { ...base, kind: 'end' }
  }
}

function callOf({ tool_name: tool, tool_input: input }: { tool_name: string; tool_input: JsonObject }) {
  return { tool, input }
}

export function formatReply(reply: TerminalReply): JsonObject {
  if (reply.kind === 'block') return { decision: 'block', reason: reply.reason }
  return { hookSpecificOutput: outputOf(reply) }
}

function outputOf(reply: Exclude<TerminalReply, { readonly kind: 'block' }>): JsonObject {
  switch (reply.kind) {
    case 'deny':
    case 'ask':
      return {
        hookEventName: 'PreToolUse',
        permissionDecision: reply.kind,
        permissionDecisionReason: reply.reason,
      }
    case 'edit':
      throw new Error('a hook before a call asks only with agents whose calls cannot be edited there')
    case 'permission':
      return { hookEventName: 'PermissionRequest', decision: jsonCopy(reply.result, 'The decision') }
    case 'context':
      return { hookEventName: reply.event, additionalContext: reply.text }
  }
}
