/** An agent's to-do list. An icon shows the state of each item, and screen readers announce it in words. */
import type { TodoItem } from '@holdpoint/client'
import CircleIcon from 'lucide-react/icons/circle'
import CircleCheckIcon from 'lucide-react/icons/circle-check'
import CircleDotIcon from 'lucide-react/icons/circle-dot'
import CircleSlashIcon from 'lucide-react/icons/circle-slash'
import type { ReactNode } from 'react'
import { InlineAgentText } from '../../text/agent-text.tsx'
import { todoStates } from './texts.ts'
import './todo-list.css'

const icons = { pending: CircleIcon, active: CircleDotIcon, done: CircleCheckIcon, canceled: CircleSlashIcon } as const

function TodoIcon({ state }: Pick<TodoItem, 'state'>): ReactNode {
  const Icon = icons[state]
  return <Icon />
}

export function TodoList({ items }: { readonly items: readonly TodoItem[] }): ReactNode {
  return (
    <ul className="todo-list agent-background">
      {items.map(({ text, state }, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: items have no other key
        <li key={index} className={`todo ${state}`}>
          <TodoIcon state={state} />
          <span className="visually-hidden">{todoStates[state]}: </span>
          <InlineAgentText text={text} />
        </li>
      ))}
    </ul>
  )
}
