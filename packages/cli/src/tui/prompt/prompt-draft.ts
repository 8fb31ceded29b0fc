/** Converts a prompt to a draft and back, so that an answer that was started on the page continues in the terminal, and the other way around. Drafts contain no secrets. */
import type { AnswerDraft, DraftChoice, RawField } from '@holdpoint/client'
import { type ApprovalAsk, type FormAsk, isSecretField, type Question, type QuestionsAsk } from '@holdpoint/protocol'
import { type ApprovalState, pendingEdit } from './approval.ts'
import { type FieldState, type FormState, openForm } from './form.ts'
import { emptySelection } from './list-selection.ts'
import type { Prompt } from './prompt.ts'
import { emptyQuestion, goToQuestion, type QuestionState, type QuestionsState } from './questions.ts'
import { textInputWith } from './text-input.ts'
import { promptTexts } from './texts.ts'

/** Returns the draft of a prompt. An empty note or reason is included and an empty answer is left out of `answers`, so that text cleared here is cleared on other devices too. */
export function draftFromPrompt({ state, request: { ask } }: Prompt): AnswerDraft {
  if (state.kind === 'approval' && ask.kind === 'approval') return approvalDraft(state)
  if (state.kind === 'questions' && ask.kind === 'questions')
    return { reason: state.reason.text, answers: questionsDraft(state, ask) }
  if (state.kind === 'form' && ask.kind === 'form') return { reason: state.reason.text, values: formDraft(state, ask) }
  return {}
}

export function withDraft(prompt: Prompt, draft: AnswerDraft): Prompt {
  const { ask } = prompt.request
  const { state } = prompt
  if (state.kind === 'approval' && ask.kind === 'approval')
    return { ...prompt, state: approvalWithDraft(state, ask, draft) }
  if (state.kind === 'questions' && ask.kind === 'questions')
    return askToConfirmAgain(prompt, state.index, questionsWithDraft(state, ask, draft))
  if (state.kind === 'form' && ask.kind === 'form')
    return askToConfirmAgain(prompt, state.index, formWithDraft(state, ask, draft))
  return prompt
}

/** Shows a hint if the draft changed a confirmed answer, which the person must then confirm again. */
function askToConfirmAgain(prompt: Prompt, at: number, state: QuestionsState | FormState): Prompt {
  return state.index < at ? { ...prompt, state, hint: promptTexts.changedElsewhere } : { ...prompt, state }
}
/** Returns the index of the first changed item before the current item, or the current index if there is none. */
function firstChangedIndex(at: number, before: readonly unknown[], after: readonly unknown[]): number {
  const changed = before.findIndex((one, index) => JSON.stringify(one) !== JSON.stringify(after[index]))
  return changed < 0 ? at : Math.min(at, changed)
}

function approvalDraft({ step, line, note, reason, question, edit }: ApprovalState): AnswerDraft {
  return {
    note: step === 'note' ? line.text : note,
    reason: step === 'reason' ? line.text : reason,
    question: step === 'question' ? line.text : question,
    edit: edit ?? undefined,
  }
}
function approvalWithDraft(state: ApprovalState, ask: ApprovalAsk, draft: AnswerDraft): ApprovalState {
  const { note = '', reason = '', question = '', comments = [], edit } = draft
  const typed: Partial<Record<ApprovalState['step'], string>> = { note, reason, question }
  const text = typed[state.step]
  const line = text === undefined ? state.line : textInputWith(text)
  const pending = state.input ? state.edit : pendingEdit(ask, edit)
  // A draft from another device must not overwrite an edit that was made in this terminal.
  return { ...state, line, note, reason, question, comments, edit: pending }
}

function questionsDraft({ entries }: QuestionsState, { questions }: QuestionsAsk): ReadonlyMap<string, DraftChoice> {
  return new Map(
    questions.flatMap((question, index): [string, DraftChoice][] => {
      const entry = entries[index]
      const choice = entry && draftChoice(question, entry)
      return choice && (choice.chosen.length > 0 || choice.other !== undefined) ? [[question.id, choice]] : []
    }),
  )
}
/** Returns the draft of one question. The draft keeps the typed text even while an option is chosen instead. */
function draftChoice(
  { options, multiSelect, secret }: Question,
  { selection, other, line }: QuestionState,
): DraftChoice {
  const indices = multiSelect ? selection.marked : other === '' ? [selection.cursor] : []
  const text = secret ? '' : other || line.text
  const chosen = indices.flatMap(index => options[index]?.label ?? [])
  return { chosen, ...(text !== '' && { other: text }), ...(text !== '' && other !== '' && { own: true }) }
}

function questionsWithDraft(state: QuestionsState, { questions }: QuestionsAsk, draft: AnswerDraft): QuestionsState {
  const entries = state.entries.map((entry, index) => {
    const question = questions[index]
    return question ? entryWithDraft(question, entry, draft.answers?.get(question.id) ?? emptyChoice) : entry
  })
  const merged = { ...state, entries, reason: textInputWith(draft.reason ?? '') }
  const choices = (list: readonly QuestionState[]) =>
    questions.map((question, index) => draftChoice(question, list[index] ?? emptyQuestion))
  const index = firstChangedIndex(state.index, choices(state.entries), choices(entries))
  return index < state.index ? goToQuestion(merged, questions, index) : merged
}
/** Stands for an answer that is missing from a draft, because the person cleared the answer on another device or never gave one. */
const emptyChoice: DraftChoice = { chosen: [] }
function entryWithDraft(
  { options, multiSelect, secret }: Question,
  entry: QuestionState,
  { chosen, other = '', own = false }: DraftChoice,
): QuestionState {
  const indices = chosen.flatMap(label => {
    const index = options.findIndex(option => option.label === label)
    return index < 0 ? [] : index
  })
  const selection = multiSelect
    ? { ...emptySelection, marked: indices.toSorted((a, b) => a - b) }
    : { ...emptySelection, cursor: indices[0] ?? -1 }
  const changed = { ...entry, selection, skipped: false }
  return secret ? changed : { ...changed, line: textInputWith(other), other: own ? other : '', isFromEditor: true }
}

function formDraft({ fields }: FormState, ask: FormAsk): ReadonlyMap<string, RawField> {
  const presets = openForm(ask).fields.map(rawValue)
  return new Map(
    fields.flatMap((field, index): [string, RawField][] => {
      const raw = rawValue(field)
      return raw === undefined || JSON.stringify(raw) === JSON.stringify(presets[index]) ? [] : [[field.name, raw]]
    }),
  )
}
function rawValue(state: FieldState): RawField | undefined {
  const { field, choices, selection, line } = state
  if (isSecretField(field)) return undefined
  if (choices && field.type === 'array') return selection.marked.flatMap(index => String(choices[index]?.value ?? ''))
  const value = choices?.[selection.cursor]?.value
  if (choices) return typeof value === 'boolean' || value === undefined ? value : String(value)
  return field.type === 'array'
    ? line.text
        .split(',')
        .map(item => item.trim())
        .join('\n')
    : line.text
}

function formWithDraft(state: FormState, ask: FormAsk, { values, reason = '' }: AnswerDraft): FormState {
  const presets = openForm(ask).fields
  const fields = state.fields.map((field, index) => {
    if (isSecretField(field.field)) return field
    const raw = values?.get(field.name)
    return raw === undefined ? (presets[index] ?? field) : fieldWithDraft(field, raw)
  })
  return {
    ...state,
    fields,
    index: firstChangedIndex(state.index, state.fields.map(rawValue), fields.map(rawValue)),
    reason: textInputWith(reason),
  }
}
function fieldWithDraft(state: FieldState, raw: RawField): FieldState {
  const { field, choices } = state
  if (!choices)
    return { ...state, line: textInputWith(field.type === 'array' ? String(raw).replaceAll('\n', ', ') : String(raw)) }
  const at = (value: unknown) => choices.findIndex(choice => choice.value === value)
  if (field.type !== 'array') return { ...state, selection: { ...emptySelection, cursor: at(raw) } }
  const marked = typeof raw === 'object' ? raw.map(at).filter(index => index >= 0) : []
  return { ...state, selection: { ...emptySelection, marked: marked.toSorted((a, b) => a - b) } }
}
