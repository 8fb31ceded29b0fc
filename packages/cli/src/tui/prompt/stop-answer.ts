/** What Ctrl+C does to a prompt: it denies or declines the request and stops the turn. If the person may not want that, Ctrl+C first asks. */
import type { Answer } from '@holdpoint/protocol'
import { openPrompt, type Prompt } from './prompt.ts'
import { promptTexts as texts } from './texts.ts'

/** Returns the denial that Ctrl+C sends. It also stops the turn, if the agent can do that and a plain denial would not. */
export function stopAnswer({ request: { ask }, offered }: Prompt): Answer {
  const kind = ask.kind === 'approval' ? 'deny' : 'decline'
  return offered.stop[kind] ? { kind, interrupt: true } : { kind }
}

/** Returns the question to ask before the request is denied; null if the person has read it and has not started an answer. */
export function stopQuestion(prompt: Prompt): string | null {
  const answer = stopAnswer(prompt)
  const verb = answer.kind === 'deny' ? 'deny' : 'decline'
  const stops = 'interrupt' in answer
  if (hasStartedAnswer(prompt)) return texts.stopUnfinished(verb, stops)
  return prompt.isFullyShown ? null : texts.stopUnread(verb, stops)
}

function hasStartedAnswer({ state, request, modes }: Prompt): boolean {
  return JSON.stringify(state) !== JSON.stringify(openPrompt(request, modes).state)
}
