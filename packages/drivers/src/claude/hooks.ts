/** What is said at the edges of every tool call: the rules see each one before it runs, and a person's note goes back beside the result. */
import type { HookCallbackMatcher, HookEvent, HookJSONOutput } from '@anthropic-ai/claude-agent-sdk'
import type { JsonObject } from '@holdpoint/protocol'
import type { AgentSession } from '../agent-session.ts'
import { jsonCopy } from '../json-copy.ts'
import type { Calls } from './calls.ts'

/** In seconds. A gateway that is away is waited for: a hook that gave up would let the call through. */
const patience = 30 * 24 * 3600

export function hooksFor(session: AgentSession, calls: Calls): Partial<Record<HookEvent, HookCallbackMatcher[]>> {
  const note = (id: string, hookEventName: 'PostToolUse' | 'PostToolUseFailure'): HookJSONOutput => {
    const additionalContext = calls.noteOf(id)
    return additionalContext === undefined ? {} : { hookSpecificOutput: { hookEventName, additionalContext } }
  }
  return {
    PreToolUse: [
      {
        timeout: patience,
        onFailure: 'block',
        hooks: [
          async input =>
            input.hook_event_name === 'PreToolUse' ? check(session, input.tool_name, Object(input.tool_input)) : {},
        ],
      },
    ],
    PostToolUse: [
      {
        hooks: [async input => (input.hook_event_name === 'PostToolUse' ? note(input.tool_use_id, 'PostToolUse') : {})],
      },
    ],
    PostToolUseFailure: [
      {
        hooks: [
          async input =>
            input.hook_event_name === 'PostToolUseFailure' ? note(input.tool_use_id, 'PostToolUseFailure') : {},
        ],
      },
    ],
  }
}

/** A rule's deny or ask holds whatever the CLI would do; anything else is left to the CLI, which may still ask. */
async function check(session: AgentSession, tool: string, input: unknown): Promise<HookJSONOutput> {
  const { verdict, rule, reason } = await session.check(tool, jsonCopy(input, `the input of ${tool}`) as JsonObject) // tools take objects
  if (rule === undefined || verdict === 'allow') return {}
  return {
    hookSpecificOutput: {
      hookEventName: 'PreToolUse',
      permissionDecision: verdict,
      permissionDecisionReason: `A rule says ${verdict}: ${reason}`,
    },
  }
}
