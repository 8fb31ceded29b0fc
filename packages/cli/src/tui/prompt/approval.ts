/** Handles the keys of an approval. A single keypress allows a request only if all of it has been on the screen and it is not dangerous. */
import { type AnswerChoices, applyEdit, editableOf, effectiveAsk, ruleDurations } from '@holdpoint/client'
import type { Answer, ApprovalAsk, Comment, JsonObject, Request, Risk, RuleDraft } from '@holdpoint/protocol'
import { type RuleOffer, type RuleOffers, withDuration } from '../../gateway-client/rule-offers.ts'
import { suggestionsOf } from '../../output/request.ts'
import { type ApprovalInput, handleLineKey, type KeyResult, type PromptInput, singleKeypress } from './key-result.ts'
import { emptySelection, handleSelectionKey, type ListSelection } from './list-selection.ts'
import { emptyTextInput, type TextInput, textInputWith } from './text-input.ts'
import { confirmWord, approvalTexts as texts } from './texts.ts'

export interface ApprovalState {
  readonly kind: 'approval'
  /** The current meaning of the keys: `decide` takes single letters; `note`, `reason`, `question` and `confirm` type into `line`; `mode`, `always` and `duration` move in `selection`. */
  readonly step: 'decide' | 'note' | 'reason' | 'question' | 'confirm' | 'mode' | 'always' | 'duration'
  readonly line: TextInput
  readonly selection: ListSelection
  readonly note: string
  /** The unsent text of a reason for denying the request. */
  readonly reason: string
  /** The unsent question that the person asks back. */
  readonly question: string
  /** Comments on lines that the person has written on the page. They go with the answer. */
  readonly comments: readonly Comment[]
  /** The text to open in the editor; null for the request's own text. */
  readonly edit: string | null
  /** The tool input after the person's edit; null without an edit. */
  readonly input: JsonObject | null
  /** The risk of the edited input; null without an edit, and until the gateway has replied. */
  readonly editedRisk: Risk | null
  readonly mode: string | null
  /** The id of the suggestion that is sent with the allow, so that the agent does not ask again. */
  readonly suggestion: string | null
  /** The rules that the gateway offers; null until they are loaded. */
  readonly offers: RuleOffers | null
  /** The rule that the person has chosen. Its duration is chosen next. */
  readonly offer: RuleOffer | null
  /** The rule that is added with the allow. */
  readonly remember: RuleDraft | null
}
export interface ApprovalContext {
  readonly session: Request['session']
  readonly isDangerous: boolean
  /** Whether the whole request has been on the screen. */
  readonly isFullyShown: boolean
  /** The permission modes in which the session can continue after a plan is approved. */
  readonly modes: readonly string[]
  readonly offered: AnswerChoices
  /** The index of the selected list item if all of the item has been on the screen; otherwise null. */
  readonly shownChoice: number | null
}

export const keepMode = texts.currentMode

const undecided = {
  step: 'decide',
  line: emptyTextInput,
  selection: emptySelection,
  mode: null,
  suggestion: null,
  offers: null,
  offer: null,
  remember: null,
} as const

export function openApproval(): ApprovalState {
  const texts = { note: '', reason: '', question: '', comments: [] }
  return { kind: 'approval', ...texts, edit: null, input: null, editedRisk: null, ...undecided }
}

/** Returns whether the gateway has not said yet what the edited input touches. */
export function isCheckingRisk({ input, editedRisk }: ApprovalState): boolean {
  return input !== null && editedRisk === null
}

/** Returns the ask with the person's edited input applied. */
export function editedAsk(ask: ApprovalAsk, { input }: ApprovalState): ApprovalAsk {
  return effectiveAsk(ask, input)
}

export function handleApprovalKey(
  state: ApprovalState,
  ask: ApprovalAsk,
  input: ApprovalInput,
  context: ApprovalContext,
): KeyResult<ApprovalState> {
  if (input.name === 'risk')
    return { state: state.input === input.input ? { ...state, editedRisk: input.risk } : state }
  if (input.name === 'offers') return state.step === 'always' ? showOffers(state, ask, input.offers) : { state }
  switch (state.step) {
    case 'decide':
      return decide(state, ask, input, context)
    case 'mode':
      return chooseMode(state, ask, input, context)
    case 'always':
      return chooseRule(state, ask, input, context)
    case 'duration':
      return chooseDuration(state, ask, input, context)
    case 'note':
    case 'reason':
    case 'question':
    case 'confirm':
      return type(state, ask, input, context)
  }
}

function decide(
  state: ApprovalState,
  ask: ApprovalAsk,
  input: PromptInput,
  context: ApprovalContext,
): KeyResult<ApprovalState> {
  if (input.name === 'edited') return applyEditorText(state, ask, input.text)
  switch (singleKeypress(input)) {
    case 'a':
    case '1':
      return allow(state, ask, context)
    case 'r':
    case '2':
      return { state, answer: denyWith(state, state.note) }
    case 'x':
      return { state, answer: { ...denyWith(state, state.note), interrupt: true } }
    case 'd':
    case 'R':
      return { state: { ...state, step: 'reason', line: textInputWith(state.reason) } }
    case 'w':
      if (!context.offered.askBack) return { state, ignored: true }
      return { state: { ...state, step: 'question', line: textInputWith(state.question) } }
    case 'n':
      if (!context.offered.note) return { state, ignored: true }
      return { state: { ...state, step: 'note', line: textInputWith(state.note) } }
    case 's':
      return openAlways(state, ask, context)
    case 'e':
      if (!ask.editable || !context.offered.edit) return { state, hint: texts.notEditable }
      return { state, edit: state.edit ?? editableOf(ask).text }
    default:
      return { state, ignored: true }
  }
}

/** Returns a denial with the comments that the person has written. */
function denyWith({ comments }: ApprovalState, reason: string): Extract<Answer, { kind: 'deny' }> {
  return { kind: 'deny', ...(reason && { reason }), ...(comments.length > 0 && { comments: [...comments] }) }
}

/** Opens the list of rules. The rules that Holdpoint offers are for the request as it is, so an edited request has only the suggestions of the agent. */
function openAlways(state: ApprovalState, ask: ApprovalAsk, context: ApprovalContext): KeyResult<ApprovalState> {
  if (ask.caution?.noRemember) return { state, hint: texts.mayNotRemember }
  if (!context.isFullyShown) return { state, hint: texts.notFullyShown }
  const always: ApprovalState = { ...state, ...undecided, step: 'always' }
  if (!state.input) return { state: always, loadsOffers: true }
  if (suggestionsOf(ask).length === 0) return { state, hint: texts.nothingToRemember }
  return { state: { ...always, offers: { items: [], reason: '', now: 0 } } }
}

/** Allows the request, unless the person must first see more of the request, choose a mode, or confirm by typing. */
function allow(
  state: ApprovalState,
  ask: ApprovalAsk,
  { isFullyShown, modes, isDangerous, offered }: ApprovalContext,
): KeyResult<ApprovalState> {
  if (!isFullyShown) return { state, hint: texts.notFullyShown }
  if (isCheckingRisk(state)) return { state, hint: texts.stillChecking }
  if (ask.plan !== undefined && modes.length > 0 && state.mode === null)
    return { state: { ...state, step: 'mode', selection: emptySelection } }
  if (isDangerous && state.step !== 'confirm') return { state: { ...state, step: 'confirm', line: emptyTextInput } }
  const { input, note, comments, mode, suggestion, remember } = state
  return {
    state,
    answer: {
      kind: 'allow',
      ...(input && { input }),
      ...(note && { note }),
      ...(comments.length > 0 && offered.note && { comments: [...comments] }),
      ...(mode !== null && mode !== keepMode && { mode }),
      ...(suggestion !== null && { suggestion }),
      ...(remember !== null && { remember }),
    },
  }
}

function chooseMode(
  state: ApprovalState,
  ask: ApprovalAsk,
  input: PromptInput,
  context: ApprovalContext,
): KeyResult<ApprovalState> {
  const modes = [keepMode, ...context.modes]
  return choose(state, input, { choices: modes, ...context }, mode =>
    allow({ ...state, mode, step: 'decide' }, ask, context),
  )
}
/** Fills the list of rules, or closes it if there is nothing to choose. */
function showOffers(state: ApprovalState, ask: ApprovalAsk, offers: RuleOffers): KeyResult<ApprovalState> {
  if (offers.items.length + suggestionsOf(ask).length > 0) return { state: { ...state, offers } }
  return { state: { ...state, ...undecided }, hint: texts.noRules(offers.reason) }
}

/** Handles a key in the list of rules: first those that Holdpoint offers, then the suggestions of the agent. */
function chooseRule(
  state: ApprovalState,
  ask: ApprovalAsk,
  input: PromptInput,
  context: ApprovalContext,
): KeyResult<ApprovalState> {
  if (!state.offers) return input.name === 'escape' ? { state: { ...state, ...undecided } } : { state, ignored: true }
  const choices = [...state.offers.items, ...suggestionsOf(ask)]
  return choose(state, input, { choices, ...context }, choice =>
    'rule' in choice
      ? { state: { ...state, step: 'duration', offer: choice, selection: emptySelection } }
      : allow({ ...state, suggestion: choice.id, step: 'decide' }, ask, context),
  )
}

function chooseDuration(
  state: ApprovalState,
  ask: ApprovalAsk,
  input: PromptInput,
  context: ApprovalContext,
): KeyResult<ApprovalState> {
  const { offer, offers } = state
  if (!offer || !offers) return { state: { ...state, ...undecided } }
  return choose(state, input, { choices: ruleDurations, ...context }, ({ name }) => {
    const remember = withDuration(offer.rule, name, { session: context.session, now: offers.now })
    return allow({ ...state, remember, step: 'decide' }, ask, context)
  })
}

/** Handles a key in a list. Enter may allow the request there, so an Enter that did not arrive alone is ignored. */
function choose<T>(
  state: ApprovalState,
  input: PromptInput,
  { choices, shownChoice }: { readonly choices: readonly T[]; readonly shownChoice: number | null },
  confirm: (choice: T) => KeyResult<ApprovalState>,
): KeyResult<ApprovalState> {
  if (input.name === 'escape') return { state: { ...state, ...undecided } }
  if (input.name === 'enter' && input.alone) {
    const { cursor } = state.selection
    const choice = choices[cursor]
    if (choice === undefined) return { state, hint: texts.chooseOne }
    return shownChoice === cursor ? confirm(choice) : { state, hint: texts.choiceNotFullyShown }
  }
  if (input.name === 'edited') return { state, ignored: true }
  const selection = handleSelectionKey(state.selection, input, { count: choices.length, isMultiple: false })
  return selection ? { state: { ...state, selection } } : { state, ignored: true }
}

function type(
  state: ApprovalState,
  ask: ApprovalAsk,
  input: PromptInput,
  context: ApprovalContext,
): KeyResult<ApprovalState> {
  const typed = handleLineKey(state.line, input)
  if (!typed) return { state, ignored: true }
  if ('line' in typed) return { state: { ...state, line: typed.line } }
  const back: ApprovalState = { ...state, ...undecided }
  if ('cancelled' in typed) {
    const { step, line } = state
    return { state: step === 'reason' || step === 'question' ? { ...back, [step]: line.text } : back }
  }
  if (state.step === 'note') return { state: { ...back, note: typed.submitted } }
  if (state.step === 'reason') {
    if (typed.submitted === '') return { state, hint: texts.reasonMissing }
    return { state, answer: denyWith(state, typed.submitted) }
  }
  if (state.step === 'question') {
    if (typed.submitted === '') return { state, hint: texts.questionMissing }
    return { state, answer: { ...denyWith(state, typed.submitted), askBack: true } }
  }
  if (typed.submitted !== confirmWord) return { state: { ...state, line: emptyTextInput }, hint: texts.wrongWord }
  return allow(state, ask, context)
}

function applyEditorText(state: ApprovalState, ask: ApprovalAsk, text: string): KeyResult<ApprovalState> {
  const editable = editableOf(ask)
  // Most editors end a file with a line feed that nobody typed, so the last line feed is removed unless the original text ends with one.
  const trimmed = editable.text.endsWith('\n') ? text : text.replace(/\n$/, '')
  if (trimmed === editable.text)
    return { state: { ...state, input: null, editedRisk: null, edit: null }, hint: texts.unchanged }
  const edited = applyEdit(ask, editable, trimmed)
  if ('problem' in edited) return { state: { ...state, edit: trimmed }, hint: texts.badEdit(edited.problem) }
  return { state: { ...state, input: edited.input, editedRisk: null, edit: trimmed }, checksInput: edited.input }
}

/** Returns the edit that was started on another device, or null if there is none or its text equals the request's own text. */
export function pendingEdit(ask: ApprovalAsk, edit: string | undefined): string | null {
  return edit === undefined || edit === editableOf(ask).text ? null : edit
}
