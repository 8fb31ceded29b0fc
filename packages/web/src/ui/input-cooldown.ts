/** The input cooldown: for a moment after the page changes by itself, clicks and keys answer nothing, because the person may have meant the previous content. */

/** The length of the cooldown. It must cover the second click of a double click, and a key that the person was already pressing. */
export const cooldownMs = 500

let lastChangeAt = Number.NEGATIVE_INFINITY

/** Call when content under the pointer or the focus changes without an action of the person. */
export function startCooldown(): void {
  lastChangeAt = performance.now()
}

/** Returns whether the page has changed since a press began, or shortly before. */
export function inCooldown(pressedAt = performance.now()): boolean {
  return pressedAt - lastChangeAt < cooldownMs
}
