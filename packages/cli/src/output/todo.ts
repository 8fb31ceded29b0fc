/** Formats an agent's to-do list: one row for each item, with a sign for its state. */
import type { TodoItem } from '@holdpoint/client'
import { indented, type Row, type Style, trusted, untrusted } from './span.ts'

const signs: Readonly<Record<TodoItem['state'], readonly [sign: string, style: Style | null]>> = {
  done: ['✓ ', 'yes'],
  active: ['▸ ', 'strong'],
  pending: ['· ', 'quiet'],
  canceled: ['– ', 'quiet'],
}

export function todoRows(items: readonly TodoItem[]): readonly Row[] {
  return items.map(({ text, state }) => {
    const [sign, style] = signs[state]
    return indented(
      trusted(sign, style),
      untrusted(text, state === 'active' ? 'strong' : null),
      trusted(state === 'canceled' ? ' (canceled)' : '', 'quiet'),
    )
  })
}
