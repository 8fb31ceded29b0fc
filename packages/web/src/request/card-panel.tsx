/** The panels of a card. The main panel is a row of buttons. The other panels replace it while the person edits the request, writes a note, denies the request, asks back, or chooses what to remember. */
import type { AnswerDraft, DraftSnapshot } from '@holdpoint/client'
import type { Ask, Request, RequestId } from '@holdpoint/protocol'
import { type ReactNode, type RefObject, useEffect, useMemo, useRef, useState } from 'react'
import type { AnswerSubmission } from './answer-submission.ts'
import type { CardDraft } from './draft/use-draft.ts'
import { useShortcutLabel } from './shortcut.tsx'
import { cardTexts } from './texts.ts'

/** Props of the card component for one kind of ask. */
export interface AskCardProps<A extends Ask> {
  readonly request: Request
  readonly ask: A
  readonly submission: AnswerSubmission
  readonly cardDraft: CardDraft
  /** Moves the focus into the card. */
  readonly focusCard: () => void
}

export type CardPanel = 'main' | 'edit' | 'note' | 'deny' | 'ask' | 'remember'

export interface CardPanels {
  readonly current: CardPanel
  /** True if the person opened this panel, false if the draft determines it. */
  readonly takesFocus: boolean
  readonly open: (panel: CardPanel) => void
}

/** Returns the panel in which the person started the draft, or `main` if the draft has no edit, question, reason or note. */
export function panelForDraft({ edit, question, reason, note }: AnswerDraft): CardPanel {
  if (edit !== undefined) return 'edit'
  if (question !== undefined) return 'ask'
  if (reason !== undefined) return 'deny'
  return note === undefined ? 'main' : 'note'
}

/** Returns the panel that the person opened. After another draft has replaced the current draft (`swapCount` has changed), returns the panel for that draft. */
export function useCardPanels(
  { draft, swapCount }: Pick<DraftSnapshot, 'draft' | 'swapCount'>,
  id: RequestId,
): CardPanels {
  const [last, setLast] = useState<{ readonly panel: CardPanel; readonly swapCount: number } | null>(null)
  const chosen = last?.swapCount === swapCount ? last.panel : null
  const current = chosen ?? panelForDraft(draft)
  return useMemo(() => {
    const open = (panel: CardPanel) => {
      setLast({ panel, swapCount })
      // The focused field disappears with its panel, so move the focus to the card.
      if (panel === 'main') document.getElementById(cardElementId(id))?.focus({ preventScroll: true })
    }
    return { current, takesFocus: chosen !== null, open }
  }, [current, chosen, swapCount, id])
}

export function cardElementId(id: RequestId): string {
  return `request-${id}`
}

/** Focuses an element once, when it appears. A card that was hidden and is shown again runs its effects again, but must not take the focus: the next key would be typed into its field. */
export function useAutoFocus<T extends HTMLElement>(takesFocus: boolean): RefObject<T | null> {
  const element = useRef<T>(null)
  const isDone = useRef(false)
  useEffect(() => {
    if (!takesFocus || isDone.current) return
    isDone.current = true
    element.current?.focus()
  }, [takesFocus])
  return element
}

export interface PanelButtonProps {
  readonly label: string
  readonly shortcut?: string | undefined
  readonly disabled: boolean
  readonly className?: string | undefined
  readonly icon?: ReactNode
  readonly onOpen: () => void
}

/** A button that opens a panel of the card and sends nothing. */
export function PanelButton({ label, shortcut, disabled, className = '', icon, onOpen }: PanelButtonProps): ReactNode {
  return (
    <button
      type="button"
      className={`button ${className}`}
      disabled={disabled}
      {...useShortcutLabel(shortcut)}
      onClick={onOpen}
    >
      {icon}
      {label}
    </button>
  )
}

export interface BackButtonProps {
  readonly submission: AnswerSubmission
  readonly onBack: () => void
}

/** A button that closes the panel and shows the main row of buttons again. */
export function BackButton({ submission, onBack }: BackButtonProps): ReactNode {
  return (
    <button
      type="button"
      className="button plain align-end"
      disabled={submission.sendingLabel !== null}
      onClick={onBack}
    >
      {cardTexts.back}
    </button>
  )
}
