/** Which key does what a button does: shown on the card that keys go to, and told to those who hear the page, once. */
import { createContext, type ReactNode, use } from 'react'
import './shortcut.css'

export interface CardPlace {
  /** Keys go to this card. */
  readonly active: boolean
  /** The name of the element that says in a line what is asked. */
  readonly about: string
}

export const CardContext = createContext<CardPlace>({ active: false, about: '' })

export interface Shortcut {
  /** The style draws it over the button's edge: a button that grows under the pointer would slip away from the click. */
  readonly 'data-key'?: string
  readonly 'aria-keyshortcuts'?: string
}

/** Keys go to something else than the cards now. */
export const ShortcutsDisabled = createContext(false)

export function shortcutLabel(key: string): Shortcut {
  return { 'data-key': key, 'aria-keyshortcuts': key }
}

export function useShortcutLabel(key: string | undefined): Shortcut {
  const { active } = use(CardContext)
  const elsewhere = use(ShortcutsDisabled)
  return key === undefined || !active || elsewhere ? {} : shortcutLabel(key)
}

export interface StepButtonProps {
  readonly label: string
  readonly shortcut?: string | undefined
  readonly held: boolean
  readonly className?: string | undefined
  readonly onGo: () => void
}

/** Opens another step of a card, and decides nothing. */
export function StepButton({ label, shortcut, held, className = '', onGo }: StepButtonProps): ReactNode {
  return (
    <button
      type="button"
      className={`button ${className}`}
      disabled={held}
      {...useShortcutLabel(shortcut)}
      onClick={onGo}
    >
      {label}
    </button>
  )
}
