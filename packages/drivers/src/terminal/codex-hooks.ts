/**
 * The hooks of Codex, whose input and output are nearly those of Claude Code's hooks. Measured with 0.166 in a pseudo-terminal: Codex
 * shows no dialog while the hook for a permission runs, and shows the dialog afterwards if the hook prints nothing. Codex accepts an
 * allow or a deny from that hook, but no edit. A hook before a call can deny the call, but cannot make Codex ask.
 */
import { limits, type ToolCall } from '@holdpoint/protocol'
import { z } from 'zod'
import { shownAction } from '../claude/approvals/shown-action.ts'
import { formatReply } from './claude-hooks.ts'
import { callFields, callFieldsWithId, commonFields, subagentPath } from './hook-fields.ts'
import { terminalTexts } from './messages.ts'
import { plainAsk } from './plain-ask.ts'
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
  z.object({ ...callFields, hook_event_name: z.literal('PermissionRequest') }),
  z.object({ ...callFieldsWithId, hook_event_name: z.literal('PostToolUse'), tool_response: z.unknown().optional() }),
  z.object({ ...commonFields, hook_event_name: z.literal('Stop'), last_assistant_message: z.string().nullish() }),
  z.object({ ...commonFields, hook_event_name: z.literal('Interrupt') }),
  z.object({ ...commonFields, hook_event_name: z.literal('SessionEnd') }),
])
type HookInput = z.infer<typeof HookInput>

const reporting = { timeout: reportingSeconds }
const waiting = { timeout: waitingSeconds, statusMessage: terminalTexts.waiting }
/** Codex allows these hooks at most three seconds. */
const short = { timeout: 3 }

export const codexTerminal: TerminalAgent = {
  title: 'Codex',
  capabilities: hookCapabilities,
  hooks: {
    UserPromptSubmit: reporting,
    // If a rule says that a person decides, this hook asks the person itself, because it cannot make Codex ask.
    PreToolUse: { timeout: waitingSeconds },
    PermissionRequest: waiting,
    PostToolUse: reporting,
    Stop: reporting,
    Interrupt: short,
    SessionEnd: short,
  },
  beforeHook: 'PreToolUse',
  canAnswer: true,
  canMakeAsk: false,
  parse: text => eventOf(HookInput.parse(JSON.parse(text))),
  format: reply => formatReply(withoutUnsupported(reply)),
  describe: describeCall,
  askFor: event => plainAsk(describeCall(event), { editable: false, description: event.description ?? '' }),
}

function eventOf(hook: HookInput): TerminalEvent {
  const agentPath = subagentPath(hook)
  const base = { conversation: hook.session_id, cwd: hook.cwd, mode: hook.permission_mode, agentPath }
  switch (hook.hook_event_name) {
    case 'UserPromptSubmit':
      return { ...base, kind: 'prompt', text: hook.prompt, name: hook.hook_event_name }
    case 'PreToolUse':
      return { ...base, kind: 'before', tool: hook.tool_name, input: hook.tool_input, id: hook.tool_use_id }
    case 'PermissionRequest': {
      // The input of this hook contains the model's reason, but the input of the other hooks of the same call does not.
      const { description, ...input } = hook.tool_input
      const reason = typeof description === 'string' ? { description } : {}
      return { ...base, kind: 'permission', tool: hook.tool_name, input, ...reason, suggestions: [] }
    }
    case 'PostToolUse': {
      const { tool_name: tool, tool_input: input, tool_use_id: id, tool_response: output } = hook
      return { ...base, kind: 'after', tool, input, id, ok: null, output, name: hook.hook_event_name }
    }
    case 'Stop':
      return { ...base, kind: 'stop', text: hook.last_assistant_message ?? '' }
    case 'Interrupt':
      return { ...base, kind: 'interrupt' }
    case 'SessionEnd':
      return { ...base, kind: 'end' }
  }
}

/** Codex ignores the whole reply if it contains a field that Codex does not support. */
function withoutUnsupported(reply: TerminalReply): TerminalReply {
  if (reply.kind !== 'permission') return reply
  const { result } = reply
  return {
    kind: 'permission',
    result: result.behavior === 'allow' ? { behavior: 'allow' } : { behavior: 'deny', message: result.message },
  }
}

/** A patch is in the field `command`, which is a shell command everywhere else. It is passed on under another name, with the files that it changes. */
function describeCall({ tool, input, cwd }: Pick<ToolCall, 'tool' | 'input' | 'cwd'>): ToolCall {
  const { command: patch } = input
  if (tool !== 'apply_patch' || typeof patch !== 'string')
    return { tool, input, cwd, ...shownAction({ tool, input, cwd }) }
  const paths = pathsIn(patch)
  return paths && paths.length <= limits.actionPathsMax
    ? { tool, input: { paths: [...paths], patch }, cwd, action: { write: [...paths] } }
    : { tool, input: { patch }, cwd, action: { other: tool } }
}

const fileHeader = /^\*\*\* (?:(?:Add|Update|Delete) File|Move to): (.+)$/
const otherHeader = /^\*\*\* (?:Begin Patch|End Patch|End of File)$/

/** Returns the files that a patch names, or null if a line may be a header that Codex reads in another way. */
function pathsIn(patch: string): readonly string[] | null {
  const paths = new Set<string>()
  for (const line of patch.trim().split('\n')) {
    const path = fileHeader.exec(line)?.[1]
    if (path !== undefined) paths.add(path)
    else if (line.trim().startsWith('***') && !otherHeader.test(line)) return null
  }
  return paths.size > 0 ? [...paths] : null
}
