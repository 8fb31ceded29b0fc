/** What keys may do with a card: each card says it here, and the keyboard looks it up for the card it is on. */
import type { Answer, RequestId } from '@holdpoint/protocol'
import { useEffect } from 'react'

/** Left out where the card has no such action now. */
export interface CardActions {
  /** Decides at once; not there on what its agent marks as dangerous, nor before all of it was on the screen. */
  readonly allow?: () => void
  /** What `allow` sends; null while another answer is begun on the card. */
  readonly yes?: Answer | null
  /** Opens the step that asks for a reason, and puts the cursor there. */
  readonly deny?: () => void
  readonly edit?: () => void
  /** Picks the option with this number, from 1 on, of the first question that is not answered. */
  readonly choose?: (number: number) => void
  /** Unfolds what is folded, and puts the focus into the card. */
  readonly open?: () => void
}

const registry = new Map<RequestId, CardActions>()

export function cardActionsOf(id: RequestId): CardActions | undefined {
  return registry.get(id)
}

export function useCardActions(id: RequestId, actions: CardActions): void {
  useEffect(() => {
    registry.set(id, actions)
    return () => {
      if (registry.get(id) === actions) registry.delete(id)
    }
  }, [id, actions])
}
