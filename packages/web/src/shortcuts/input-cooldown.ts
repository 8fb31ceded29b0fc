/** Nothing is decided by a key or a click that was meant for something else: right after a change, decisions do not count. */

/** As long as a double click or a key in flight may take. */
export const cooldownMs = 500

let changedAt = Number.NEGATIVE_INFINITY

/** What stands under the pointer or the keyboard has changed by itself. */
export function startCooldown(): void {
  changedAt = performance.now()
}

export function inCooldown(): boolean {
  return performance.now() - changedAt < cooldownMs
}
