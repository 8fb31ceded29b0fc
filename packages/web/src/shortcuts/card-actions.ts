/** Registry of the actions that shortcuts can run on a card. Each card registers its actions, and the keyboard handler looks them up by request id. */
import type { Answer, RequestId } from '@holdpoint/protocol'
import { useEffect } from 'react'
import type { Press } from './press.ts'

/** An action is absent while the card does not offer it. */
export interface CardActions {
  /** Sends the answer. The action is absent if the request is dangerous, and until the whole request has been on the screen. */
  readonly allow?: (press: Press) => void
  /** The answer that `allow` sends; null while the card holds another unfinished answer. */
  readonly allowAnswer?: Answer | null
  /** Opens the panel that asks for a reason and focuses its field. */
  readonly deny?: () => void
  readonly edit?: () => void
  /** Shows the lines of the request to comment on them, or hides them. */
  readonly comment?: () => void
  /** Picks the option with this number, counted from 1, of the question that number keys answer. */
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
