/** Texts that several screens share. */

export const commonTexts = {
  tryAgain: 'Try again',
  noResults: 'No results',
  newItems: 'new',
  sending: 'Sending…',
} as const

/** The first message of a rehearsal, to which the demo agent answers with every kind of request. */
export const rehearsalPrompt = 'Show me everything'

/** The consequence shown when a person is about to stop something, for example “This stops the agent and cancels 2 pending requests.” */
export function stopWarning(stops: string, pending: number): string {
  if (pending === 0) return `${stops}.`
  return `${stops} and cancels ${pending} pending ${pending === 1 ? 'request' : 'requests'}.`
}
