/** The SDK hooks around every tool call. They check the rules before a call runs, and add a person's note to its result. */
import type { HookCallbackMatcher, HookEvent, HookJSONOutput } from '@anthropic-ai/claude-agent-sdk'
import { Fault, type JsonObject, limits } from '@holdpoint/protocol'
import type { ConnectionOptions } from '../../session/agent-connection.ts'
import { jsonCopy } from '../../session/json-copy.ts'
import { actionFor } from '../approvals/action.ts'
import type { PermissionCalls } from '../approvals/permission-calls.ts'
import { denied, toAgent } from '../messages.ts'
import { isRecord } from './content-blocks.ts'

/** Hook timeout in seconds. It is very long because a hook that times out lets the call run, so the hook must outlast an unreachable gateway. */
const hookTimeoutSeconds = 30 * 24 * 3600

export interface HooksOptions extends Pick<ConnectionOptions, 'check' | 'isInterrupted'> {
  readonly calls: PermissionCalls
  readonly agentPathOf: (agentId: string | undefined) => readonly string[]
  /** Returns whether the driver ends the process. */
  readonly isClosing: () => boolean
  readonly reportProblem: (message: string) => void
}

export function hooksFor(options: HooksOptions): Partial<Record<HookEvent, HookCallbackMatcher[]>> {
  const { calls, agentPathOf, isInterrupted, reportProblem } = options
  const note = (id: string, hookEventName: 'PostToolUse' | 'PostToolUseFailure'): HookJSONOutput => {
    const additionalContext = calls.takeNote(id)
    return additionalContext === undefined ? {} : { hookSpecificOutput: { hookEventName, additionalContext } }
  }
  const denyCall = (message: string): HookJSONOutput => {
    reportProblem(message)
    return decision('deny', message)
  }
  return {
    PreToolUse: [
      {
        timeout: hookTimeoutSeconds,
        onFailure: 'block',
        hooks: [
          async (hook, _id, { signal }) => {
            if (hook.hook_event_name !== 'PreToolUse') return {}
            const { tool_name: tool, tool_use_id: id, agent_id: agentId, tool_input: input = {}, cwd } = hook
            if (!isRecord(input)) return denyCall(denied.notObject(tool))
            const checked =
              sizeProblem(tool, input) ?? (await checkRules(options, tool, input, cwd, agentPathOf(agentId)))
            if (isInterrupted()) return interruptedDecision
            if (checked) return typeof checked === 'string' ? denyCall(checked) : checked
            calls.addFolder(id, cwd)
            const isMainAgent = agentId === undefined
            return isMainAgent && (await calls.deferWhileWaiting(id, tool, input, signal)) ? deferDecision : {}
          },
        ],
      },
    ],
    PostToolUse: [
      { hooks: [async hook => (hook.hook_event_name === 'PostToolUse' ? note(hook.tool_use_id, 'PostToolUse') : {})] },
    ],
    PostToolUseFailure: [
      {
        hooks: [
          async hook =>
            hook.hook_event_name === 'PostToolUseFailure' ? note(hook.tool_use_id, 'PostToolUseFailure') : {},
        ],
      },
    ],
  }
}

/** Makes the CLI record the call and end the turn instead of running or refusing the call. The CLI asks for the call again on its next start. */
const deferDecision: HookJSONOutput = {
  hookSpecificOutput: { hookEventName: 'PreToolUse', permissionDecision: 'defer' },
}

/** Denies a call that the CLI makes after a person's interrupt. In a mode that allows the call, the CLI would run it without asking, for example for a message that it had queued before the interrupt. */
const interruptedDecision: HookJSONOutput = {
  ...decision('deny', toAgent.interrupted),
  continue: false,
  stopReason: toAgent.interrupted,
}

/** Returns a decision if a rule says deny or ask, null if no rule applies or a rule says allow, or an error message if the rules could not be checked. */
async function checkRules(
  { check, isClosing }: HooksOptions,
  tool: string,
  input: object,
  cwd: string,
  agentPath: readonly string[],
): Promise<HookJSONOutput | string | null> {
  try {
    const json = jsonCopy(input, `the input of ${tool}`) as JsonObject // tool inputs are objects
    const { verdict, rule, reason } = await check({
      tool,
      input: json,
      cwd,
      action: actionFor(tool, json, cwd),
      agentPath,
    })
    return rule === undefined || verdict === 'allow' ? null : decision(verdict, toAgent.rule(verdict, reason))
  } catch (error) {
    if (isClosing() || !(error instanceof Fault)) throw error
    return denied.rulesFailed(tool, error.message)
  }
}

/** Returns why the call must be denied if its input is too large for a rule or a person to check; otherwise returns null. */
function sizeProblem(tool: string, input: object): string | null {
  const bytes = Buffer.byteLength(JSON.stringify(input))
  const { toolInputMaxBytes } = limits
  return bytes <= toolInputMaxBytes ? null : denied.tooLarge(tool, bytes, toolInputMaxBytes)
}

function decision(permissionDecision: 'deny' | 'ask', permissionDecisionReason: string): HookJSONOutput {
  return { hookSpecificOutput: { hookEventName: 'PreToolUse', permissionDecision, permissionDecisionReason } }
}
