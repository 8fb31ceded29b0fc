/** The SDK hooks around every tool call. They check the rules and the watchers before a call runs, and add a person's note and the texts of watchers to its result. */
import type {
  HookCallbackMatcher,
  HookEvent,
  HookJSONOutput,
  PostToolUseFailureHookInput,
  PostToolUseHookInput,
} from '@anthropic-ai/claude-agent-sdk'
import { jsonCopy } from '@holdpoint/client'
import { Fault, type JsonObject, limits } from '@holdpoint/protocol'
import type { ConnectionOptions } from '../../session/agent-connection.ts'
import { decidedBy } from '../../session/verdicts.ts'
import { actionFor } from '../approvals/action.ts'
import type { PermissionCalls } from '../approvals/permission-calls.ts'
import { denied, toAgent } from '../messages.ts'
import { failedResult, type HookResult, okResult } from '../tool-result.ts'
import { isRecord } from './content-blocks.ts'

/** Hook timeout in seconds. It is very long because a hook that times out lets the call run, so the hook must outlast an unreachable gateway. */
const hookTimeoutSeconds = 30 * 24 * 3600

export interface HooksOptions extends Pick<ConnectionOptions, 'check' | 'reportResult' | 'isInterrupted'> {
  readonly calls: PermissionCalls
  readonly agentPathOf: (agentId: string | undefined) => readonly string[]
  /** Returns whether the driver is ending the process. */
  readonly isClosing: () => boolean
  readonly reportProblem: (message: string) => void
}

export function hooksFor(options: HooksOptions): Partial<Record<HookEvent, HookCallbackMatcher[]>> {
  const { calls, agentPathOf, isInterrupted, reportProblem } = options
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
            const problem = sizeProblem(tool, input)
            if (problem !== null) return denyCall(problem)
            const checked = await checkCall(options, id, tool, input, cwd, agentPathOf(agentId))
            if (isInterrupted()) return interruptedDecision
            if (typeof checked === 'string') return denyCall(checked)
            if (isDecided(checked)) return checked
            calls.addFolder(id, cwd)
            const isMainAgent = agentId === undefined
            return isMainAgent && (await calls.deferWhileWaiting(id, tool, input, signal)) ? deferDecision : checked
          },
        ],
      },
    ],
    PostToolUse: [
      {
        timeout: hookTimeoutSeconds,
        hooks: [
          async hook =>
            hook.hook_event_name === 'PostToolUse'
              ? finishCall(options, hook, okResult(hook.tool_name, hook.tool_response))
              : {},
        ],
      },
    ],
    PostToolUseFailure: [
      {
        timeout: hookTimeoutSeconds,
        hooks: [
          async hook =>
            hook.hook_event_name === 'PostToolUseFailure' ? finishCall(options, hook, failedResult(hook.error)) : {},
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

/** Returns what the CLI must do if a rule or a watcher says deny or ask, and the texts that the agent must read. Returns an error message if the call could not be checked. */
async function checkCall(
  { check, isClosing }: HooksOptions,
  key: string,
  tool: string,
  input: object,
  cwd: string,
  agentPath: readonly string[],
): Promise<HookJSONOutput | string> {
  try {
    const json = jsonCopy(input, `the input of ${tool}`) as JsonObject // tool inputs are objects
    const verdict = await check({ key, tool, input: json, cwd, action: actionFor(tool, json, cwd), agentPath })
    const read = contextOf(verdict.say ?? [])
    const decided = decidedBy(verdict)
    if (decided === null) return read === null ? {} : { hookSpecificOutput: { hookEventName: 'PreToolUse', ...read } }
    return decision(decided, toAgent.verdict(verdict), read ?? {})
  } catch (error) {
    if (isClosing() || !(error instanceof Fault)) throw error
    return denied.rulesFailed(tool, error.message)
  }
}

function isDecided({ hookSpecificOutput: output }: HookJSONOutput & { hookSpecificOutput?: object }): boolean {
  return output !== undefined && 'permissionDecision' in output
}

/** Reports the result of a call, and gives the agent the person's note and the texts of watchers. */
async function finishCall(
  { calls, reportResult, agentPathOf, isClosing, reportProblem }: HooksOptions,
  hook: PostToolUseHookInput | PostToolUseFailureHookInput,
  result: HookResult,
): Promise<HookJSONOutput> {
  const { tool_use_id: key, tool_name: tool, tool_input: input, cwd, hook_event_name: hookEventName } = hook
  const note = calls.takeNote(key)
  const json = jsonCopy(input ?? {}, `the input of ${tool}`) as JsonObject // the hook before the call has checked that it is an object
  const call = {
    key,
    tool,
    input: json,
    cwd,
    action: actionFor(tool, json, cwd),
    agentPath: agentPathOf(hook.agent_id),
  }
  const texts = await reportResult({ ...call, result }).catch((error: unknown) => {
    if (isClosing() || !(error instanceof Fault)) throw error
    reportProblem(denied.resultNotReported(tool, error.message))
    return []
  })
  const read = contextOf([...(note === undefined ? [] : [note]), ...texts])
  return read === null ? {} : { hookSpecificOutput: { hookEventName, ...read } }
}

function contextOf(texts: readonly string[]): { readonly additionalContext: string } | null {
  return texts.length === 0 ? null : { additionalContext: texts.join('\n\n') }
}

/** Returns why the call must be denied if its input is too large for a rule or a person to check; otherwise returns null. */
function sizeProblem(tool: string, input: object): string | null {
  const bytes = Buffer.byteLength(JSON.stringify(input))
  const { toolInputMaxBytes } = limits
  return bytes <= toolInputMaxBytes ? null : denied.tooLarge(tool, bytes, toolInputMaxBytes)
}

function decision(
  permissionDecision: 'deny' | 'ask',
  permissionDecisionReason: string,
  read: { readonly additionalContext?: string } = {},
): HookJSONOutput {
  return {
    hookSpecificOutput: { hookEventName: 'PreToolUse', permissionDecision, permissionDecisionReason, ...read },
  }
}
