/** Collects what an action touches, each with its level, and turns it into a risk. */
import type { Risk, Touch } from '@holdpoint/protocol'

/** The order in which touches are shown: the most serious first. */
const order: readonly Touch[] = [
  'secrets',
  'publishes',
  'privileges',
  'rewrites-history',
  'deletes',
  'writes-outside',
  'settings',
  'installs',
  'network',
  'project-code',
  'unreadable',
]

export type FindingLevel = 'notable' | 'dangerous'

export class RiskFindings {
  readonly #touches = new Set<Touch>()
  #level: Risk['level'] = 'low'

  /** Notes that the action touches something. */
  add(touch: Touch, level: FindingLevel = 'notable'): void {
    this.#touches.add(touch)
    this.raise(level)
  }

  /** Notes that the action is not harmless, although it touches nothing that a risk can name. */
  raise(level: FindingLevel): void {
    if (this.#level !== 'dangerous') this.#level = level
  }

  get risk(): Risk {
    return { level: this.#level, touches: order.filter(touch => this.#touches.has(touch)) }
  }
}
