/** May it? The input whole, as it would run, and the ways to say yes or no. */
import { type ApprovalAsk, hidesSomething, type JsonObject } from '@holdpoint/protocol'
import { change, code, editableJson, json, prose, words } from './agent-text.ts'
import type { CardHands } from './card.ts'
import { el } from './dom.ts'

export function approvalBody(ask: ApprovalAsk): HTMLElement {
  const { caution, description, plan } = ask
  return el(
    'div.body',
    {},
    el('p.what', {}, 'Wants to use ', words(ask.tool), ...(ask.cwd === '' ? [] : [' in ', words(ask.cwd)])),
    ...showInput(ask.input, plan),
    plan !== undefined && el('div', {}, el('p.hint', {}, 'Its plan'), code(plan)),
    el('p.quote', {}, el('span.hint', {}, 'agent says '), words(ask.title)),
    description !== undefined && el('div.quote', {}, el('span.hint', {}, 'agent says '), prose(description)),
    caution?.reason !== undefined && el('div.caution', {}, el('span.hint', {}, 'careful '), prose(caution.reason)),
    caution?.blockedPath !== undefined &&
      el('p.caution', {}, el('span.hint', {}, 'outside what it may touch '), words(caution.blockedPath)),
  )
}

/** Known shapes are drawn as what they are; whatever else the input holds is shown as JSON, so that nothing is left out. */
function showInput(input: JsonObject, plan: string | undefined): HTMLElement[] {
  const rest: Record<string, unknown> = { ...input }
  const take = (name: string): string | null => {
    const value = rest[name]
    if (typeof value !== 'string') return null
    delete rest[name]
    return value
  }
  const shown: HTMLElement[] = []
  const command = take('command')
  if (command !== null) shown.push(code(command, '$ '))
  if (plan !== undefined && rest.plan === plan) delete rest.plan
  const isEdit = typeof rest.old_string === 'string' && typeof rest.new_string === 'string'
  if (typeof rest.file_path === 'string' && (isEdit || typeof rest.content === 'string')) {
    shown.push(el('p.file', {}, words(take('file_path') ?? '')))
    shown.push(isEdit ? change(take('old_string') ?? '', take('new_string') ?? '') : change('', take('content') ?? ''))
  }
  if (Object.keys(rest).length > 0) shown.push(json(rest))
  return shown
}

export function approvalFoot(ask: ApprovalAsk, hands: CardHands): HTMLElement {
  const note = el('input', { type: 'text', placeholder: 'Goes to the agent with your yes' })
  const noteRow = el('label.field', { hidden: true }, 'Note to the agent', note)
  const said = () => (note.value.trim() === '' ? {} : { note: note.value.trim() })
  const sure = ask.caution?.defaultToNo === true
  const allow = hands.button('Allow once', 'primary.allow', () => hands.send(allow, { kind: 'allow', ...said() }), sure)
  const main = el('div.actions', {}, allow)
  const panels: HTMLElement[] = [main]
  const turnTo = (panel: HTMLElement, focus?: HTMLElement) => {
    for (const each of panels) each.hidden = each !== panel
    hands.changed()
    const to = focus ?? panel.closest<HTMLElement>('.card')
    to?.focus()
  }
  if (ask.editable) {
    const [panel, area] = editPanel(ask, hands, said, () => turnTo(main), sure)
    panels.push(panel)
    main.append(hands.button('Edit…', '', () => turnTo(panel, area)))
  }
  const addNote = hands.button('Add a note…', 'quietly', () => {
    addNote.hidden = true
    noteRow.hidden = false
    note.focus()
  })
  const [panel, reason] = denyPanel(hands, () => turnTo(main))
  panels.push(panel)
  const deny = hands.button('Deny…', 'apart', () => turnTo(panel, reason))
  main.append(addNote, deny)
  for (const each of panels) each.hidden = each !== main
  return el('div', {}, noteRow, ...panels)
}

type Panel<T extends HTMLElement> = readonly [panel: HTMLElement, field: T]

function editPanel(
  ask: ApprovalAsk,
  hands: CardHands,
  said: () => { note?: string },
  back: () => void,
  sure: boolean,
): Panel<HTMLTextAreaElement> {
  const plain = ['command', 'plan'].find(name => {
    const value = ask.input[name]
    return typeof value === 'string' && !hidesSomething(value, { multiline: true })
  })
  const initial = plain === undefined ? editableJson(ask.input) : String(ask.input[plain])
  const rows = Math.min(16, initial.split('\n').length + 1)
  const area = el('textarea.code', { value: initial, rows, spellcheck: false, autocapitalize: 'off' })
  const read = (): JsonObject | null => {
    if (plain !== undefined) return { ...ask.input, [plain]: area.value }
    try {
      const value: unknown = JSON.parse(area.value)
      return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : null // JSON.parse gives JSON
    } catch {
      return null
    }
  }
  const press = () => {
    const input = read()
    if (input) hands.send(allow, { kind: 'allow', input, ...said() })
    else hands.say('What you wrote is not a JSON object; nothing was sent.')
  }
  const allow = hands.button('Allow what I wrote', 'primary.allow', press, sure)
  const buttons = el('div.actions', {}, allow, hands.button('Back', '', back))
  const label = plain === undefined ? 'Its input, as JSON' : `Its ${plain}`
  return [el('div', {}, el('label.field', {}, `${label}; what stands here is what will run`, area), buttons), area]
}

function denyPanel(hands: CardHands, back: () => void): Panel<HTMLInputElement> {
  const reason = el('input', { type: 'text', placeholder: 'What should it do instead?' })
  const answer = (interrupt: boolean) => ({
    kind: 'deny' as const,
    ...(reason.value.trim() !== '' && { reason: reason.value.trim() }),
    ...(interrupt && { interrupt }),
  })
  const deny = hands.button('Deny', 'primary', () => hands.send(deny, answer(false)))
  const stop = hands.button('Deny and stop', '', () => hands.send(stop, answer(true)))
  reason.onkeydown = event => {
    // A key held down since the panel opened says nothing about this field.
    if (event.key === 'Enter' && !event.repeat && !event.isComposing) hands.send(deny, answer(false))
    if (event.key === 'Escape') back()
  }
  const field = el('label.field', {}, 'Why not? The agent reads it and goes on (optional)', reason)
  return [el('div', {}, field, el('div.actions', {}, deny, stop, hands.button('Back', '', back))), reason]
}
