/** How agents' text gets onto the page: made visible, as text, on a ground of its own (G9). */
import { hidesSomething, reveal } from '@holdpoint/protocol'
import { compareLines, type Row, type Sign } from './diff.ts'
import { el } from './dom.ts'

const layout = { multiline: true }
const flatMax = 72
const kinds: Record<Sign, string> = { ' ': 'same', '−': 'removed', '+': 'added' }

/** A few words of an agent inside a line of ours. */
export function words(text: string): HTMLElement {
  return el('bdi.words', {}, reveal(text))
}

/** Text as it is read: a sentence of an agent, what it says in a transcript. */
export function prose(text: string): HTMLElement {
  return ground(el('div.prose', {}, reveal(text, layout)), text)
}

/** Text as it is executed: logical order, every character. `sign` is ours and stands before the text. */
export function code(text: string, sign = ''): HTMLElement {
  const block = el('pre.code', {}, sign !== '' && el('span.sign', { ariaHidden: 'true' }, sign), reveal(text, layout))
  return ground(block, text)
}

/** Pretty, and on one line where that is short. */
export function json(value: unknown): HTMLElement {
  const pretty = JSON.stringify(value, null, 2) ?? 'nothing'
  const flat = pretty.replace(/\n */g, ' ')
  return code(flat.length <= flatMax ? flat : pretty)
}

/** JSON in which what cannot be seen is spelt out, so that it can be edited with open eyes. */
export function editableJson(value: unknown): string {
  return JSON.stringify(value, null, 2).replace(/[^\x20-\x7e\n]/gu, char =>
    hidesSomething(char)
      ? Array.from({ length: char.length }, (_, i) => `\\u${char.charCodeAt(i).toString(16).padStart(4, '0')}`).join('')
      : char,
  )
}

/** A change of a file, whole: what stays, what is taken away, what is put in its place. */
export function change(before: string, after: string): HTMLElement {
  const rows = compareLines(before, after)
  const draw = ([sign, text]: Row) =>
    el(`div.${kinds[sign]}`, {}, el('span.sign', {}, `${sign} `), reveal(text, layout) || ' ')
  const count = (sign: Sign) => rows.filter(row => row[0] === sign).length
  return el(
    'div',
    {},
    el('p.hint', {}, `${count('−')} removed, ${count('+')} added`),
    ground(el('pre.code.diff', {}, ...rows.map(draw)), before + after),
  )
}

function ground(block: HTMLElement, text: string): HTMLElement {
  const warning = 'Characters that cannot be seen are spelt out as \\u{…}.'
  return el('div.ground', {}, block, hidesSomething(text, layout) && el('p.warning', {}, `⚠ ${warning}`))
}
