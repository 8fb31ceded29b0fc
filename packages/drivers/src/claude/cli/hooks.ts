/** What is said at the edges of every tool call: the rules see each one before it runs, and a person's note goes back beside the result. */
import type { HookCallbackMatcher, HookEvent, HookJSONOutput } from '@anthropic-ai/claude-agent-sdk'
import { Fault, type JsonObject, limits } from '@holdpoint/protocol'
import { jsonCopy } from '../../generator/json-copy.ts'
import type { AgentSession } from '../../session/agent-session.ts'
import type { PendingCalls } from '../approvals/pending-calls.ts'

/** In seconds. A gateway that is away is waited for: a hook that gave up would let the call through. */
const patience = 30 * 24 * 3600

export function hooksFor(
  session: AgentSession,
  calls: PendingCalls,
  onTrouble: (sentence: string) => void,
): Partial<Record<HookEvent, HookCallbackMatcher[]>> {
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
            const ruled = tooLarge(tool, given) ?? (await check(session, tool, given))
            if (typeof ruled === 'string') onTrouble(ruled)
            if (ruled) return typeof ruled === 'string' ? decision('deny', ruled) : ruled
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

/** A rule's deny or ask holds whatever the CLI would do; null leaves it to the CLI, which may still ask; a sentence says why the rules could not be asked. */
async function check(session: AgentSession, tool: string, input: object): Promise<HookJSONOutput | string | null> {
  try {
    const { verdict, rule, reason } = await session.check(tool, jsonCopy(input, `the input of ${tool}`) as JsonObject) // tools take objects
    return rule === undefined || verdict === 'allow' ? null : decision(verdict, `A rule says ${verdict}: ${reason}`)
  } catch (error) {
    if (session.signal.aborted || !(error instanceof Fault)) throw error
    return `${tool} was refused, since the rules could not be asked: ${error.message}`
  }
}

/** What nobody can be asked, and no rule can see, does not run. */
function tooLarge(tool: string, input: object): string | null {
  const bytes = Buffer.byteLength(JSON.stringify(input))
  const { toolInputMaxBytes: most } = limits
  if (bytes <= most) return null
  return `${tool} was refused: its input is too large to be asked (${bytes} bytes; the limit is ${most}); do it in smaller parts`
}

function decision(permissionDecision: 'deny' | 'ask', permissionDecisionReason: string): HookJSONOutput {
  return { hookSpecificOutput: { hookEventName: 'PreToolUse', permissionDecision, permissionDecisionReason } }
}
