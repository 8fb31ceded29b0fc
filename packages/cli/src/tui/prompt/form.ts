/** A form, key by key: field by field, each checked before the next, and all of it once more before it is sent. */
import {
  type FormAsk,
  type FormField,
  fieldChoices,
  formProblem,
  isSecretField,
  type Json,
  type JsonObject,
} from '@holdpoint/protocol'
import { emptySelection, type ListSelection, pressSelection } from './list-selection.ts'
import { decisionOf, type PromptInput, type PromptStep, typing } from './prompt-step.ts'
import { keptOutOfFiles, rejectionOf, steering } from './questions.ts'
import { emptyTextInput, type TextInput, textInputWith } from './text-input.ts'

export interface FieldState {
  readonly name: string
  readonly field: FormField
  readonly required: boolean
  /** What may be chosen; null where it is typed. */
  readonly choices: readonly { readonly value: Json; readonly title: string }[] | null
  readonly line: TextInput
  readonly pick: ListSelection
}
export interface FormState {
  readonly kind: 'form'
  readonly fields: readonly FieldState[]
  /** Behind the last field: the review. */
  readonly at: number
  /** The words of a rejection, and whether they are being written. */
  readonly reason: TextInput
  readonly rejects: boolean
}

export function openForm({ schema }: FormAsk): FormState {
  const fields = Object.entries(schema.properties).map(([name, field]): FieldState => {
    const choices = field.type === 'boolean' ? switches : fieldChoices(field)
    const required = schema.required?.includes(name) ?? false
    return { name, field, required, choices, line: lineOfDefault(field), pick: pickOfDefault(field, choices) }
  })
  return { kind: 'form', fields, at: 0, reason: emptyTextInput, rejects: false }
}

const switches = [
  { value: true, title: 'Yes' },
  { value: false, title: 'No' },
] as const

function lineOfDefault({ default: value }: FormField): TextInput {
  return value === undefined ? emptyTextInput : textInputWith(String(value))
}
function pickOfDefault({ type, default: value }: FormField, choices: FieldState['choices']): ListSelection {
  if (value === undefined || !choices) return emptySelection
  if (type !== 'array') return { ...emptySelection, cursor: choices.findIndex(choice => choice.value === value) }
  const chosen: readonly Json[] = Array.isArray(value) ? value : []
  return { ...emptySelection, marked: choices.flatMap((choice, index) => (chosen.includes(choice.value) ? index : [])) }
}

export function pressForm(part: FormState, ask: FormAsk, press: PromptInput): PromptStep<FormState> {
  if (part.rejects) return giveReason(part, press)
  const field = part.fields[part.at]
  if (!field) return review(part, press)
  return field.choices ? choose(part, ask, field, field.choices.length, press) : type(part, ask, field, press)
}

function choose(
  part: FormState,
  ask: FormAsk,
  field: FieldState,
  count: number,
  press: PromptInput,
): PromptStep<FormState> {
  const many = field.field.type === 'array'
  const pick = press.name === 'edited' ? null : pressSelection(field.pick, press, { count, many })
  if (pick) return { part: withField(part, { ...field, pick }) }
  if (press.name === 'enter') return next(part, ask, field)
  if (press.name === 'left' || press.name === 'escape') return { part: back(part) }
  const letter = decisionOf(press)
  const yes = letter === 'y' ? 0 : letter === 'n' ? 1 : null
  if (yes !== null && field.field.type === 'boolean')
    return { part: withField(part, { ...field, pick: { ...emptySelection, cursor: yes } }) }
  return reject(part, letter) ?? { part, unused: true }
}

function type(part: FormState, ask: FormAsk, field: FieldState, press: PromptInput): PromptStep<FormState> {
  if (press.name === 'up') return { part: back(part) }
  const typed = typing(field.line, press)
  if (!typed) return { part, unused: true }
  if ('left' in typed) return { part: back(part) }
  if ('line' in typed) return { part: withField(part, { ...field, line: typed.line }) }
  const rejection = rejectionOf(typed.done)
  if (rejection) return { part, answer: rejection }
  if (typed.done === steering.edit && isSecretField(field.field))
    return { part: withField(part, { ...field, line: emptyTextInput }), hint: keptOutOfFiles }
  if (typed.done === steering.edit)
    return { part: withField(part, { ...field, line: emptyTextInput }), edit: lineOfDefault(field.field).text }
  return next(part, ask, field)
}

function review(part: FormState, press: PromptInput): PromptStep<FormState> {
  if (press.name === 'left' || press.name === 'escape' || press.name === 'backspace') return { part: back(part) }
  const letter = decisionOf(press)
  // Enter alone sends what a person has filled in; where there was nothing to fill in, it takes a letter.
  if (letter === 'a' || letter === '1' || (press.name === 'enter' && press.alone && part.fields.length > 0))
    return { part, answer: { kind: 'submit', values: valuesOf(part.fields) } }
  return reject(part, letter === '2' ? 'r' : letter) ?? { part, unused: true }
}

function reject(part: FormState, letter: string | null): PromptStep<FormState> | null {
  if (letter === 'r') return { part, answer: { kind: 'decline' } }
  if (letter === 'x') return { part, answer: { kind: 'decline', interrupt: true } }
  return letter === 'R' ? { part: { ...part, rejects: true } } : null
}

function giveReason(part: FormState, press: PromptInput): PromptStep<FormState> {
  const typed = typing(part.reason, press)
  if (!typed) return { part, unused: true }
  if ('line' in typed) return { part: { ...part, reason: typed.line } }
  if ('left' in typed) return { part: { ...part, rejects: false } }
  if (typed.done === '') return { part, hint: 'Say why, then Enter; Esc goes back, and r rejects without a reason.' }
  return { part, answer: { kind: 'decline', reason: typed.done } }
}

function next(part: FormState, { schema }: FormAsk, field: FieldState): PromptStep<FormState> {
  const values = valuesOf([field])
  const own = { ...schema, properties: { [field.name]: field.field }, required: field.required ? [field.name] : [] }
  const wrong = formProblem(own, values)
  return wrong ? { part, hint: `${wrong}.` } : { part: { ...part, at: part.at + 1 } }
}

/** What is left empty is left out. */
export function valuesOf(fields: readonly FieldState[]): JsonObject {
  return Object.fromEntries(
    fields.flatMap(field => {
      const value = filledIn(field)
      return value === undefined ? [] : [[field.name, value]]
    }),
  )
}

function filledIn({ field, choices, line, pick, required }: FieldState): Json | undefined {
  if (choices && field.type === 'array') {
    const chosen = pick.marked.flatMap(index => choices[index]?.value ?? [])
    return chosen.length > 0 || required ? chosen : undefined
  }
  if (choices) return choices[pick.cursor]?.value
  if (field.type === 'array') return line.text.split(',').flatMap(item => item.trim() || [])
  if (field.type === 'string') return line.text === '' ? undefined : line.text
  const text = line.text.trim()
  if (text === '') return undefined
  const number = Number(text)
  // What is no number is passed on as it was typed, for the check to name.
  return Number.isFinite(number) ? number : text
}

function back(part: FormState): FormState {
  return { ...part, at: Math.max(0, part.at - 1) }
}
function withField(part: FormState, field: FieldState): FormState {
  return { ...part, fields: part.fields.map((old, index) => (index === part.at ? field : old)) }
}
