/** Ignores answers for a moment after the page changes by itself, so that a key or click meant for the previous content decides nothing. */

/** Longer than the gap of a double click, or than a key press already under way. */
export const cooldownMs = 500

let lastChangeAt = Number.NEGATIVE_INFINITY

/** Call this when content under the pointer or the keyboard focus changes without the person's doing. */
export function startCooldown(): void {
  lastChangeAt = performance.now()
}

export function inCooldown(): boolean {
  return performance.now() - lastChangeAt < cooldownMs
}
