/** The steps of a card: what is open beside its first row of buttons, and where the cursor goes with it. */
import type { AnswerDraft, DraftSnapshot } from '@holdpoint/client'
import type { RequestId } from '@holdpoint/protocol'
import { type RefObject, useEffect, useMemo, useRef, useState } from 'react'

export type CardPanel = 'first' | 'edit' | 'note' | 'deny' | 'always'

export interface CardPanels {
  readonly step: CardPanel
  /** Chosen by the person just now, not found open because of a draft. */
  readonly focused: boolean
  readonly go: (step: CardPanel) => void
}

/** An unfinished answer opens the step that it was begun in. */
export function panelOf({ edit, reason, note }: AnswerDraft): CardPanel {
  if (edit !== undefined) return 'edit'
  if (reason !== undefined) return 'deny'
  return note === undefined ? 'first' : 'note'
}

/** What was chosen counts until another draft was taken in, which has a step of its own. */
export function useCardPanels(
  { draft, swapCount }: Pick<DraftSnapshot, 'draft' | 'swapCount'>,
  id: RequestId,
): CardPanels {
  const [last, setLast] = useState<{ readonly step: CardPanel; readonly swapCount: number } | null>(null)
  const chosen = last?.swapCount === swapCount ? last.step : null
  const step = chosen ?? panelOf(draft)
  return useMemo(() => {
    const go = (to: CardPanel) => {
      setLast({ step: to, swapCount })
      // The field that had the cursor goes away; the keyboard stays with the card.
      if (to === 'first') document.getElementById(cardName(id))?.focus({ preventScroll: true })
    }
    return { step, focused: chosen !== null, go }
  }, [step, chosen, swapCount, id])
}

/** How a card's element is called. */
export function cardName(id: RequestId): string {
  return `request-${id}`
}

export function useFocused<T extends HTMLElement>(focused: boolean): RefObject<T | null> {
  const element = useRef<T>(null)
  useEffect(() => {
    if (focused) element.current?.focus()
  }, [focused])
  return element
}
