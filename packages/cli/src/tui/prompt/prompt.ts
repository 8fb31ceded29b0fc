/** A request as it is put to a person: pure state, moved by keys, until there is an answer that fits. */
import { Answer, answerProblem, type Request } from '@holdpoint/protocol'
import { type ApprovalState, openApproval, pressApproval } from './approval.ts'
import { type FormState, openForm, pressForm } from './form.ts'
import type { PromptInput, PromptStep } from './prompt-step.ts'
import { openQuestions, pressQuestions, type QuestionsState } from './questions.ts'

export type PromptState = ApprovalState | QuestionsState | FormState
export interface Prompt {
  readonly request: Request
  /** Those a plan may be approved into. */
  readonly modes: readonly string[]
  readonly part: PromptState
  readonly hint: string | null
  /** The first line of its body on the screen. */
  readonly top: number
  /** How far down its body has been on the screen without a gap, laid out so. */
  readonly seen: Seen
  /** Whether all of its body has been. */
  readonly shown: boolean
  /** How much of the choice that stands in the list has been. */
  readonly read: Read | null
  /** Whether the body follows what is chosen in it. */
  readonly follows: boolean
}
interface Seen {
  readonly columns: number
  readonly lines: number
  readonly to: number
}
interface Read {
  readonly columns: number
  readonly at: number
  readonly from: number
  readonly to: number
  readonly whole: boolean
}
/** What of the body is on the screen. No line of it, where the screen is too small. */
export interface View {
  readonly columns: number
  readonly lines: number
  readonly height: number
  readonly top: number
  /** The lines of a choice that is taken by its row, and which one it is. */
  readonly chosen?: { readonly at: number; readonly from: number; readonly to: number }
}
export interface Turn {
  readonly prompt: Prompt
  readonly answer?: Answer
  readonly edit?: string
}

export function openPrompt(request: Request, modes: readonly string[]): Prompt {
  const { ask } = request
  const part = ask.kind === 'approval' ? openApproval() : ask.kind === 'questions' ? openQuestions(ask) : openForm(ask)
  const open = ask.kind === 'approval' ? (ask.modes ?? modes) : modes
  return { request, modes: open, part, hint: null, top: 0, seen: unseen, shown: false, read: null, follows: true }
}
const unseen: Seen = { columns: 0, lines: 0, to: 0 }

/** This has been on the screen. Lines that were jumped over have not, and in another width they are other lines. */
export function sawPrompt(prompt: Prompt, view: View): Prompt {
  const { columns, lines, height, top } = view
  if (height === 0) return prompt
  const { seen } = prompt
  const before = seen.columns === columns && seen.lines === lines ? seen.to : 0
  const to = top <= before ? Math.max(before, top + height) : before
  return {
    ...prompt,
    top,
    seen: { columns, lines, to },
    shown: prompt.shown || to >= lines,
    read: readOf(prompt, view),
  }
}
function readOf({ read }: Prompt, { columns, height, top, chosen }: View): Read | null {
  if (!chosen) return null
  const { at, from } = chosen
  const before = read?.at === at && read.from === from && read.columns === columns ? read.to : from
  const to = top <= before ? Math.max(before, Math.min(chosen.to, top + height)) : before
  return { columns, at, from, to, whole: to >= chosen.to }
}

export function pressPrompt(before: Prompt, press: PromptInput, view: View): Turn {
  // Nobody answers what is not there to be read.
  if (view.height === 0 && press.name !== 'edited') return { prompt: before }
  const prompt: Prompt = { ...before, hint: null, top: view.top }
  const step = stepOf(prompt, press)
  const follows = prompt.follows || step.part !== prompt.part
  const next: Prompt = { ...prompt, part: step.part, hint: step.hint ?? null, follows }
  if (step.unused) return { prompt: paged(prompt, press, view) ?? { ...prompt, hint: unknownKey(prompt) } }
  if (step.edit !== undefined) return { prompt: next, edit: step.edit }
  if (step.answer) {
    const wrong = problemOf(prompt.request, step.answer)
    return wrong ? { prompt: { ...next, hint: wrong } } : { prompt: next, answer: step.answer }
  }
  // Changed by hand, it is another text: its end has yet to be shown.
  const anew = isEdited(prompt.part) !== isEdited(step.part)
  return { prompt: anew ? { ...next, top: 0, seen: unseen, shown: false } : next }
}

function stepOf({ part, request: { ask }, modes, shown, read }: Prompt, press: PromptInput): PromptStep<PromptState> {
  const around = { shown, modes, read: read?.whole ? read.at : null }
  if (part.kind === 'approval' && ask.kind === 'approval') return pressApproval(part, ask, press, around)
  if (part.kind === 'questions' && ask.kind === 'questions') return pressQuestions(part, ask, press)
  if (part.kind === 'form' && ask.kind === 'form') return pressForm(part, ask, press)
  return { part, unused: true }
}

function isEdited(part: PromptState): unknown {
  return part.kind === 'approval' ? part.input : null
}

/** Whether Escape or the left arrow means nothing within it: then it leaves the prompt as it is. */
export function leavesBy({ part, request: { ask } }: Prompt, key: 'escape' | 'left'): boolean {
  if (part.kind === 'approval') return part.stage === 'decide'
  if (part.kind === 'form') {
    const typed = part.fields[part.at]?.choices === null
    return part.at === 0 && !part.rejects && !(key === 'left' && typed)
  }
  if (part.stage === 'choose') return key === 'escape' || part.at === 0
  if (part.stage === 'reason' || key === 'left') return false
  const options = ask.kind === 'questions' ? (ask.questions[part.at]?.options.length ?? 0) : 0
  return options === 0 && part.at === 0
}

/** The gateway would refuse it just so: nothing is sent that does not fit. */
function problemOf({ ask }: Request, answer: Answer): string | null {
  const parsed = Answer.safeParse(answer)
  if (!parsed.success) return `This cannot be sent: ${parsed.error.issues[0]?.message ?? 'it is not valid'}.`
  const wrong = answerProblem(ask, answer)
  return wrong && `This does not fit: ${wrong}.`
}

function paged(prompt: Prompt, press: PromptInput, { lines, height, top }: View): Prompt | null {
  const last = Math.max(0, lines - height)
  const page = Math.max(1, height - 1)
  // More of it is what has not been shown yet, wherever the person has jumped to.
  const more = prompt.shown ? top + page : Math.min(top + page, prompt.seen.to - (height - page))
  const to = (place: number): Prompt => ({ ...prompt, top: Math.min(last, Math.max(0, place)), follows: false })
  switch (press.name) {
    case 'down':
      return to(top + 1)
    case 'up':
      return to(top - 1)
    case 'pagedown':
      return to(more)
    case 'pageup':
      return to(top - page)
    case 'home':
      return to(0)
    case 'end':
      return to(last)
    case 'text':
      if (press.text === ' ') return to(more)
      return press.text === 'b' ? to(top - page) : null
    default:
      return null
  }
}

function unknownKey({ part, request: { ask } }: Prompt): string {
  if (part.kind === 'approval')
    return part.stage === 'decide'
      ? `Press a to ${ask.kind === 'approval' && ask.plan !== undefined ? 'approve' : 'allow'} or r to reject.`
      : 'Enter takes it, Esc goes back.'
  return part.kind === 'questions' ? 'Choose by number or with the arrows, then Enter.' : 'Fill it in, then Enter.'
}
