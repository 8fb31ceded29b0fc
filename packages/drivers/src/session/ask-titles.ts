/** Names a call that the agent made. */
import type { Ask } from '@holdpoint/protocol'

/** Returns a name that tells the agent which of its open calls is meant. */
export function nameOfAsk(ask: Ask): string {
  return ask.kind === 'questions' ? ask.questions.map(({ question }) => question).join(' ') : ask.title
}
