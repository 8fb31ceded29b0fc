/** Titles of asks: how a driver shortens one, and how the agent is reminded of a call that it made. */
import { type Ask, limits } from '@holdpoint/protocol'

export function truncateTitle(title: string): string {
  return title.length > limits.titleMax ? `${title.slice(0, limits.titleMax - 1)}…` : title
}

/** Returns a name for a call, for the agent, which may have several open. */
export function nameOfAsk(ask: Ask): string {
  return ask.kind === 'questions' ? ask.questions.map(({ question }) => question).join(' ') : ask.title
}
