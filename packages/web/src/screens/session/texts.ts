/** Texts of the session screen. */
import type { Session } from '@holdpoint/protocol'

export interface ComposerLabels {
  /** Returns why the person can’t send a message; null if they can. */
  readonly closed: string | null
  readonly placeholder: string
  readonly button: string
  /** A hint that says when the agent will read the message, if not at once. */
  readonly hint: string | null
}

export function composerLabels(session: Pick<Session, 'state' | 'pending' | 'capabilities'>): ComposerLabels {
  const { state, pending, capabilities } = session
  const base = { closed: null, placeholder: 'Message the agent', button: 'Send', hint: null }
  if (state === 'ended' && !capabilities.includes('resumable'))
    return { ...base, closed: 'This session has ended, and its agent can’t be resumed.' }
  if (!capabilities.includes('messages')) return { ...base, closed: 'This agent doesn’t accept messages.' }
  if (state === 'ended')
    return { ...base, placeholder: 'This session has ended. Send a message to reopen it.', button: 'Continue' }
  if (state === 'disconnected')
    return { ...base, hint: 'The agent is disconnected. It will read this when it comes back.' }
  if (pending > 0) {
    const requests = pending === 1 ? 'the pending request' : `the ${pending} pending requests`
    return { ...base, hint: `The agent will read this after you answer ${requests}.` }
  }
  if (state === 'working' || state === 'starting')
    return { ...base, hint: 'The agent will read this when it finishes its turn.' }
  if (state === 'parked') return { ...base, hint: 'Sending a message resumes the agent.' }
  return base
}

export const composerTexts = { attachments: 'Attachments', dropHint: 'Drop to attach', addFiles: 'Add files' } as const

export const messageStates = { waiting: 'Queued', taken: 'Read', done: '', failed: 'Failed' } as const

export const noticeTexts = {
  notices: 'Notices about this agent',
  attach: 'Share this session in the agent’s own terminal, on the machine that runs it:',
} as const

export const processTexts: Record<NonNullable<Session['process']>['state'], string> = {
  live: 'running',
  parked: 'parked (no process)',
  idle: 'idle (no process)',
  done: 'process finished',
  stopped: 'process stopped',
  lost: 'process ended unexpectedly',
}

export const toolTexts = {
  preparing: 'preparing',
  running: 'running',
  ok: '',
  failed: 'failed',
  noResult: 'no result',
} as const

export const transcriptTexts = {
  begin: 'The session starts here.',
  empty: 'No messages yet.',
  loadingEarlier: 'Loading earlier messages…',
  toNewest: '↓ Newest',
  cutOff: 'The message was cut off here.',
  waitingForYou: 'Waiting for you',
  waitingHere: 'waiting for you',
} as const

export const defaultChoice = 'Default'

/** Texts of the panel beside or below the transcript. */
export const panelTexts = {
  label: 'Requests and overview',
  requests: 'Waiting for you',
  overview: 'Overview',
  search: 'Search',
  lower: 'Lower',
  pendingList: 'Pending requests of this session',
  moreInInbox: (count: number) => `${count} more in the inbox.`,
} as const
