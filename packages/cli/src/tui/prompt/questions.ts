/** Handles the keys of questions. A question is answered with options from a list, with typed text, or with both. */
import type { AnswerChoices } from '@holdpoint/client'
import type { Answer, Question, QuestionAnswer, QuestionsAsk } from '@holdpoint/protocol'
import { handleLineKey, type KeyResult, type PromptInput, singleKeypress } from './key-result.ts'
import { emptySelection, handleSelectionKey, type ListSelection } from './list-selection.ts'
import { emptyTextInput, submittedText, type TextInput, textInputWith } from './text-input.ts'
import { questionTexts as texts } from './texts.ts'

export interface QuestionState {
  readonly selection: ListSelection
  readonly line: TextInput
  /** The answer that the person typed instead of an option, or in addition to marked options. */
  readonly other: string
  readonly skipped: boolean
  /** Whether `line` came from the editor or from a draft. Such text is always an answer, never a command such as /decline. */
  readonly isFromEditor: boolean
}
export interface QuestionsState {
  readonly kind: 'questions'
  readonly index: number
  readonly entries: readonly QuestionState[]
  /** In the step `letter`, the person says whether the answer `r` means the letter or that they decline. */
  readonly step: 'choose' | 'other' | 'reason' | 'question' | 'letter'
  readonly reason: TextInput
}

export const emptyQuestion: QuestionState = {
  selection: emptySelection,
  line: emptyTextInput,
  other: '',
  skipped: false,
  isFromEditor: false,
}

export function openQuestions({ questions }: QuestionsAsk): QuestionsState {
  const entries = questions.map(() => emptyQuestion)
  return goToQuestion({ kind: 'questions', index: 0, entries, step: 'choose', reason: emptyTextInput }, questions, 0)
}

/** Commands that the person types into a text field, where single letters are part of the answer. */
export const typedCommands = { decline: '/decline', ask: '/ask', stop: '/stop', edit: '/edit', skip: '/skip' } as const

export function handleQuestionsKey(
  state: QuestionsState,
  ask: QuestionsAsk,
  input: PromptInput,
  { askBack }: Pick<AnswerChoices, 'askBack'>,
): KeyResult<QuestionsState> {
  if (state.step === 'reason' || state.step === 'question') return typeReason(state, input)
  if (state.step === 'letter') return explainLetter(state, ask, input)
  return state.step === 'other' ? typeAnswer(state, ask, input, askBack) : choose(state, ask, input, askBack)
}

function choose(
  state: QuestionsState,
  ask: QuestionsAsk,
  input: PromptInput,
  canAskBack: boolean,
): KeyResult<QuestionsState> {
  const { question, entry } = current(state, ask)
  const { options, multiSelect: isMultiple, allowOther } = question
  const selection =
    input.name === 'edited' ? null : handleSelectionKey(entry.selection, input, { count: options.length, isMultiple })
  if (selection) {
    // A single-choice question takes an option or the person's own text, not both.
    const other = isMultiple ? entry.other : ''
    return { state: withEntry(state, { ...entry, selection, other, skipped: false }) }
  }
  if (input.name === 'enter') return input.alone ? confirm(state, ask) : { state, ignored: true }
  if (input.name === 'left') return { state: goToQuestion(state, ask.questions, state.index - 1) }
  switch (singleKeypress(input)) {
    case 'r':
      return { state, answer: { kind: 'decline' } }
    case 'x':
      return { state, answer: { kind: 'decline', interrupt: true } }
    case 'o':
      if (!allowOther) return { state, hint: texts.optionsOnly }
      return {
        state: {
          ...withEntry(state, { ...entry, line: textInputWith(entry.other || entry.line.text) }),
          step: 'other',
        },
      }
    case 's':
      if (ask.questions.length === 1) return { state, ignored: true }
      return next(withEntry(state, { ...emptyQuestion, skipped: true }), ask)
    case 'd':
    case 'R':
      return { state: { ...state, step: 'reason' } }
    case 'w':
      return canAskBack ? { state: { ...state, step: 'question' } } : { state, ignored: true }
    default:
      return { state, ignored: true }
  }
}

function confirm(state: QuestionsState, ask: QuestionsAsk): KeyResult<QuestionsState> {
  const { question, entry } = current(state, ask)
  const { cursor, marked } = entry.selection
  if (question.multiSelect ? marked.length > 0 || entry.other !== '' : cursor >= 0) return next(state, ask)
  const how = question.multiSelect ? texts.markFirst : texts.chooseFirst
  return { state, hint: `${how} ${question.allowOther ? texts.orOther : texts.orDecline}` }
}

function typeAnswer(
  state: QuestionsState,
  ask: QuestionsAsk,
  input: PromptInput,
  canAskBack: boolean,
): KeyResult<QuestionsState> {
  const { question, entry } = current(state, ask)
  const typed = handleLineKey(entry.line, input)
  if (!typed) return { state, ignored: true }
  if ('line' in typed)
    return { state: withEntry(state, { ...entry, line: typed.line, isFromEditor: input.name === 'edited' }) }
  if ('cancelled' in typed) {
    if (question.options.length > 0) return { state: { ...state, step: 'choose' } }
    return { state: goToQuestion(state, ask.questions, state.index - 1) }
  }
  const handled = entry.isFromEditor ? null : runTypedCommand(state, ask, typed.submitted, canAskBack)
  if (handled) return handled
  if (typed.submitted === '') return { state, hint: texts.empty }
  if (typed.submitted === declineLetter && !entry.isFromEditor) return { state: { ...state, step: 'letter' } }
  return submitText(state, ask)
}

/** The letter that declines a list of options. A person who types only this letter into a text field may mean the same. */
export const declineLetter = 'r'

function explainLetter(state: QuestionsState, ask: QuestionsAsk, input: PromptInput): KeyResult<QuestionsState> {
  const typing: QuestionsState = { ...state, step: 'other' }
  if (input.name === 'escape') return { state: typing }
  switch (singleKeypress(input)) {
    case declineLetter:
      return { state, answer: { kind: 'decline' } }
    case 's':
      return submitText(typing, ask)
    default:
      return { state, ignored: true }
  }
}

function submitText(state: QuestionsState, ask: QuestionsAsk): KeyResult<QuestionsState> {
  const { question, entry } = current(state, ask)
  const answered = withEntry(state, { ...entry, other: submittedText(entry.line), skipped: false })
  // In a multiple-choice question, the typed text is an additional answer; Enter in the list confirms it together with the marked options.
  if (question.multiSelect && question.options.length > 0) return { state: { ...answered, step: 'choose' } }
  return next(withEntry(answered, { ...current(answered, ask).entry, selection: emptySelection }), ask)
}

/** Runs a typed command such as /skip, or returns null if the line is an answer. */
function runTypedCommand(
  state: QuestionsState,
  ask: QuestionsAsk,
  line: string,
  canAskBack: boolean,
): KeyResult<QuestionsState> | null {
  const { question, entry } = current(state, ask)
  const decline = parseDecline(line) ?? (canAskBack ? parseAskBack(line) : null)
  if (decline) return { state, answer: decline }
  if (line === typedCommands.skip && ask.questions.length > 1)
    return next(withEntry(state, { ...emptyQuestion, skipped: true }), ask)
  if (line !== typedCommands.edit) return null
  if (question.secret)
    return {
      state: withEntry(state, { ...entry, line: emptyTextInput }),
      hint: texts.secretInEditor,
    }
  return { state: withEntry(state, { ...entry, line: emptyTextInput }), edit: entry.other }
}

/** Parses `/decline`, `/decline REASON` and `/stop`; returns null for any other line. `/reject` means the same as `/decline`, because other terminal programs use that word. */
export function parseDecline(line: string): Answer | null {
  if (line === typedCommands.stop) return { kind: 'decline', interrupt: true }
  const command = [typedCommands.decline, '/reject'].find(word => line === word || line.startsWith(`${word} `))
  if (command === undefined) return null
  const reason = line.slice(command.length).trim()
  return reason === '' ? { kind: 'decline' } : { kind: 'decline', reason }
}

/** Parses `/ask QUESTION`; returns null for any other line. */
function parseAskBack(line: string): Answer | null {
  const question = line.startsWith(`${typedCommands.ask} `) ? line.slice(typedCommands.ask.length).trim() : ''
  return question === '' ? null : { kind: 'decline', reason: question, askBack: true }
}

function typeReason(state: QuestionsState, input: PromptInput): KeyResult<QuestionsState> {
  const typed = handleLineKey(state.reason, input)
  if (!typed) return { state, ignored: true }
  if ('line' in typed) return { state: { ...state, reason: typed.line } }
  if ('cancelled' in typed) return { state: { ...state, step: 'choose' } }
  const asksBack = state.step === 'question'
  if (typed.submitted === '') return { state, hint: asksBack ? texts.questionMissing : texts.reasonMissing }
  return { state, answer: { kind: 'decline', reason: typed.submitted, ...(asksBack && { askBack: true }) } }
}

/** Goes to the next question; after the last question, returns the answer, or a hint if every question was skipped. */
function next(state: QuestionsState, ask: QuestionsAsk): KeyResult<QuestionsState> {
  if (state.index + 1 < ask.questions.length) return { state: goToQuestion(state, ask.questions, state.index + 1) }
  const answers = ask.questions.flatMap((question, index) => answerOf(question, state.entries[index] ?? emptyQuestion))
  if (answers.length === 0) return { state, hint: texts.noneAnswered }
  return { state, answer: { kind: 'answers', answers } }
}

function answerOf(
  { id, options, multiSelect }: Question,
  { selection, other, skipped }: QuestionState,
): QuestionAnswer[] {
  if (skipped) return []
  const indices = multiSelect ? selection.marked : other === '' && selection.cursor >= 0 ? [selection.cursor] : []
  const chosen = indices.flatMap(index => options[index]?.label ?? [])
  return chosen.length === 0 && other === '' ? [] : [{ id, chosen, ...(other !== '' && { other }) }]
}

/** Goes to a question. A question without options starts in its text field, and any other question in its list. */
export function goToQuestion(state: QuestionsState, questions: readonly Question[], index: number): QuestionsState {
  const to = Math.max(0, index)
  return { ...state, index: to, step: questions[to]?.options.length === 0 ? 'other' : 'choose' }
}

export function current(state: QuestionsState, { questions }: QuestionsAsk) {
  return {
    question: questions[state.index] as Question, // `index` is always within the list
    entry: state.entries[state.index] ?? emptyQuestion,
  }
}
function withEntry(state: QuestionsState, entry: QuestionState): QuestionsState {
  return { ...state, entries: state.entries.map((old, index) => (index === state.index ? entry : old)) }
}
