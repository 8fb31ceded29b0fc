/** Nobody decides by a key what is not before their eyes: a card that is not comes there first, and that press decides nothing. */
import type { Request } from '@holdpoint/protocol'
import { startCooldown } from './input-cooldown.ts'

/** So much of what is asked, or of the buttons below it, is on the screen: about a line and the room around it. */
const enoughPx = 48

/** Whether one sees what is asked, or the buttons that answer it. An outline has neither. */
export function isInView(place: Element | null): boolean {
  return [...(place?.querySelectorAll('.card-body, .card-foot') ?? [])].some(part => {
    const { height } = part.getBoundingClientRect()
    return height > 0 && seenHeight(part) >= Math.min(height, enoughPx)
  })
}

/** The focus and the screen go there. */
export function bringIntoView(place: HTMLElement): void {
  place.focus({ preventScroll: true })
  place.scrollIntoView({ block: 'nearest' })
}

/** The request that a key is for, if `place`, where its card stands, is before the eyes. */
export function requireInView(request: Request, place: HTMLElement | null): Request | null {
  if (isInView(place)) return request
  if (place) bringIntoView(place)
  startCooldown()
  return null
}

/** What of its height nothing that scrolls around it cuts off. */
function seenHeight(part: Element): number {
  let { top, bottom } = part.getBoundingClientRect()
  for (let around = part.parentElement; around; around = around.parentElement) {
    if (getComputedStyle(around).overflowY === 'visible') continue
    const edge = around.getBoundingClientRect()
    top = Math.max(top, edge.top)
    bottom = Math.min(bottom, edge.bottom)
  }
  return Math.min(bottom, innerHeight) - Math.max(top, 0)
}
