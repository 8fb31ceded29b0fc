/** Texts of the session screen. */
import { acceptsMessages, toolInputLabels } from '@holdpoint/client'
import type { Session } from '@holdpoint/protocol'
import { formatCount } from '../../text/format-amounts.ts'

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
  if (!acceptsMessages(session)) return { ...base, closed: 'This agent doesn’t accept messages.' }
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
  toNewest: 'Newest',
  cutOff: 'The message was cut off here.',
  waitingForYou: 'Waiting for you',
  waitingHere: 'waiting for you',
} as const

export const defaultChoice = 'Default'

export const toolDetailTexts = {
  ...toolInputLabels,
  noInput: 'No input',
  asJson: 'Input as JSON',
  fromLine: (line: number) => `From line ${line}`,
  result: 'Result',
  error: 'Error',
  noOutput: 'No output',
} as const

/** How screen readers announce the state of a to-do item. */
export const todoStates = { pending: 'To do', active: 'In progress', done: 'Done', canceled: 'Canceled' } as const

/** Texts of the panel beside or below the transcript. */
export const sessionPanelTexts = {
  allSessions: 'All sessions',
  label: 'Requests and overview',
  requests: 'Waiting for you',
  overview: 'Overview',
  search: 'Search',
  lower: 'Lower',
  pendingList: 'Pending requests of this session',
  position: (position: number, count: number) => `Request ${position} of ${count}`,
  previous: 'Previous',
  next: 'Next',
  moreInInbox: (count: number) => `${count} more in the inbox.`,
} as const

export const variableTexts = {
  variables: 'Variables',
  watchers: (count: number) => (count === 1 ? '1 watcher' : `${count} watchers`),
  loadFailed: 'The variables couldn’t be loaded.',
  change: 'Change',
  changeOf: (name: string) => `Change ${name}`,
  valueOf: (name: string) => `New value of ${name}`,
  save: 'Save',
  cancel: 'Cancel',
  setBy: 'set by',
  ago: (time: string) => (time === 'now' ? 'just now' : `${time} ago`),
  wrongType: { boolean: 'Enter true or false.', number: 'Enter a number.' },
  notTrusted: 'This file is not trusted, so its watchers can only deny and ask.',
} as const

export const searchTexts = {
  label: 'Search the transcript',
  none: 'No matches',
  position: (position: number, count: number) => `${position} of ${count}`,
  earlier: 'Earlier match',
  later: 'Later match',
  close: 'Close',
  more: 'Search earlier entries',
  loading: 'Loading earlier entries…',
} as const

/** Which part of a session the search and the overview cover. */
export const coverageTexts = {
  whole: 'Covers the whole session.',
  failed: (error: string) => `Earlier entries couldn’t be loaded: ${error}`,
  since: (entries: number, time: string) => `Covers the last ${entries.toLocaleString('en')} entries, since ${time}.`,
} as const

export const overviewTexts = {
  label: 'Overview',
  started: 'Started',
  openFor: 'Open for',
  lasted: 'Lasted',
  cost: 'Cost so far',
  unknownCost: 'not reported by this agent',
  agent: 'Agent',
  repository: 'Repository',
  process: 'Process',
  todo: (done: number, all: number) => `To-do list: ${done} of ${all} done`,
  files: (count: number) => (count === 1 ? '1 file changed' : `${count} files changed`),
  noFiles: 'The agent has changed no files with its own tools.',
  filesNote: 'Files that commands changed are not included.',
  lines: (added: number, removed: number) => `${formatCount(added, 'line')} added, ${removed} removed`,
  inTranscript: 'Show in the transcript',
  outline: 'Turns',
  more: 'Load earlier entries',
  loading: 'Loading earlier entries…',
} as const

export const outlineTexts = {
  running: 'Not finished',
  noMessage: 'Without a message',
  tools: (count: number) => (count === 1 ? '1 tool call' : `${count} tool calls`),
  errors: (count: number) => (count === 1 ? '1 error' : `${count} errors`),
} as const

/** Texts of the buttons that move in the transcript. */
export const jumpTexts = { nextWaiting: 'Next waiting request', noOther: 'No other request is waiting.' } as const
