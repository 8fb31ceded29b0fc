/** Texts of the Sessions screen. */

export const sessionListTexts = {
  title: 'Sessions',
  search: 'Search sessions',
  state: 'State',
  loadFailed: 'The sessions couldn’t be loaded.',
  empty: 'No sessions yet.',
  showOlder: 'Show older',
  end: 'End',
  delete: 'Delete',
  deleteWarning: 'This deletes the session’s history.',
  arrange: 'Arrange by',
  noFolder: 'No folder',
  count: (count: number) => (count === 1 ? '1 session' : `${count} sessions`),
} as const

export const stateChoices = [
  { value: 'all', name: 'All' },
  { value: 'waiting', name: 'Waiting' },
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
