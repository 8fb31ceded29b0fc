/** Builds the sections of a form: the filled-in fields, the current field, and the key hints. */
import { isExactField } from '@holdpoint/client'
import { type FormAsk, isSecretField } from '@holdpoint/protocol'
import {
  blankRow,
  codeRows,
  indented,
  labelled,
  quotedRows,
  type Row,
  row,
  trusted,
  untrusted,
  untrustedCode,
} from '../../../output/span.ts'
import { type FieldState, type FormState, valuesOf } from '../form.ts'
import { typedCommands } from '../questions.ts'
import { promptTexts } from '../texts.ts'
import {
  backKey,
  emptyFooter,
  letterFooter,
  listRows,
  type PromptFooter,
  type PromptSections,
} from './prompt-sections.ts'

export function formSections({ title, message, url }: FormAsk, state: FormState, canStop: boolean): PromptSections {
  const head: Row[] = [
    labelled('Form', untrusted(title, 'strong')),
    ...(message === '' ? [] : quotedRows(message)),
    ...(url === undefined ? [] : [row(trusted(promptTexts.linkWarning, 'quiet')), ...codeRows(url)]),
    blankRow,
  ]
  const done = state.fields.slice(0, state.index).map(doneRow)
  const field = state.fields[state.index]
  const current = field ? fieldRows(field, state.index, state.fields.length) : []
  const focus = field ? head.length + done.length + current.length - 1 : null
  return { body: [...head, ...done, ...current], focus, ...footerOf(state, field, canStop) }
}

function fieldTitle({ name, field }: FieldState): string {
  return field.title ?? name
}

function doneRow(field: FieldState): Row {
  const value = valuesOf([field])[field.name]
  const chosen = field.choices?.filter(
    choice => choice.value === value || (Array.isArray(value) && value.includes(choice.value)),
  )
  const text = chosen ? chosen.map(choice => choice.title).join(', ') : value === undefined ? '' : String(value)
  const shown = isSecretField(field.field) ? trusted('•'.repeat(8)) : untrustedCode(text)
  return indented(untrusted(fieldTitle(field), 'quiet'), trusted('  '), text === '' ? trusted('empty', 'quiet') : shown)
}

function fieldRows(field: FieldState, index: number, count: number): readonly Row[] {
  const { description } = field.field
  const facts = [`${index + 1} of ${count}`, kindOf(field), field.required ? 'required' : 'optional']
  const isMultiple = field.field.type === 'array'
  return [
    row(trusted('› ', 'strong'), untrusted(fieldTitle(field), 'strong'), trusted(`  ${facts.join(' · ')}`, 'quiet')),
    ...(description ? quotedRows(description) : []),
    ...(field.choices ? listRows(field.choices, field.selection, isMultiple).map(item => item.row) : []),
  ]
}

const formats: Readonly<Record<string, string>> = {
  email: 'email address',
  uri: 'URL',
  date: 'date like 2026-01-31',
  'date-time': 'time like 2026-01-31T12:00:00Z',
  password: 'secret',
}
function kindOf({ field, choices }: FieldState): string {
  if (field.type === 'boolean') return 'yes or no'
  if (choices) return field.type === 'array' ? 'choose any' : 'choose one'
  if (field.type === 'string') return (field.format && formats[field.format]) ?? 'text'
  if (field.type === 'array') return 'values separated by commas'
  const { minimum, maximum } = field
  const range =
    minimum === undefined ? '' : maximum === undefined ? ` from ${minimum}` : ` from ${minimum} to ${maximum}`
  return `${field.type === 'integer' ? 'whole number' : 'number'}${range || (maximum === undefined ? '' : ` up to ${maximum}`)}`
}

function footerOf(state: FormState, field: FieldState | undefined, canStop: boolean): PromptFooter {
  if (state.isDeclining)
    return {
      ...emptyFooter,
      input: { label: 'Reason', line: state.reason },
      keys: [['Enter', 'decline with this reason'], backKey],
    }
  const hasFields = state.fields.length > 0
  if (!field)
    return {
      ...emptyFooter,
      decision: [row(trusted(`[a] ${hasFields ? 'Send' : 'Done'}  [r] Decline`, 'strong'))],
      keys: [
        ...(hasFields ? [['Enter', 'send'] as const, ['←', 'back'] as const] : []),
        ['d', 'decline with a reason'],
        ...(canStop ? [['x', 'decline and stop'] as const] : []),
      ],
    }
  if (state.asksAboutLetter) return letterFooter
  const back = state.index > 0 ? [[field.choices ? '←' : 'Esc', 'back'] as const] : []
  if (!field.choices) {
    const secret = isSecretField(field.field)
    const editor = secret ? [] : [[typedCommands.edit, 'open your editor'] as const]
    return {
      ...emptyFooter,
      input: { label: '', line: field.line, secret, isCode: isExactField(field.field) },
      keys: [['Enter', 'next'], ...back, ...editor, [typedCommands.decline, '[reason]']],
    }
  }
  return {
    ...emptyFooter,
    keys: [
      ['↑↓', 'move'],
      field.field.type === 'boolean' ? ['y n', 'choose'] : [`1–${field.choices.length}`, 'choose'],
      ...(field.field.type === 'array' ? [['space', 'mark'] as const] : []),
      ['Enter', 'next'],
      ...back,
      ['r', 'decline'],
    ],
  }
}
