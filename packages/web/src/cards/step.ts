/** The steps of a card: what is open beside its first row of buttons, and where the cursor goes with it. */
import type { AnswerDraft, DraftSnapshot } from '@holdpoint/client'
import type { RequestId } from '@holdpoint/protocol'
import { type RefObject, useEffect, useMemo, useRef, useState } from 'react'

export type Step = 'first' | 'edit' | 'note' | 'deny' | 'always'

export interface Steps {
  readonly step: Step
  /** Chosen by the person just now, not found open because of a draft. */
  readonly focused: boolean
  readonly go: (step: Step) => void
}

/** An unfinished answer opens the step that it was begun in. */
export function stepOf({ edit, reason, note }: AnswerDraft): Step {
  if (edit !== undefined) return 'edit'
  if (reason !== undefined) return 'deny'
  return note === undefined ? 'first' : 'note'
}

/** What was chosen counts until another draft was taken in, which has a step of its own. */
export function useSteps({ draft, swaps }: Pick<DraftSnapshot, 'draft' | 'swaps'>, id: RequestId): Steps {
  const [last, setLast] = useState<{ readonly step: Step; readonly swaps: number } | null>(null)
  const chosen = last?.swaps === swaps ? last.step : null
  const step = chosen ?? stepOf(draft)
  return useMemo(() => {
    const go = (to: Step) => {
      setLast({ step: to, swaps })
      // The field that had the cursor goes away; the keyboard stays with the card.
      if (to === 'first') document.getElementById(cardName(id))?.focus({ preventScroll: true })
    }
    return { step, focused: chosen !== null, go }
  }, [step, chosen, swaps, id])
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
