/** Which key does what a button does: shown on the card that keys go to, and told to those who hear the page, once. */
import { createContext, type ReactNode, use } from 'react'

export interface CardPlace {
  /** Keys go to this card. */
  readonly active: boolean
  /** The name of the element that says in a line what is asked. */
  readonly about: string
}

export const CardContext = createContext<CardPlace>({ active: false, about: '' })

export interface KeyHint {
  /** The style draws it over the button's edge: a button that grows under the pointer would slip away from the click. */
  readonly 'data-key'?: string
  readonly 'aria-keyshortcuts'?: string
}

/** Keys go to something else than the cards now. */
export const KeysElsewhere = createContext(false)

export function keyHint(key: string): KeyHint {
  return { 'data-key': key, 'aria-keyshortcuts': key }
}

export function useKeyHint(key: string | undefined): KeyHint {
  const { active } = use(CardContext)
  const elsewhere = use(KeysElsewhere)
  return key === undefined || !active || elsewhere ? {} : keyHint(key)
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
    <button type="button" className={`button ${className}`} disabled={held} {...useKeyHint(shortcut)} onClick={onGo}>
      {label}
    </button>
  )
}
