/** What the composer says, and whether one can speak at all: it depends on what the session is about. */
import type { Session } from '@holdpoint/protocol'

export interface ComposerLabels {
  /** Null: one can speak. Else why not. */
  readonly closed: string | null
  readonly placeholder: string
  readonly button: string
  /** When the agent will read it, where that is not at once. */
  readonly hint: string | null
}

export function composerLabels(session: Pick<Session, 'state' | 'pending' | 'capabilities'>): ComposerLabels {
  const { state, pending, capabilities } = session
  const base = { closed: null, placeholder: 'Say something to the agent', button: 'Send', hint: null }
  if (state === 'ended' && !capabilities.includes('resumable'))
    return { ...base, closed: 'This session has ended, and its agent cannot be brought back.' }
  if (!capabilities.includes('messages')) return { ...base, closed: 'This agent takes no messages.' }
  if (state === 'ended')
    return { ...base, placeholder: 'It has ended. A message opens it again.', button: 'Continue', hint: null }
  if (pending > 0) {
    const asks = pending === 1 ? 'the request above' : `the ${pending} requests above`
    return { ...base, hint: `Waits behind ${asks}: it will be read once that is settled.` }
  }
  if (state === 'working' || state === 'starting') return { ...base, hint: 'Queued: it will read this after its turn.' }
  if (state === 'parked') return { ...base, hint: 'Brings the agent back, which is parked.' }
  return base
}
