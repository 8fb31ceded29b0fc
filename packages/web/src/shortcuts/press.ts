/** A key press, click or tap that sends an answer, and the check that the person meant what is on the screen (G12). */
import { cooldownMs, inCooldown } from '../ui/input-cooldown.ts'

export interface Press {
  /** The time at which the press began; negative infinity if the button has moved or changed since. */
  readonly at: number
  /** True for a key that was held. It was checked when it was pressed, and its request has not changed since. */
  readonly isHeldKey?: boolean
  /** True if the key probably belongs to a text. */
  readonly isTyped?: boolean
}

/** Returns why a press must not send an answer; null if it may. `shownAt` is when the request appeared. */
export function pressProblem(
  { at, isHeldKey = false, isTyped = false }: Press,
  shownAt = Number.NEGATIVE_INFINITY,
): 'typed' | 'changed' | null {
  if (isTyped) return 'typed'
  return (!isHeldKey && inCooldown(at)) || at - shownAt < cooldownMs ? 'changed' : null
}
