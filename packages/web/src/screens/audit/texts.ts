/** Texts of the Audit log screen. */

export const auditTexts = {
  title: 'Audit log',
  search: 'Search the audit log',
  answeredBy: 'Answered by',
  answer: 'Answer',
  session: 'Session',
  allSessions: 'All sessions',
  person: 'Person',
  everyone: 'All people',
  folder: 'Folder',
  from: 'From',
  to: 'To',
  clear: 'Clear filters',
  loadFailed: 'The audit log couldn’t be loaded.',
  empty: 'Nothing has been decided yet.',
  emptyHint:
    'Every answer to an agent is recorded here: what was asked, who or which rule answered, and whether the agent received it.',
  showEarlier: 'Show earlier',
  today: 'Today',
  yesterday: 'Yesterday',
  columns: ['Time', 'Who', 'Answer', 'Request', 'Session', 'Folder', 'Agent', 'From'],
  notice: 'Notice',
  rule: (name: string) => `Rule: ${name}`,
  removedRule: (name: string) => `Removed rule: ${name}`,
  moreFilters: 'More filters',
  fewerFilters: 'Fewer filters',
  /** Texts beside the icons of answers that the agent has not received; the tooltip and the details have a sentence. */
  delivery: { waiting: '', handed: '', unknown: 'delivery unknown', undeliverable: 'not delivered' },
} as const

export const exportTexts = {
  csv: 'Export CSV',
  ndjson: 'Export NDJSON',
  stop: 'Stop',
  progress: (count: number) => `Reading the log: ${count.toLocaleString()} entries so far…`,
  done: (count: number) => `Exported ${count.toLocaleString()} ${count === 1 ? 'entry' : 'entries'}.`,
  failed: (error: string) => `The export failed. ${error}`,
} as const

export const byChoices = [
  { value: 'all', name: 'Anyone' },
  { value: 'person', name: 'People' },
  { value: 'rule', name: 'Rules' },
  { value: 'deadline', name: 'Deadline' },
  { value: 'agent', name: 'Agents' },
] as const
export const answerChoices = [
  { value: 'all', name: 'Any' },
  { value: 'allow', name: 'Allowed' },
  { value: 'deny', name: 'Denied' },
  { value: 'answers', name: 'Answered' },
  { value: 'submit', name: 'Submitted' },
  { value: 'decline', name: 'Declined' },
] as const

export function searchProgress(reachedAt: number): string {
  return `Searching entries before ${new Date(reachedAt).toLocaleDateString()}…`
}
