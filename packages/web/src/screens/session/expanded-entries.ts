/** State that transcript rows share: whether the agent is working, and which entries are expanded. A virtual list unmounts rows, so they can't keep it themselves. */
import { createContext, use, useState } from 'react'

export const ExpandedContext = createContext<Set<string>>(new Set())
/** False once the agent can't be running anything. */
export const WorkingContext = createContext(true)

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
