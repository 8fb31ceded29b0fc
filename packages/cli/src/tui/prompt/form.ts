/** Handles the keys of a form. Each field is validated before the next field opens, and the person reviews all values before sending. */
import {
  type FormAsk,
  type FormField,
  fieldChoices,
  formProblem,
  isSecretField,
  type Json,
  type JsonObject,
} from '@holdpoint/protocol'
import { handleLineKey, type KeyResult, type PromptInput, singleKeypress } from './key-result.ts'
import { emptySelection, handleSelectionKey, type ListSelection } from './list-selection.ts'
import { declineLetter, parseDecline, typedCommands } from './questions.ts'
import { emptyTextInput, submittedText, type TextInput, textInputWith } from './text-input.ts'
import { questionTexts as texts } from './texts.ts'

export interface FieldState {
  readonly name: string
  readonly field: FormField
  readonly required: boolean
  /** The options of a choice field; null if the person types the value. */
  readonly choices: readonly { readonly value: Json; readonly title: string }[] | null
  readonly line: TextInput
  readonly selection: ListSelection
}
export interface FormState {
  readonly kind: 'form'
  readonly fields: readonly FieldState[]
  /** The index of the current field; after the last field, the person reviews the form. */
  readonly index: number
  /** The reason for declining the form. */
  readonly reason: TextInput
  /** Whether the person is typing the reason. */
  readonly isDeclining: boolean
  /** Whether the person has to say if the value `r` means the letter or that they decline. */
  readonly asksAboutLetter: boolean
}

export function openForm({ schema }: FormAsk): FormState {
  const fields = Object.entries(schema.properties).map(([name, field]): FieldState => {
    const choices = field.type === 'boolean' ? yesOrNo : fieldChoices(field)
    const required = schema.required?.includes(name) ?? false
    return { name, field, required, choices, line: defaultLine(field), selection: defaultSelection(field, choices) }
  })
  return { kind: 'form', fields, index: 0, reason: emptyTextInput, isDeclining: false, asksAboutLetter: false }
}

const yesOrNo = [
  { value: true, title: 'Yes' },
  { value: false, title: 'No' },
] as const

function defaultLine({ default: value }: FormField): TextInput {
  return value === undefined ? emptyTextInput : textInputWith(String(value))
}
function defaultSelection({ type, default: value }: FormField, choices: FieldState['choices']): ListSelection {
  if (value === undefined || !choices) return emptySelection
  if (type !== 'array') return { ...emptySelection, cursor: choices.findIndex(choice => choice.value === value) }
  const chosen: readonly Json[] = Array.isArray(value) ? value : []
  return { ...emptySelection, marked: choices.flatMap((choice, index) => (chosen.includes(choice.value) ? index : [])) }
}

export function handleFormKey(state: FormState, ask: FormAsk, input: PromptInput): KeyResult<FormState> {
  if (state.isDeclining) return typeReason(state, input)
  const field = state.fields[state.index]
  if (!field) return review(state, input)
  if (state.asksAboutLetter) return explainLetter(state, ask, field, input)
  return field.choices ? choose(state, ask, field, field.choices.length, input) : type(state, ask, field, input)
}

function choose(
  state: FormState,
  ask: FormAsk,
  field: FieldState,
  count: number,
  input: PromptInput,
): KeyResult<FormState> {
  const isMultiple = field.field.type === 'array'
  const selection = input.name === 'edited' ? null : handleSelectionKey(field.selection, input, { count, isMultiple })
  if (selection) return { state: withField(state, { ...field, selection }) }
  if (input.name === 'enter') return next(state, ask, field)
  if (input.name === 'left' || input.name === 'escape') return { state: back(state) }
  const letter = singleKeypress(input)
  const yes = letter === 'y' ? 0 : letter === 'n' ? 1 : null
  if (yes !== null && field.field.type === 'boolean')
    return { state: withField(state, { ...field, selection: { ...emptySelection, cursor: yes } }) }
  return declineByLetter(state, letter) ?? { state, ignored: true }
}

function type(state: FormState, ask: FormAsk, field: FieldState, input: PromptInput): KeyResult<FormState> {
  if (input.name === 'up') return { state: back(state) }
  const typed = handleLineKey(field.line, input)
  if (!typed) return { state, ignored: true }
  if ('cancelled' in typed) return { state: back(state) }
  if ('line' in typed) return { state: withField(state, { ...field, line: typed.line }) }
  const decline = parseDecline(typed.submitted)
  if (decline) return { state, answer: decline }
  if (typed.submitted === typedCommands.edit && isSecretField(field.field))
    return { state: withField(state, { ...field, line: emptyTextInput }), hint: texts.secretInEditor }
  if (typed.submitted === typedCommands.edit)
    return { state: withField(state, { ...field, line: emptyTextInput }), edit: defaultLine(field.field).text }
  return typed.submitted === declineLetter ? { state: { ...state, asksAboutLetter: true } } : next(state, ask, field)
}

function explainLetter(state: FormState, ask: FormAsk, field: FieldState, input: PromptInput): KeyResult<FormState> {
  const typing: FormState = { ...state, asksAboutLetter: false }
  if (input.name === 'escape') return { state: typing }
  switch (singleKeypress(input)) {
    case declineLetter:
      return { state, answer: { kind: 'decline' } }
    case 's':
      return next(typing, ask, field)
    default:
      return { state, ignored: true }
  }
}

function review(state: FormState, input: PromptInput): KeyResult<FormState> {
  if (input.name === 'left' || input.name === 'escape' || input.name === 'backspace') return { state: back(state) }
  const letter = singleKeypress(input)
  // Enter sends a filled-in form. A form without fields is sent only by `a` or `1`, because an Enter may have been typed ahead.
  if (letter === 'a' || letter === '1' || (input.name === 'enter' && input.alone && state.fields.length > 0))
    return { state, answer: { kind: 'submit', values: valuesOf(state.fields) } }
  return declineByLetter(state, letter === '2' ? 'r' : letter) ?? { state, ignored: true }
}

function declineByLetter(state: FormState, letter: string | null): KeyResult<FormState> | null {
  if (letter === 'r') return { state, answer: { kind: 'decline' } }
  if (letter === 'x') return { state, answer: { kind: 'decline', interrupt: true } }
  return letter === 'd' || letter === 'R' ? { state: { ...state, isDeclining: true } } : null
}

function typeReason(state: FormState, input: PromptInput): KeyResult<FormState> {
  const typed = handleLineKey(state.reason, input)
  if (!typed) return { state, ignored: true }
  if ('line' in typed) return { state: { ...state, reason: typed.line } }
  if ('cancelled' in typed) return { state: { ...state, isDeclining: false } }
  if (typed.submitted === '') return { state, hint: texts.reasonMissing }
  return { state, answer: { kind: 'decline', reason: typed.submitted } }
}

function next(state: FormState, { schema }: FormAsk, field: FieldState): KeyResult<FormState> {
  const values = valuesOf([field])
  const fieldSchema = {
    ...schema,
    properties: { [field.name]: field.field },
    required: field.required ? [field.name] : [],
  }
  const problem = formProblem(fieldSchema, values)
  return problem ? { state, hint: `${problem}.` } : { state: { ...state, index: state.index + 1 } }
}

/** Returns the values of the fields and leaves out fields without a value. */
export function valuesOf(fields: readonly FieldState[]): JsonObject {
  return Object.fromEntries(
    fields.flatMap(field => {
      const value = fieldValue(field)
      return value === undefined ? [] : [[field.name, value]]
    }),
  )
}

function fieldValue({ field, choices, line, selection, required }: FieldState): Json | undefined {
  if (choices && field.type === 'array') {
    const chosen = selection.marked.flatMap(index => choices[index]?.value ?? [])
    return chosen.length > 0 || required ? chosen : undefined
  }
  if (choices) return choices[selection.cursor]?.value
  if (field.type === 'array') return line.text.split(',').flatMap(item => item.trim() || [])
  if (field.type === 'string') return submittedText(line) || undefined
  const text = line.text.trim()
  if (text === '') return undefined
  const number = Number(text)
  // Return text that is not a number unchanged, so that the validation reports the problem.
  return Number.isFinite(number) ? number : text
}

function back(state: FormState): FormState {
  return { ...state, index: Math.max(0, state.index - 1) }
}
function withField(state: FormState, field: FieldState): FormState {
  return { ...state, fields: state.fields.map((old, index) => (index === state.index ? field : old)) }
}
