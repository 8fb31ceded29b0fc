/** The state of the prompt for one request: keys change the state until they produce a valid answer. Also tracks how much of the request has been on the screen. */
import { type AnswerChoices, answerChoices, isDangerous, unknownRisk } from '@holdpoint/client'
import { Answer, answerProblem, type Capability, type JsonObject, type Request } from '@holdpoint/protocol'
import { type ApprovalState, handleApprovalKey, openApproval } from './approval.ts'
import { type FormState, handleFormKey, openForm } from './form.ts'
import type { ApprovalInput, KeyResult } from './key-result.ts'
import { handleQuestionsKey, openQuestions, type QuestionsState } from './questions.ts'
import { promptTexts } from './texts.ts'

export type PromptState = ApprovalState | QuestionsState | FormState
export interface Prompt {
  readonly request: Request
  /** The permission modes in which the session can continue after a plan is approved. */
  readonly modes: readonly string[]
  /** The kinds of answers that the agent supports. */
  readonly offered: AnswerChoices
  readonly state: PromptState
  readonly hint: string | null
  /** The first visible line of the body. */
  readonly top: number
  /** The body lines before `to` have all been on the screen, in a layout with this many `columns` and `lines`. */
  readonly shownRange: ShownRange
  /** Whether the whole body has been on the screen. */
  readonly isFullyShown: boolean
  /** How much of the selected list item has been on the screen. */
  readonly shownChoice: ShownChoice | null
  /** Whether the body scrolls to keep the selected list item visible. */
  readonly followsCursor: boolean
}
interface ShownRange {
  readonly columns: number
  readonly lines: number
  readonly to: number
}
interface ShownChoice {
  readonly columns: number
  readonly index: number
  readonly from: number
  readonly to: number
  readonly isFullyShown: boolean
}
/** The lines of the body that are on the screen. `height` is 0 if the screen is too small. */
export interface BodyView {
  readonly columns: number
  readonly lines: number
  readonly height: number
  readonly top: number
  /** The index of the selected list item, or -1 if none is selected. The focused row takes up the body lines from `from` to before `to`. */
  readonly chosen?: { readonly index: number; readonly from: number; readonly to: number }
}
export interface PromptKeyResult {
  readonly prompt: Prompt
  readonly answer?: Answer
  readonly edit?: string
  readonly loadsOffers?: true
  readonly checksInput?: JsonObject
  /** Set if the key has no action here, or the request is not visible. */
  readonly ignored?: true
}

export function openPrompt(request: Request, modes: readonly string[], capabilities?: readonly Capability[]): Prompt {
  const { ask } = request
  const state = ask.kind === 'approval' ? openApproval() : ask.kind === 'questions' ? openQuestions(ask) : openForm(ask)
  const open = ask.kind === 'approval' ? (ask.modes ?? modes) : modes
  return {
    request,
    modes: open,
    offered: answerChoices(capabilities),
    state,
    hint: null,
    top: 0,
    shownRange: nothingShown,
    isFullyShown: false,
    shownChoice: null,
    followsCursor: true,
  }
}
const nothingShown: ShownRange = { columns: 0, lines: 0, to: 0 }

/** Records that the lines of `view` have been on the screen. Lines after a gap do not count, and a change of the width or of the number of lines starts the count again. */
export function markShown(prompt: Prompt, view: BodyView): Prompt {
  const { columns, lines, height, top } = view
  if (height === 0) return prompt
  const { shownRange } = prompt
  const before = shownRange.columns === columns && shownRange.lines === lines ? shownRange.to : 0
  const to = top <= before ? Math.max(before, top + height) : before
  return {
    ...prompt,
    top,
    shownRange: { columns, lines, to },
    isFullyShown: prompt.isFullyShown || to >= lines,
    shownChoice: choiceShownIn(prompt, view),
  }
}
function choiceShownIn({ shownChoice }: Prompt, { columns, height, top, chosen }: BodyView): ShownChoice | null {
  if (!chosen) return null
  const { index, from } = chosen
  const before =
    shownChoice?.index === index && shownChoice.from === from && shownChoice.columns === columns ? shownChoice.to : from
  const to = top <= before ? Math.max(before, Math.min(chosen.to, top + height)) : before
  return { columns, index, from, to, isFullyShown: to >= chosen.to }
}

/** Inputs that are not keys. They arrive after a key has asked for them. */
const replies: ReadonlySet<string> = new Set<ApprovalInput['name']>(['edited', 'offers', 'risk'])

export function handlePromptKey(before: Prompt, input: ApprovalInput, view: BodyView): PromptKeyResult {
  // A request that is not visible cannot be answered.
  if (view.height === 0 && !replies.has(input.name)) return { prompt: before, ignored: true }
  const prompt: Prompt = { ...before, hint: null, top: view.top }
  const result = withoutUselessStop(prompt, handleStateKey(prompt, input))
  const followsCursor = prompt.followsCursor || result.state !== prompt.state
  const next: Prompt = { ...prompt, state: result.state, hint: result.hint ?? null, followsCursor }
  if (result.ignored) {
    const moved = scrolled(prompt, input, view)
    return moved ? { prompt: moved } : { prompt: { ...prompt, hint: unknownKeyHint(prompt) }, ignored: true }
  }
  if (result.edit !== undefined) return { prompt: next, edit: result.edit }
  if (result.loadsOffers) return { prompt: next, loadsOffers: true }
  if (result.answer) {
    const problem = answerError(prompt.request, result.answer)
    return problem ? { prompt: { ...next, hint: problem } } : { prompt: next, answer: result.answer }
  }
  // An edit changes the body, so the person must see the whole body again before allowing the request.
  const hasNewText = editedInput(prompt.state) !== editedInput(result.state)
  const shown = hasNewText ? { ...next, top: 0, shownRange: nothingShown, isFullyShown: false } : next
  return { prompt: shown, ...(result.checksInput && { checksInput: result.checksInput }) }
}

/** Returns whether the request, with the person's edit if there is one, needs more than one key. */
export function isPromptDangerous({ request, state }: Pick<Prompt, 'request' | 'state'>): boolean {
  if (state.kind !== 'approval' || !state.input) return isDangerous(request)
  return isDangerous({ ...request, risk: state.editedRisk ?? unknownRisk })
}

/** Ignores a key that would stop the turn if the agent cannot be stopped, or stops after every denial. */
function withoutUselessStop({ state, offered }: Prompt, result: KeyResult<PromptState>): KeyResult<PromptState> {
  const { answer } = result
  const kind = answer?.kind === 'deny' || answer?.kind === 'decline' ? answer.kind : null
  const isStop = kind !== null && answer !== undefined && 'interrupt' in answer && answer.interrupt === true
  return isStop && !offered.stop[kind] ? { state, ignored: true } : result
}

function handleStateKey(prompt: Prompt, input: ApprovalInput): KeyResult<PromptState> {
  const { state, request, modes, offered, isFullyShown, shownChoice } = prompt
  const { ask, session } = request
  if (state.kind === 'approval' && ask.kind === 'approval')
    return handleApprovalKey(state, ask, input, {
      session,
      isDangerous: isPromptDangerous(prompt),
      isFullyShown,
      modes,
      offered,
      shownChoice: shownChoice?.isFullyShown ? shownChoice.index : null,
    })
  // Only approvals ask for rules and risks.
  if (input.name === 'offers' || input.name === 'risk') return { state, ignored: true }
  if (state.kind === 'questions' && ask.kind === 'questions')
    return handleQuestionsKey(state, ask, input, prompt.offered)
  if (state.kind === 'form' && ask.kind === 'form') return handleFormKey(state, ask, input)
  return { state, ignored: true }
}

function editedInput(state: PromptState): unknown {
  return state.kind === 'approval' ? state.input : null
}

/** Returns whether Escape or the left arrow leaves the prompt, because the key has no other meaning in the current state. */
export function isLeaveKey({ state, request: { ask } }: Prompt, key: 'escape' | 'left'): boolean {
  if (state.kind === 'approval') return state.step === 'decide'
  if (state.kind === 'form') {
    const typed = state.fields[state.index]?.choices === null
    return state.index === 0 && !state.isDeclining && !state.asksAboutLetter && !(key === 'left' && typed)
  }
  if (state.step === 'choose') return key === 'escape' || state.index === 0
  if (state.step !== 'other' || key === 'left') return false
  const options = ask.kind === 'questions' ? (ask.questions[state.index]?.options.length ?? 0) : 0
  return options === 0 && state.index === 0
}

/** Checks the answer as the gateway would, so that no invalid answer is sent. */
function answerError({ ask }: Request, answer: Answer): string | null {
  const parsed = Answer.safeParse(answer)
  if (!parsed.success) return promptTexts.invalid(parsed.error.issues[0]?.message ?? 'it is not valid')
  const problem = answerProblem(ask, answer)
  return problem && promptTexts.invalid(problem)
}

function scrolled(prompt: Prompt, input: ApprovalInput, { lines, height, top }: BodyView): Prompt | null {
  const last = Math.max(0, lines - height)
  const page = Math.max(1, height - 1)
  // Paging down never skips lines that have not been shown: after a jump to the end, it continues where the shown lines end.
  const more = prompt.isFullyShown ? top + page : Math.min(top + page, prompt.shownRange.to - (height - page))
  const to = (line: number): Prompt => ({ ...prompt, top: Math.min(last, Math.max(0, line)), followsCursor: false })
  switch (input.name) {
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
      if (input.text === ' ') return to(more)
      return input.text === 'b' ? to(top - page) : null
    default:
      return null
  }
}

function unknownKeyHint({ state, request: { ask } }: Prompt): string {
  if (state.kind === 'approval')
    return state.step === 'decide'
      ? promptTexts.pressAllow(ask.kind === 'approval' && ask.plan !== undefined ? 'approve' : 'allow')
      : promptTexts.enterOrEscape
  const isAboutLetter = state.kind === 'questions' ? state.step === 'letter' : state.asksAboutLetter
  if (isAboutLetter) return promptTexts.letterOrDecline
  return state.kind === 'questions' ? promptTexts.chooseOption : promptTexts.fillIn
}
