/** Texts of the Sessions screen. */
import { waitedTime } from '@holdpoint/client'

export const sessionListTexts = {
  title: 'Sessions',
  search: 'Search sessions',
  state: 'State',
  loadFailed: 'The sessions couldn’t be loaded.',
  empty: 'No sessions yet.',
  emptyHint:
    'A session is one conversation with one agent. Start one here or with “holdpoint run”, or connect a script with “holdpoint ask”.',
  newSession: 'New session…',
  showAll: 'Show all sessions',
  showOlder: 'Show older',
  markAllRead: 'Mark all as read',
  end: 'End',
  delete: 'Delete',
  deleteWarning: 'This deletes the session’s history.',
  arrange: 'Arrange by',
  noFolder: 'No folder',
  count: (count: number) => (count === 1 ? '1 session' : `${count} sessions`),
} as const

/** Returns how long sessions have waited for people, or null for less than a second, which is no wait that a person notices. */
export function waitedText(ms: number): string | null {
  const time = waitedTime(ms)
  return time === null ? null : `waited ${time} for people`
}

export const stateChoices = [
  { value: 'all', name: 'All' },
  { value: 'waiting', name: 'Waiting' },
  { value: 'failed', name: 'Failed' },
  { value: 'working', name: 'Working' },
  { value: 'idle', name: 'Idle' },
  { value: 'parked', name: 'Parked' },
  { value: 'disconnected', name: 'Disconnected' },
  { value: 'ended', name: 'Ended' },
] as const

export const arrangements = [
  { value: 'project', name: 'By project' },
  { value: 'list', name: 'One list' },
] as const
