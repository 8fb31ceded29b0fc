/** An agent's to-do list. The state of each item is told by a sign and to screen readers in words. */
import type { TodoItem } from '@holdpoint/client'
import type { ReactNode } from 'react'
import { InlineAgentText } from '../../text/agent-text.tsx'
import { todoStates } from './texts.ts'
import './todo-list.css'

export function TodoList({ items }: { readonly items: readonly TodoItem[] }): ReactNode {
  return (
    <ul className="todo-list agent-background">
      {items.map(({ text, state }, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: items have no other key
        <li key={index} className={`todo ${state}`}>
          <span className="todo-sign" aria-hidden="true" />
          <span className="visually-hidden">{todoStates[state]}: </span>
          <InlineAgentText text={text} />
        </li>
      ))}
    </ul>
  )
}
