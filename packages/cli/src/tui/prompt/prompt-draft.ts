/** A prompt as an unfinished answer and back: what was begun on the page goes on here, and the other way round. Secrets stay where they are typed. */
import type { AnswerDraft, DraftChoice, RawField } from '@holdpoint/client'
import { type ApprovalAsk, type FormAsk, isSecretField, type Question, type QuestionsAsk } from '@holdpoint/protocol'
import { type ApprovalState, pendingEdit } from './approval.ts'
import { type FieldState, type FormState, openForm } from './form.ts'
import { emptySelection } from './list-selection.ts'
import type { Prompt } from './prompt.ts'
import { atQuestion, emptyQuestion, type QuestionState, type QuestionsState } from './questions.ts'
import { textInputWith } from './text-input.ts'

/** All that a prompt of this kind can hold; what is empty is named as such, so that it is taken back. */
export function draftOf({ part, request: { ask } }: Prompt): AnswerDraft {
  if (part.kind === 'approval' && ask.kind === 'approval') return approvalDraft(part)
  if (part.kind === 'questions' && ask.kind === 'questions')
    return { reason: part.reason.text, answers: choicesOf(part, ask) }
  if (part.kind === 'form' && ask.kind === 'form') return { reason: part.reason.text, values: rawsOf(part, ask) }
  return {}
}

export function withDraft(prompt: Prompt, draft: AnswerDraft): Prompt {
  const { ask } = prompt.request
  const { part } = prompt
  if (part.kind === 'approval' && ask.kind === 'approval') return { ...prompt, part: draftedApproval(part, ask, draft) }
  if (part.kind === 'questions' && ask.kind === 'questions')
    return putAgain(prompt, part.at, draftedQuestions(part, ask, draft))
  if (part.kind === 'form' && ask.kind === 'form') return putAgain(prompt, part.at, draftedForm(part, ask, draft))
  return prompt
}

/** Nobody sends what they have confirmed and what says something else since. */
function putAgain(prompt: Prompt, at: number, part: QuestionsState | FormState): Prompt {
  return part.at < at ? { ...prompt, part, hint: 'This was changed elsewhere: confirm it again.' } : { ...prompt, part }
}
/** Where to go on: at the first of those that were confirmed and have changed. */
function placeOf(at: number, before: readonly unknown[], after: readonly unknown[]): number {
  const changed = before.findIndex((one, index) => JSON.stringify(one) !== JSON.stringify(after[index]))
  return changed < 0 ? at : Math.min(at, changed)
}

function approvalDraft({ stage, line, note, reason, edit }: ApprovalState): AnswerDraft {
  return {
    note: stage === 'note' ? line.text : note,
    reason: stage === 'reason' ? line.text : reason,
    edit: edit ?? undefined,
  }
}
function draftedApproval(part: ApprovalState, ask: ApprovalAsk, draft: AnswerDraft): ApprovalState {
  const { note = '', reason = '', edit } = draft
  const line = part.stage === 'note' ? textInputWith(note) : part.stage === 'reason' ? textInputWith(reason) : part.line
  // What a person has changed here is not changed under them.
  return { ...part, line, note, reason, edit: part.input ? part.edit : pendingEdit(ask, edit) }
}

function choicesOf({ replies }: QuestionsState, { questions }: QuestionsAsk): ReadonlyMap<string, DraftChoice> {
  return new Map(
    questions.flatMap((question, index): [string, DraftChoice][] => {
      const reply = replies[index]
      const choice = reply && choiceOf(question, reply)
      return choice && (choice.chosen.length > 0 || choice.other !== undefined) ? [[question.id, choice]] : []
    }),
  )
}
/** Words of one's own are kept also while an option is chosen in their place. */
function choiceOf({ options, multiSelect, secret }: Question, { pick, other, line }: QuestionState): DraftChoice {
  const indices = multiSelect ? pick.marked : other === '' ? [pick.cursor] : []
  const words = secret ? '' : other || line.text
  const chosen = indices.flatMap(index => options[index]?.label ?? [])
  return { chosen, ...(words !== '' && { other: words }), ...(words !== '' && other !== '' && { own: true }) }
}

function draftedQuestions(part: QuestionsState, { questions }: QuestionsAsk, draft: AnswerDraft): QuestionsState {
  const replies = part.replies.map((reply, index) => {
    const question = questions[index]
    return question ? repliedWith(question, reply, draft.answers?.get(question.id) ?? none) : reply
  })
  const drafted = { ...part, replies, reason: textInputWith(draft.reason ?? '') }
  const said = (list: readonly QuestionState[]) =>
    questions.map((question, index) => choiceOf(question, list[index] ?? emptyQuestion))
  const at = placeOf(part.at, said(part.replies), said(replies))
  return at < part.at ? atQuestion(drafted, questions, at) : drafted
}
/** What is not in a draft was taken back. */
const none: DraftChoice = { chosen: [] }
function repliedWith(
  { options, multiSelect, secret }: Question,
  reply: QuestionState,
  { chosen, other = '', own = false }: DraftChoice,
): QuestionState {
  const indices = chosen.flatMap(label => {
    const index = options.findIndex(option => option.label === label)
    return index < 0 ? [] : index
  })
  const pick = multiSelect
    ? { ...emptySelection, marked: indices.toSorted((a, b) => a - b) }
    : { ...emptySelection, cursor: indices[0] ?? -1 }
  const replied = { ...reply, pick, skipped: false }
  return secret ? replied : { ...replied, line: textInputWith(other), other: own ? other : '', literal: true }
}

function rawsOf({ fields }: FormState, ask: FormAsk): ReadonlyMap<string, RawField> {
  const presets = openForm(ask).fields.map(rawOf)
  return new Map(
    fields.flatMap((field, index): [string, RawField][] => {
      const raw = rawOf(field)
      return raw === undefined || JSON.stringify(raw) === JSON.stringify(presets[index]) ? [] : [[field.name, raw]]
    }),
  )
}
function rawOf(part: FieldState): RawField | undefined {
  const { field, choices, pick, line } = part
  if (isSecretField(field)) return undefined
  if (choices && field.type === 'array') return pick.marked.flatMap(index => String(choices[index]?.value ?? ''))
  const value = choices?.[pick.cursor]?.value
  if (choices) return typeof value === 'boolean' || value === undefined ? value : String(value)
  return field.type === 'array' ? line.text.split(/ *, */).join('\n') : line.text
}

function draftedForm(part: FormState, ask: FormAsk, { values, reason = '' }: AnswerDraft): FormState {
  const presets = openForm(ask).fields
  const fields = part.fields.map((field, index) => {
    if (isSecretField(field.field)) return field
    const raw = values?.get(field.name)
    return raw === undefined ? (presets[index] ?? field) : filledWith(field, raw)
  })
  return {
    ...part,
    fields,
    at: placeOf(part.at, part.fields.map(rawOf), fields.map(rawOf)),
    reason: textInputWith(reason),
  }
}
function filledWith(part: FieldState, raw: RawField): FieldState {
  const { field, choices } = part
  if (!choices)
    return { ...part, line: textInputWith(field.type === 'array' ? String(raw).replaceAll('\n', ', ') : String(raw)) }
  const at = (value: unknown) => choices.findIndex(choice => choice.value === value)
  if (field.type !== 'array') return { ...part, pick: { ...emptySelection, cursor: at(raw) } }
  const marked = typeof raw === 'object' ? raw.map(at).filter(index => index >= 0) : []
  return { ...part, pick: { ...emptySelection, marked: marked.toSorted((a, b) => a - b) } }
}
