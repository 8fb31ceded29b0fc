/** What is the value? A form drawn from its schema. */
import { type FormAsk, type FormField, fieldChoices, type JsonObject } from '@holdpoint/protocol'
import { prose, words } from './agent-text.ts'
import type { CardHands } from './card.ts'
import { el } from './dom.ts'

interface Drawn {
  readonly root: HTMLElement
  /** Undefined where nothing was filled in. */
  value(): string | number | boolean | readonly string[] | undefined
}

export function formParts(ask: FormAsk, hands: CardHands) {
  const required = new Set(ask.schema.required)
  const fields = Object.entries(ask.schema.properties).map(
    ([name, field]) => [name, drawField(name, field, required.has(name))] as const,
  )
  const values = (): JsonObject =>
    Object.fromEntries(
      fields.flatMap(([name, drawn]) => {
        const value = drawn.value()
        return value === undefined ? [] : [[name, value]]
      }),
    )
  const submit = hands.button('Submit', 'primary', () => hands.send(submit, { kind: 'submit', values: values() }))
  const decline = hands.button('Decline', 'apart', () => hands.send(decline, { kind: 'decline' }))
  const body = el(
    'div.body',
    {},
    el('p.what', {}, 'Asks you to fill in ', words(ask.title)),
    ask.message !== '' && prose(ask.message),
    ask.url !== undefined && link(ask.url),
    ...fields.map(([, drawn]) => drawn.root),
  )
  return { body, foot: el('div.actions', {}, submit, decline) }
}

/** The host is what a person can judge: it stands first, in its ASCII form. */
function link(text: string): HTMLElement {
  const url = new URL(text)
  const safe = url.protocol === 'https:' || url.protocol === 'http:'
  const open = el('a', { href: url.href, target: '_blank', rel: 'noopener noreferrer' }, `Open a page of ${url.host} ↗`)
  return el('div', {}, safe && open, prose(url.href))
}

function drawField(name: string, field: FormField, required: boolean): Drawn {
  const title = () => [words(field.title ?? name), required && el('span.hint', {}, ' required')]
  const about = () => field.description !== undefined && prose(field.description)
  const choices = fieldChoices(field)
  if (field.type === 'boolean') {
    const box = el('input', { type: 'checkbox', checked: field.default ?? false })
    return { root: el('div', {}, el('label.option', {}, box, ...title()), about()), value: () => box.checked }
  }
  if (field.type === 'array') {
    const boxes = (choices ?? []).map(({ value }) =>
      el('input', { type: 'checkbox', value, checked: field.default?.includes(value) ?? false }),
    )
    const rows = (choices ?? []).map((choice, i) => el('label.option', {}, boxes[i] ?? null, words(choice.title)))
    const chosen = () => boxes.filter(box => box.checked).map(box => box.value)
    const root = el('fieldset', {}, el('legend', {}, ...title()), about(), ...rows)
    return { root, value: () => (chosen().length > 0 || required ? chosen() : undefined) }
  }
  const input = choices ? drawSelect(choices, field.default) : drawInput(field)
  const read = () => (field.type === 'string' ? input.value : Number(input.value))
  return {
    root: el('div', {}, el('label.field', {}, el('span', {}, ...title()), input), about()),
    value: () => (input.value === '' ? undefined : read()),
  }
}

function drawSelect(choices: readonly { value: string; title: string }[], preset: unknown): HTMLSelectElement {
  // The options' text is shown by the browser as it is, so it is made visible here.
  const options = choices.map(({ value, title }) => el('option', { value }, words(title).textContent))
  const select = el('select', {}, el('option', { value: '' }, '—'), ...options)
  if (typeof preset === 'string') select.value = preset
  return select
}

const inputTypes: Readonly<Record<string, string>> = { email: 'email', uri: 'url', date: 'date' }

function drawInput(field: Exclude<FormField, { type: 'boolean' | 'array' }>): HTMLInputElement {
  const value = field.default === undefined ? '' : String(field.default)
  if (field.type !== 'string')
    return el('input', { type: 'number', step: field.type === 'integer' ? '1' : 'any', value })
  const placeholder = field.format === 'date-time' ? '2026-01-31T12:00:00Z' : ''
  return el('input', { type: inputTypes[field.format ?? ''] ?? 'text', placeholder, value })
}
