/** What the rows of a transcript know of the whole: whether its agent is at work; and which folded things a person has opened, since a list that draws only what is on screen forgets its rows. */
import { createContext, use, useState } from 'react'

export const ExpandedContext = createContext<Set<string>>(new Set())
/** Whether something may still be running. */
export const WorkingContext = createContext(true)

export function useExpanded(key: string): readonly [open: boolean, toggle: () => void] {
  const opened = use(ExpandedContext)
  const [open, setOpen] = useState(() => opened.has(key))
  const toggle = () => {
    if (open) opened.delete(key)
    else opened.add(key)
    setOpen(!open)
  }
  return [open, toggle]
}
