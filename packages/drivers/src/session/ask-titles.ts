/** Titles of asks: shortens a title, and names a call that the agent made. */
import { type Ask, limits } from '@holdpoint/protocol'

export function truncateTitle(title: string): string {
  return title.length > limits.titleMax ? `${title.slice(0, limits.titleMax - 1)}…` : title
}

/** Returns a name that tells the agent which of its open calls is meant. */
export function nameOfAsk(ask: Ask): string {
  return ask.kind === 'questions' ? ask.questions.map(({ question }) => question).join(' ') : ask.title
}
