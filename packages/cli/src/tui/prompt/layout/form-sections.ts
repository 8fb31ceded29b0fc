/** What a form shows: what is filled in, the field that is, what is still to come, and which keys do what. */
import { type FormAsk, isSecretField } from '@holdpoint/protocol'
import { blankRow, indented, labelled, quotedRows, type Row, row, trusted, untrusted } from '../../../output/span.ts'
import { type FieldState, type FormState, valuesOf } from '../form.ts'
import { steering } from '../questions.ts'
import { choiceRows, emptyFooter, type PromptFooter, type PromptSections } from './prompt-sections.ts'

export function formSections({ title, message, url }: FormAsk, part: FormState): PromptSections {
  const head: Row[] = [
    labelled('Form', untrusted(title, 'strong')),
    ...(message === '' ? [] : quotedRows(message)),
    ...(url === undefined ? [] : [row(trusted('Open this yourself, if you trust it:', 'quiet')), ...quotedRows(url)]),
    blankRow,
  ]
  const before = part.fields.slice(0, part.at).map(doneRow)
  const field = part.fields[part.at]
  const now = field ? fieldRows(field, part.at, part.fields.length) : []
  const focus = field ? head.length + before.length + now.length - 1 : null
  return { body: [...head, ...before, ...now], focus, ...footOf(part, field) }
}

function nameOf({ name, field }: FieldState): string {
  return field.title ?? name
}

function doneRow(field: FieldState): Row {
  const value = valuesOf([field])[field.name]
  const chosen = field.choices?.filter(
    choice => choice.value === value || (Array.isArray(value) && value.includes(choice.value)),
  )
  const said = chosen ? chosen.map(choice => choice.title).join(', ') : value === undefined ? '' : String(value)
  const shown = isSecretField(field.field) ? trusted('•'.repeat(8)) : untrusted(said)
  return indented(untrusted(nameOf(field), 'quiet'), trusted('  '), said === '' ? trusted('left out', 'quiet') : shown)
}

function fieldRows(field: FieldState, at: number, of: number): readonly Row[] {
  const { description } = field.field
  const facts = [`${at + 1} of ${of}`, kindOf(field), field.required ? 'required' : 'may be left empty']
  return [
    row(trusted('› ', 'strong'), untrusted(nameOf(field), 'strong'), trusted(`  ${facts.join(' · ')}`, 'quiet')),
    ...(description ? quotedRows(description) : []),
    ...(field.choices ? choiceRows(field.choices, field.pick, field.field.type === 'array').map(one => one.row) : []),
  ]
}

const formats: Readonly<Record<string, string>> = {
  email: 'an e-mail address',
  uri: 'a URL',
  date: 'a date like 2026-01-31',
  'date-time': 'a time like 2026-01-31T12:00:00Z',
  password: 'a secret',
}
function kindOf({ field, choices }: FieldState): string {
  if (field.type === 'boolean') return 'yes or no'
  if (choices) return field.type === 'array' ? 'any of' : 'one of'
  if (field.type === 'string') return (field.format && formats[field.format]) ?? 'text'
  if (field.type === 'array') return 'several, with commas between'
  const { minimum, maximum } = field
  const range =
    minimum === undefined ? '' : maximum === undefined ? ` from ${minimum}` : ` from ${minimum} to ${maximum}`
  return `${field.type === 'integer' ? 'a whole number' : 'a number'}${range || (maximum === undefined ? '' : ` up to ${maximum}`)}`
}

function footOf(part: FormState, field: FieldState | undefined): PromptFooter {
  if (part.rejects)
    return {
      ...emptyFooter,
      typed: { label: 'Reason', line: part.reason },
      keys: [
        ['Enter', 'rejects with it'],
        ['Esc', 'goes back'],
      ],
    }
  const any = part.fields.length > 0
  if (!field)
    return {
      ...emptyFooter,
      foot: [row(trusted(any ? '[a] Send' : '[a] Done', 'strong'), trusted('  '), trusted('[r] Reject', 'strong'))],
      keys: [
        ...(any ? [['Enter', 'sends'] as const, ['←', 'back'] as const] : []),
        ['R', 'reject with a reason'],
        ['x', 'reject and stop'],
      ],
    }
  const back = part.at > 0 ? [[field.choices ? '←' : 'Esc', 'back'] as const] : []
  if (!field.choices) {
    const secret = isSecretField(field.field)
    const editor = secret ? [] : [[steering.edit, 'opens your editor'] as const]
    return {
      ...emptyFooter,
      typed: { label: '', line: field.line, secret },
      keys: [['Enter', 'next'], ...back, ...editor, [steering.reject, 'rejects']],
    }
  }
  return {
    ...emptyFooter,
    keys: [
      ['↑↓', 'move'],
      field.field.type === 'boolean' ? ['y n', 'choose'] : [`1–${field.choices.length}`, 'choose'],
      ...(field.field.type === 'array' ? [['space', 'marks'] as const] : []),
      ['Enter', 'next'],
      ...back,
      ['r', 'rejects'],
    ],
  }
}
