/** Prevents shortcuts from answering a card that is off screen. The first key press only scrolls the card into view. */
import type { Request } from '@holdpoint/protocol'
import { startCooldown } from '../ui/input-cooldown.ts'

/** Minimum visible height of a card's content or buttons, about one line with its padding. */
const visibleMinPx = 48

/** Returns true if the card's content or its buttons are visible. A placeholder card has neither content nor buttons. */
export function isInView(element: Element | null): boolean {
  return [...(element?.querySelectorAll('.card-body, .card-footer') ?? [])].some(part => {
    const { height } = part.getBoundingClientRect()
    return height > 0 && visibleHeight(part) >= Math.min(height, visibleMinPx)
  })
}

/** Returns whether a part of the element is visible. */
export function isOnScreen(element: Element | null): boolean {
  return element !== null && visibleHeight(element) > 0
}

/** Focuses the element and scrolls it into view. */
export function bringIntoView(element: HTMLElement): void {
  element.focus({ preventScroll: true })
  element.scrollIntoView({ block: 'nearest' })
}

/** Returns the request if its card is in view; otherwise scrolls to the card. */
export function requireInView(request: Request, element: HTMLElement | null): Request | 'off screen' {
  if (isInView(element)) return request
  if (element) bringIntoView(element)
  startCooldown()
  return 'off screen'
}

/** Returns the height of the part of the element that neither an ancestor nor the window clips. */
function visibleHeight(part: Element): number {
  let { top, bottom } = part.getBoundingClientRect()
  for (let ancestor = part.parentElement; ancestor; ancestor = ancestor.parentElement) {
    if (getComputedStyle(ancestor).overflowY === 'visible') continue
    const box = ancestor.getBoundingClientRect()
    top = Math.max(top, box.top)
    bottom = Math.min(bottom, box.bottom)
  }
  return Math.min(bottom, innerHeight) - Math.max(top, 0)
}
