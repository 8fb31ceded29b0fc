/** State that transcript rows share: whether the agent is working, and which entries are expanded. Rows can't hold this state themselves, because the virtual list unmounts them. */
import type { RequestId } from '@holdpoint/protocol'
import { createContext, use, useState } from 'react'

export const ExpandedContext = createContext<Set<string>>(new Set())
/** False if the agent can't be running any tool. An unfinished tool call is then shown as “no result”. */
export const WorkingContext = createContext(true)
/** Shows the card of a pending request. */
export const ShowRequestContext = createContext<(id: RequestId) => void>(() => {})

export function useExpanded(key: string): readonly [open: boolean, toggle: () => void] {
  const expanded = use(ExpandedContext)
  const [open, setOpen] = useState(() => expanded.has(key))
  const toggle = () => {
    if (open) expanded.delete(key)
    else expanded.add(key)
    setOpen(!open)
  }
  return [open, toggle]
}
