/** A tool permission in our words and back: what a person is shown of it, and what the CLI is told of their answer. */
import { readFileSync } from 'node:fs'
import type { CanUseTool, PermissionResult, PermissionUpdate } from '@anthropic-ai/claude-agent-sdk'
import { type Answer, type Ask, defaultDenyReason, type JsonObject, limits } from '@holdpoint/protocol'
import { type HandedAnswer, nobodyAnswered, unknownOutcome } from '../../session/open-request.ts'
import { availableModes, isMode, modes, noBypass } from './modes.ts'
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

/** Whether the CLI asks for every call of this tool in this mode, whatever else it finds: only then may it be asked before the CLI does. */
export function isAlwaysAsked(tool: string, mode: string): boolean {
  if (!isMode(mode)) return false
  if (tool === planTool) return modes[mode].leave === 'asks'
  return tool === questionTool && modes[mode].question === 'asks'
}

export function askFor({ tool, input, context, cwd }: Permission, mayBypass: boolean): Ask {
  if (tool === questionTool) return questionsAsk(input)
  const plan = tool === planTool ? planOf(input) : null
  const { title, description, decisionReason: reason, blockedPath, defaultToNo, suppressAlwaysAllowRule } = context
  const caution = {
    ...(defaultToNo ? { defaultToNo } : {}),
    ...(suppressAlwaysAllowRule ? { noRemember: true } : {}),
    ...(reason ? { reason: reason.slice(0, limits.reasonMax) } : {}),
    ...(blockedPath ? { blockedPath: blockedPath.slice(0, limits.pathMax) } : {}),
  }
  const suggestions = suggestionsOf(context)
  return {
    kind: 'approval',
    tool,
    input: plan === null ? input : { ...input, plan },
    title: clip(title ?? `${context.displayName ?? tool}: ${subjectOf(tool, input, plan)}`),
    ...(description ? { description: description.slice(0, limits.reasonMax) } : {}),
    cwd,
    editable: true,
    ...(plan === null ? {} : { plan: plan.slice(0, limits.textMax), modes: [...availableModes(mayBypass)] }),
    ...(suggestions.length > 0 ? { suggestions } : {}),
    ...(Object.keys(caution).length > 0 ? { caution } : {}),
  }
}

/** What the call is about, in a line. */
function subjectOf(tool: string, input: JsonObject, plan: string | null): string {
  if (tool === planTool && plan === null) return 'no plan was written down'
  const named = plan ?? input.command ?? input.file_path ?? input.url ?? input.path ?? input.description
  return typeof named === 'string' ? (named.trim().split('\n')[0] ?? '') : JSON.stringify(input)
}
function clip(title: string): string {
  return title.length > limits.titleMax ? `${title.slice(0, limits.titleMax - 1)}…` : title
}

/** The plan is in the call, or in the file that the call names; null where there is none. */
function planOf({ plan, planFilePath }: JsonObject): string | null {
  if (typeof plan === 'string' && plan.trim() !== '') return plan
  if (typeof planFilePath !== 'string') return null
  try {
    const written = readFileSync(planFilePath, 'utf8')
    return written.trim() === '' ? null : written
  } catch {
    return null
  }
}

/** What the CLI is told, and what the agent is to read beside the result of its call. */
export interface PermissionReply {
  readonly result: PermissionResult
  readonly note?: string
  /** The turn ends by this. */
  readonly stops?: 'cancelled' | 'interrupted'
  /** This very call is not to be asked for any more. */
  readonly fromNowOn?: boolean
  /** What of the answer could not be carried out, for a person to read. */
  readonly trouble?: string
}

/** What belongs to the call beside its request: its input as the CLI gave it, and what the CLI offered with it. */
export interface CallContext {
  readonly tool: string
  readonly input: JsonObject
  readonly updates: readonly PermissionUpdate[]
  /** Whether the process was started so that bypassPermissions can be entered. */
  readonly mayBypass: boolean
}

export function replyFor(settled: HandedAnswer, given: CallContext): PermissionReply {
  switch (settled.kind) {
    case 'unknown':
      return refuse(unknownOutcome)
    case 'nobody':
      return refuse(nobodyAnswered)
    case 'agent':
      return settled.reason === 'withdrawn'
        ? refuse('This is no longer asked.')
        : { ...refuse('The person interrupted this.', true), stops: 'interrupted' }
    case 'answer':
      // It was allowed and the agent went on with it once; that nothing shows its result now does not make it allowed again.
      return settled.replayed && settled.answer.kind === 'allow' ? refuse(unknownOutcome) : answered(settled, given)
  }
}

function answered(settled: Extract<HandedAnswer, { kind: 'answer' }>, given: CallContext): PermissionReply {
  const { answer, request } = settled
  switch (answer.kind) {
    case 'allow':
      return allowed(answer, settled.input, given)
    case 'answers':
      return { result: { behavior: 'allow', updatedInput: { ...answeredInput(given.input, answer) } } }
    case 'deny':
    case 'decline': {
      const said = refuse(
        answer.reason || (request.ask.kind === 'questions' ? 'A person declined to answer.' : defaultDenyReason),
      )
      return answer.interrupt ? { ...refuse(said.result.message, true), stops: 'cancelled' } : said
    }
    case 'submit':
      throw new Error(`request ${request.id} asks for permission and was answered as a form`)
  }
}

function allowed(
  { suggestion, mode, input: edited, note }: Extract<Answer, { readonly kind: 'allow' }>,
  approved: JsonObject | null,
  { tool, input, updates, mayBypass }: CallContext,
): PermissionReply {
  const chosen = suggestion === undefined ? [] : updateForSuggestion(updates, suggestion)
  // A plan names the modes that it can be approved into; what names none may still be answered with one.
  const closed = mode === 'bypassPermissions' && !mayBypass
  const into: PermissionUpdate[] = isMode(mode) && !closed ? [{ type: 'setMode', mode, destination: 'session' }] : []
  const updatedPermissions = [...chosen, ...into]
  const result: PermissionResult = {
    behavior: 'allow',
    // The plan that we put into the ask for a person to read would look like an edit of theirs.
    updatedInput: { ...(tool === planTool ? (edited ?? input) : approved) },
    ...(updatedPermissions.length > 0 ? { updatedPermissions } : {}),
  }
  return {
    result,
    ...(note ? { note: `The person who allowed this adds: ${note}` } : {}),
    ...(edited === undefined && allowsPermanently(chosen) ? { fromNowOn: true } : {}),
    ...(closed ? { trouble: `${tool} was allowed, but not into that mode: ${noBypass}` } : {}),
  }
}

function refuse(
  message: string,
  interrupt = false,
): PermissionReply & { result: { behavior: 'deny'; message: string } } {
  return { result: { behavior: 'deny', message, ...(interrupt ? { interrupt } : {}) } }
}
