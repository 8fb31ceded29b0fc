/** Texts of the Audit log screen. */

export const auditTexts = {
  title: 'Audit log',
  search: 'Search the audit log',
  answeredBy: 'Answered by',
  answer: 'Answer',
  session: 'Session',
  allSessions: 'All sessions',
  loadFailed: 'The audit log couldn’t be loaded.',
  empty: 'Nothing has been decided yet.',
  showEarlier: 'Show earlier',
  today: 'Today',
  yesterday: 'Yesterday',
} as const

export const byChoices = [
  { value: 'all', name: 'Anyone' },
  { value: 'person', name: 'People' },
  { value: 'rule', name: 'Rules' },
  { value: 'deadline', name: 'Deadline' },
  { value: 'agent', name: 'Agents' },
] as const
export const answerChoices = [
  { value: 'all', name: 'Anything' },
  { value: 'allow', name: 'Allowed' },
  { value: 'deny', name: 'Denied' },
  { value: 'answers', name: 'Answered' },
  { value: 'submit', name: 'Submitted' },
  { value: 'decline', name: 'Declined' },
] as const

export function searchProgress(reachedAt: number): string {
  return `Searching entries before ${new Date(reachedAt).toLocaleDateString()}…`
}
