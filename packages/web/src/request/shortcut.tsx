/** The key hint on a button: visible on the active card, and announced by screen readers. */
import { createContext, use } from 'react'
import './shortcut.css'

export interface CardContextValue {
  /** True if shortcuts act on this card. */
  readonly active: boolean
  /** Id of the element that summarizes the request in one line. */
  readonly descriptionId: string
}

export const CardContext = createContext<CardContextValue>({ active: false, descriptionId: '' })

export interface Shortcut {
  /** The key that CSS draws over the button's edge. A hint inside the button would change the button's size just when the person clicks. */
  readonly 'data-key'?: string
  readonly 'aria-keyshortcuts'?: string
}

export function shortcutLabel(key: string): Shortcut {
  return { 'data-key': key, 'aria-keyshortcuts': key }
}

export function useShortcutLabel(key: string | undefined): Shortcut {
  const { active } = use(CardContext)
  return key === undefined || !active ? {} : shortcutLabel(key)
}
