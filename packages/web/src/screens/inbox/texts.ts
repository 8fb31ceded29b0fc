/** Texts of the inbox. */

export function inboxTitle(pending: number): string {
  if (pending === 0) return 'You’re all caught up'
  return pending === 1 ? '1 request waiting' : `${pending} requests waiting`
}

export const listTexts = {
  region: 'Requests',
  heading: 'Most urgent first',
  label: 'Pending requests, most urgent first',
  loading: 'Loading more…',
  noMatch: 'No pending request matches.',
  showAll: 'Show all requests',
} as const

export function mutedTitle(count: number): string {
  return count === 1 ? '1 muted' : `${count} muted`
}

export const filterTexts = {
  search: 'Search requests',
  kinds: 'Kind of request',
  grouping: 'Group requests',
  kind: {
    all: 'All',
    dangerous: 'Dangerous',
    questions: 'Questions',
    commands: 'Commands',
    files: 'Files',
    plans: 'Plans',
    other: 'Other',
  },
  groupBy: { none: 'Not grouped', project: 'By project', session: 'By session' },
} as const

export const groupHeadTexts = {
  unknownFolder: 'No folder',
  answerAll: (count: number) => `Review all ${count}…`,
  answerAllOf: (name: string) => `Review all requests of ${name}`,
  mute: 'Mute',
  muteSession: (name: string) => `Mute ${name}`,
  unmute: 'Unmute',
  unmuteSession: (name: string) => `Unmute ${name}`,
  muted: (count: number) => (count === 1 ? 'Muted: 1 request' : `Muted: ${count} requests`),
} as const

export const detailTexts = {
  region: 'Open request',
  back: 'Back',
  backTo: (pending: number) => `${pending} waiting`,
  similar: (count: number) => `${count} more like this`,
  mute: 'Mute session',
  unmute: 'Unmute session',
} as const

export function workingText(count: number): string {
  if (count === 0) return 'No agent is working.'
  return count === 1 ? '1 agent is working.' : `${count} agents are working.`
}

export function failedText(count: number): string {
  return count === 1 ? '1 agent failed or is disconnected.' : `${count} agents failed or are disconnected.`
}

export const emptyTexts = {
  title: 'You’re all caught up.',
  newSession: 'New session…',
} as const

export const notifyTexts = {
  question: 'Get notified when an agent needs you?',
  accept: 'Notify me',
  refuse: 'Not now',
} as const

export const resolvedTexts = { title: 'Recently answered', viewAll: 'View all in the audit log' } as const

export const offerTexts = {
  label: 'A rule from your history',
  allowed: 'You allowed',
  inFolder: 'in',
  question: (allowed: number) => `${allowed} times and never denied it. Make it a rule?`,
  accept: 'Make it a rule',
  refuse: 'No, thanks',
  added: 'The rule was added. You can find it under Rules.',
} as const

export const requestGone = 'That request is no longer pending.'

/** Reasons why a request can't be selected for a batch. */
export const selectionProblems = {
  resolved: 'This request is already resolved.',
  questions: 'Questions need individual answers.',
  form: 'Forms need individual answers.',
  plan: 'Plans need individual review.',
  dangerous: 'This request is dangerous. Review it on its own.',
  long: 'Too long for a batch. Review this request on its own.',
} as const

export function needReview(count: number): string {
  return count === 1 ? '1 request needs individual review.' : `${count} requests need individual review.`
}
export function notYetSeen(count: number): string {
  return count === 1
    ? '1 request hasn’t been on screen yet. Scroll to it first.'
    : `${count} requests haven’t been on screen yet. Scroll to them first.`
}

export const batchTexts = {
  label: 'Answer several requests at once',
  selection: 'Selected requests',
  changed: 'The list just changed. Press again to confirm.',
  unread: 'Scroll to the end of the list before you allow all of it.',
  nothingToAllow: 'You’ve started another answer to each of these requests.',
  notSelected: 'This request isn’t selected. Press x to select it, or Escape to clear the selection.',
} as const

export const reviewTexts = {
  title: (count: number) => (count === 1 ? 'Review 1 request' : `Review ${count} requests`),
  columns: { risk: 'Risk', runs: 'What will run', where: 'Where' },
  remove: (action: string) => `Remove from the selection: ${action}`,
  notIncluded: 'Not included',
  note: 'With your note:',
  started: 'Skipped, because you’ve started another answer to it.',
  allow: (count: number) => `Allow ${count} once`,
  deny: (count: number) => `Deny ${count}…`,
  clear: 'Clear',
  selected: (count: number) => `${count} selected`,
  review: (count: number) => `Review ${count}…`,
  outcome: (answered: number, failed: number) => `${answered} answered, ${failed} failed.`,
  answered: (count: number) => `${count} answered.`,
  close: 'Close',
} as const
export function skippedStarted(count: number): string {
  return count === 1
    ? '1 request was skipped because you’ve started another answer to it.'
    : `${count} requests were skipped because you’ve started another answer to them.`
}
