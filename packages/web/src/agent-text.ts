/** How agents' text gets onto the page: made visible, as text, on a ground of its own (G9). */
import { hidesSomething, reveal } from '@holdpoint/protocol'
import { el } from './dom.ts'

const layout = { multiline: true }

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

export function json(value: unknown): HTMLElement {
  return code(JSON.stringify(value, null, 2) ?? 'nothing')
}

/** JSON in which what cannot be seen is spelt out, so that it can be edited with open eyes. */
export function editableJson(value: unknown): string {
  return JSON.stringify(value, null, 2).replace(/[^\x20-\x7e\n]/gu, char =>
    hidesSomething(char)
      ? Array.from({ length: char.length }, (_, i) => `\\u${char.charCodeAt(i).toString(16).padStart(4, '0')}`).join('')
      : char,
  )
}

/** What is taken away and what is put in its place; lines that both share at the ends stand once. */
export function change(before: string, after: string): HTMLElement {
  const [old, fresh] = [lines(before), lines(after)]
  let head = 0
  while (head < old.length && head < fresh.length && old[head] === fresh[head]) head++
  let tail = 0
  while (tail < Math.min(old.length, fresh.length) - head && old.at(-1 - tail) === fresh.at(-1 - tail)) tail++
  const row = (kind: string, sign: string) => (text: string) =>
    el(`div.${kind}`, {}, el('span.sign', {}, sign), reveal(text, layout))
  const block = el(
    'pre.code.diff',
    {},
    ...old.slice(0, head).map(row('same', '  ')),
    ...old.slice(head, old.length - tail).map(row('removed', '− ')),
    ...fresh.slice(head, fresh.length - tail).map(row('added', '+ ')),
    ...old.slice(old.length - tail).map(row('same', '  ')),
  )
  const count = el('p.hint', {}, `${old.length - head - tail} removed, ${fresh.length - head - tail} added`)
  return el('div', {}, count, ground(block, before + after))
}

function lines(text: string): string[] {
  return text === '' ? [] : text.split('\n')
}

function ground(block: HTMLElement, text: string): HTMLElement {
  const warning = 'Characters that cannot be seen are spelt out as \\u{…}.'
  return el('div.ground', {}, block, hidesSomething(text, layout) && el('p.warning', {}, `⚠ ${warning}`))
}
