/** Registry of the actions that shortcuts can run on a card: each card registers its own, and the keyboard handler looks them up by request. */
import type { Answer, RequestId } from '@holdpoint/protocol'
import { useEffect } from 'react'

/** An action is absent while the card does not offer it. */
export interface CardActions {
  /** Sends the answer at once. Absent on a request that its agent marks as dangerous, and until the whole request has been on the screen. */
  readonly allow?: () => void
  /** The answer that `allow` sends; null while the card holds another unfinished answer. */
  readonly allowAnswer?: Answer | null
  /** Opens the panel that asks for a reason and focuses its field. */
  readonly deny?: () => void
  readonly edit?: () => void
  /** Picks the option with this number, counted from 1, of the first unanswered question. */
  readonly choose?: (number: number) => void
  /** Expands collapsed content and moves the focus into the card. */
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
