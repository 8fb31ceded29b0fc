/** The approval that an agent's own code asks for: from its prompt and options to the ask, and from the answer to what the code gets. */
import {
  type Answer,
  type ApprovalAsk,
  defaultDenyReason,
  Fault,
  type FormAsk,
  type JsonObject,
  limits,
  type QuestionsAsk,
  truncateTitle,
} from '@holdpoint/protocol'
import { type HandedAnswer, nobodyAnswered, unknownOutcome } from './open-request.ts'

/** An ask in which the `cwd` of an approval is optional. If it is missing, the session's folder is used. */
export type AskDraft = (Omit<ApprovalAsk, 'cwd'> & { readonly cwd?: string | undefined }) | QuestionsAsk | FormAsk

/** The fields of an approval that the code can set. All have defaults. */
export interface ApprovalFields {
  readonly tool?: string
  readonly input?: JsonObject
  /** The action of the call, for rules and risk. By default, only a call whose input has a `command` is known, as a shell command. */
  readonly action?: ApprovalAsk['action']
  readonly cwd?: string
  readonly editable?: boolean
  readonly description?: string
  readonly plan?: string
  readonly suggestions?: ApprovalAsk['suggestions']
  readonly caution?: ApprovalAsk['caution']
}
export type Approval =
  | { readonly allowed: true; readonly input: JsonObject; readonly note?: string; readonly mode?: string }
  | {
      readonly allowed: false
      readonly reason: string
      /** The person's question, if the person asked back instead of deciding. Answer it in text, and ask again if you still need to. */
      readonly question?: string
    }

export function approvalAsk(prompt: string, fields: ApprovalFields): AskDraft {
  checkPrompt('approval', prompt)
  const short = prompt.length <= limits.titleMax
  return {
    kind: 'approval',
    tool: 'confirm',
    // The digest covers the input but not the title, so the prompt is also the default input. An `input` in `fields` replaces it.
    input: { prompt },
    editable: false,
    title: truncateTitle(prompt),
    ...(short ? {} : { description: prompt }),
    ...fields,
  }
}

export function approvalOf(handed: HandedAnswer): Approval {
  if (handed.kind !== 'answer' || handed.answer.kind !== 'allow') {
    const question = questionIn(handed)
    return { allowed: false, reason: reasonNotGranted(handed), ...(question === undefined ? {} : { question }) }
  }
  const { note, mode } = handed.answer
  return {
    allowed: true,
    input: handed.input ?? {},
    ...(note === undefined ? {} : { note }),
    ...(mode === undefined ? {} : { mode }),
  }
}

/** Returns why the agent did not get the answer that it asked for. */
export function reasonNotGranted(handed: HandedAnswer): string {
  switch (handed.kind) {
    case 'nobody':
      return nobodyAnswered
    case 'unknown':
      return unknownOutcome
    case 'agent':
      return `The request ended without an answer (${handed.reason}).`
    case 'answer':
      return reasonOf(handed.answer) ?? handed.request.resolution?.reason ?? defaultDenyReason
  }
}
function reasonOf(answer: Answer): string | undefined {
  return answer.kind === 'deny' || answer.kind === 'decline' ? answer.reason : undefined
}
/** Returns what the person asked back, in the person's own words. */
function questionIn({ kind, request }: HandedAnswer): string | undefined {
  const answer = kind === 'answer' ? request.resolution?.answer : undefined
  return answer?.kind === 'deny' && answer.askBack ? answer.reason : undefined
}

export function inputFault(what: string, path: string, message: string): Fault {
  return new Fault('bad_input', `${what} is not valid: ${path}: ${message}`, { issues: [{ path, message }] })
}
export function checkPrompt(what: string, prompt: unknown): void {
  if (typeof prompt !== 'string') throw inputFault(what, 'prompt', 'must be a string')
  if (prompt.trim() === '') throw inputFault(what, 'prompt', 'must not be empty')
}
