/** Texts of the inbox. */

export function inboxTitle(pending: number): string {
  if (pending === 0) return 'You’re all caught up'
  return pending === 1 ? '1 request waiting' : `${pending} requests waiting`
}

export const listTexts = { heading: 'Most urgent first', label: 'Pending requests, most urgent first' } as const

export function workingText(count: number): string {
  if (count === 0) return 'No agent is working.'
  return count === 1 ? '1 agent is working.' : `${count} agents are working.`
}

export const emptyTexts = {
  title: 'You’re all caught up.',
  introduction:
    'When an agent needs an approval or an answer, its request appears here. To see how that works, start a rehearsal: a small built-in agent shows you every kind of request. It needs no API key and changes nothing.',
  startRehearsal: 'Start a rehearsal',
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
  changed: 'The list just changed. Press again to confirm.',
  notSelected: 'This request isn’t selected. Press x to select it, or Escape to clear the selection.',
} as const

export function offScreen(count: number): string {
  return `${count} selected ${count === 1 ? 'request is' : 'requests are'} off screen. Click Allow to confirm.`
}
export function skippedUnread(count: number): string {
  return count === 1
    ? '1 request was skipped because it hasn’t been shown in full yet.'
    : `${count} requests were skipped because they haven’t been shown in full yet.`
}
export function skippedStarted(count: number): string {
  return count === 1
    ? '1 request was skipped because you’ve started another answer to it.'
    : `${count} requests were skipped because you’ve started another answer to them.`
}
