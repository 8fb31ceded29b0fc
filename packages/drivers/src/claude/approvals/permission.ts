/** Converts a permission request of the CLI to an ask, and the person's answer to the CLI's permission result. */
import { readFileSync } from 'node:fs'
import type { CanUseTool, PermissionResult, PermissionUpdate } from '@anthropic-ai/claude-agent-sdk'
import { nobodyAnswered, unknownOutcome } from '@holdpoint/client'
import { type Answer, type Ask, defaultDenyReason, type JsonObject, limits, truncateTitle } from '@holdpoint/protocol'
import type { CallAnswer } from '../../session/agent-connection.ts'
import { denied, settings, toAgent } from '../messages.ts'
import { actionFor } from './action.ts'
import { availableModes, isMode, modes } from './modes.ts'
import { answeredInput, questionsAsk } from './questions.ts'
import { allowsPermanently, suggestionsOf, updateForSuggestion } from './suggestions.ts'

export type PermissionContext = Parameters<CanUseTool>[2]
export interface Permission {
  readonly tool: string
  readonly input: JsonObject
  readonly context: PermissionContext
  readonly cwd: string
}

export const questionTool = 'AskUserQuestion'
export const planTool = 'ExitPlanMode'

/** Returns whether this is the question or plan tool, and the CLI asks for every call of it in this mode. Only then may the driver ask before the CLI does. */
export function isAlwaysAsked(tool: string, mode: string): boolean {
  if (!isMode(mode)) return false
  if (tool === planTool) return modes[mode].exitPlan === 'asks'
  return tool === questionTool && modes[mode].question === 'asks'
}

export function askFor({ tool, input, context, cwd }: Permission, mayBypass: boolean): Ask {
  if (tool === questionTool) return questionsAsk(input)
  const plan = tool === planTool ? readPlan(input) : null
  const { title, description, decisionReason: reason, blockedPath, defaultToNo, suppressAlwaysAllowRule } = context
  const caution = {
    ...(defaultToNo ? { defaultToNo } : {}),
    ...(suppressAlwaysAllowRule ? { noRemember: true } : {}),
    ...(reason ? { reason: reason.slice(0, limits.reasonMax).toWellFormed() } : {}),
    ...(blockedPath ? { blockedPath: blockedPath.slice(0, limits.pathMax) } : {}),
  }
  const suggestions = suggestionsOf(context)
  return {
    kind: 'approval',
    tool,
    input: plan === null ? input : { ...input, plan },
    action: actionFor(tool, input, cwd),
    title: truncateTitle(title ?? `${context.displayName ?? tool}: ${subjectOf(tool, input, plan)}`),
    ...(description ? { description: description.slice(0, limits.reasonMax).toWellFormed() } : {}),
    cwd,
    editable: true,
    ...(plan === null
      ? {}
      : { plan: plan.slice(0, limits.textMax).toWellFormed(), modes: [...availableModes(mayBypass)] }),
    ...(suggestions.length > 0 ? { suggestions } : {}),
    ...(Object.keys(caution).length > 0 ? { caution } : {}),
  }
}

/** Returns one line that describes the call. */
function subjectOf(tool: string, input: JsonObject, plan: string | null): string {
  if (tool === planTool && plan === null) return 'no written plan'
  const subject = plan ?? input.command ?? input.file_path ?? input.url ?? input.path ?? input.description
  return typeof subject === 'string' ? (subject.trim().split('\n')[0] ?? '') : JSON.stringify(input)
}

/** Returns the plan from the call's input or from the file that the input names, or null if there is no plan. */
function readPlan({ plan, planFilePath }: JsonObject): string | null {
  if (typeof plan === 'string' && plan.trim() !== '') return plan
  if (typeof planFilePath !== 'string') return null
  try {
    const text = readFileSync(planFilePath, 'utf8')
    return text.trim() === '' ? null : text
  } catch {
    return null
  }
}

/** The permission result for the CLI, and the side effects that the driver must apply. */
export interface PermissionReply {
  readonly result: PermissionResult
  /** Text that the agent should read next to the result of its call. */
  readonly note?: string
  /** Set if this answer also ends the turn. */
  readonly turnEnding?: 'cancelled'
  /** Set if the person allowed this call permanently. */
  readonly alwaysAllow?: boolean
  /** A sentence for the person that says which part of the answer could not be applied. */
  readonly problem?: string
}

export interface CallContext {
  readonly tool: string
  /** The call's input, as the CLI sent it. */
  readonly input: JsonObject
  /** The suggestions that the CLI sent with the call. */
  readonly updates: readonly PermissionUpdate[]
  /** Whether the process was started with permission to enter bypassPermissions. */
  readonly mayBypass: boolean
}

export function replyFor(given: CallAnswer, call: CallContext): PermissionReply {
  switch (given.kind) {
    case 'notAsked':
      return { ...deny(toAgent.cannotAsk(given.problem)), problem: denied.cannotAsk(call.tool, given.problem) }
    case 'unknown':
      return deny(unknownOutcome)
    case 'nobody':
      return deny(nobodyAnswered)
    case 'agent':
      return given.reason === 'withdrawn' ? deny(toAgent.withdrawn) : deny(toAgent.interrupted, true)
    case 'answer':
      // An allow is valid for one run. The agent has already taken this allow, so the call may have run even if no result is recorded.
      return given.replayed && given.answer.kind === 'allow' ? deny(unknownOutcome) : replyForAnswer(given, call)
  }
}

function replyForAnswer(given: Extract<CallAnswer, { kind: 'answer' }>, call: CallContext): PermissionReply {
  const { answer, ask, key } = given
  switch (answer.kind) {
    case 'allow':
      return replyForAllow(answer, given.input, call)
    case 'answers':
      return { result: { behavior: 'allow', updatedInput: { ...answeredInput(call.input, answer) } } }
    case 'deny':
    case 'decline': {
      const message = answer.reason || (ask.kind === 'questions' ? toAgent.declined : defaultDenyReason)
      return answer.interrupt ? { ...deny(message, true), turnEnding: 'cancelled' } : deny(message)
    }
    case 'submit':
      throw new Error(`call ${key} is a tool permission and was answered as a form`)
  }
}

function replyForAllow(
  { suggestion, mode, input: edited, note }: Extract<Answer, { readonly kind: 'allow' }>,
  approvedInput: JsonObject | null,
  { tool, input, updates, mayBypass }: CallContext,
): PermissionReply {
  const chosen = suggestion === undefined ? [] : updateForSuggestion(updates, suggestion)
  // The gateway checks the mode only for plans, because only the ask for a plan lists the available modes. The answer to any other call can name any mode.
  const bypassDenied = mode === 'bypassPermissions' && !mayBypass
  const modeUpdate: PermissionUpdate[] =
    isMode(mode) && !bypassDenied ? [{ type: 'setMode', mode, destination: 'session' }] : []
  const updatedPermissions = [...chosen, ...modeUpdate]
  const result: PermissionResult = {
    behavior: 'allow',
    // askFor added the plan to the input for the person to read. Omit the plan here, because the CLI would take it for an edit by the person.
    updatedInput: { ...(tool === planTool ? (edited ?? input) : approvedInput) },
    ...(updatedPermissions.length > 0 ? { updatedPermissions } : {}),
  }
  return {
    result,
    ...(note ? { note: toAgent.note(note) } : {}),
    ...(edited === undefined && allowsPermanently(chosen) ? { alwaysAllow: true } : {}),
    ...(bypassDenied ? { problem: settings.allowedWithoutMode(tool) } : {}),
  }
}

function deny(message: string, interrupt = false): PermissionReply {
  return { result: { behavior: 'deny', message, ...(interrupt ? { interrupt } : {}) } }
}
