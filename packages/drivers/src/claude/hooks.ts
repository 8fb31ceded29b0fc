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
          async (input, _id, { signal }) => {
            if (input.hook_event_name !== 'PreToolUse') return {}
            const { tool_name: tool, tool_use_id: id, agent_id: agent } = input
            const given: object = Object(input.tool_input)
            const ruled = await check(session, tool, given)
            if (ruled) return ruled
            return agent === undefined && (await calls.putOff(id, tool, given, signal)) ? later : {}
          },
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

/** The call is neither made nor refused: the CLI notes it, ends its turn, and asks for it when it is started again. */
const later: HookJSONOutput = { hookSpecificOutput: { hookEventName: 'PreToolUse', permissionDecision: 'defer' } }

/** A rule's deny or ask holds whatever the CLI would do; null leaves it to the CLI, which may still ask. */
async function check(session: AgentSession, tool: string, input: object): Promise<HookJSONOutput | null> {
  const { verdict, rule, reason } = await session.check(tool, jsonCopy(input, `the input of ${tool}`) as JsonObject) // tools take objects
  if (rule === undefined || verdict === 'allow') return null
  return {
    hookSpecificOutput: {
      hookEventName: 'PreToolUse',
      permissionDecision: verdict,
      permissionDecisionReason: `A rule says ${verdict}: ${reason}`,
    },
  }
}
