/** Texts of a request's card, its receipt and its drafts. Texts about approvals are in approval/texts.ts. */

export const cardTexts = {
  body: 'Request',
  watcher: 'Watcher',
  back: 'Back',
  showAll: 'Show all',
  collapse: 'Collapse',
  noInput: 'No input.',
  viewFields: 'View as fields',
  viewJson: 'View as JSON',
  empty: 'empty',
  emptyList: 'empty list',
  draftTooLong: 'Your answer is too long to sync to your other devices, so it is stored only in this tab.',
  select: (action: string) => `Select: ${action}`,
  scrollToEnd: (action: string) => `Scroll to the end to ${action}.`,
  askedAt: (time: string) => `Asked ${time}`,
  askedAgo: (time: string) => (time === 'now' ? 'asked just now' : `asked ${time} ago`),
  keySends: 'sends',
  keepHolding: 'Keep holding…',
  holdTo: (label: string) => `Hold to ${label.charAt(0).toLowerCase()}${label.slice(1)}`,
  isAnswering: ' is answering',
  othersAnswering: (count: number) => `${count} others are answering`,
} as const

export const submissionTexts = {
  changed: 'This card just changed, so nothing was sent. Press again to confirm.',
  typed: 'Nothing was sent, because you were still typing. Pause for a second, then press again.',
  invalid: (problem: string) => `Not sent: ${problem}.`,
  failed: (error: string) => `Not sent. ${error} Everything you wrote is still here.`,
} as const

export const denyTexts = {
  deny: { sending: 'Denying…', andStop: 'Deny and stop' },
  decline: { sending: 'Declining…', andStop: 'Decline and stop' },
  stopping: 'Stopping…',
  placeholder: 'What should the agent do instead?',
} as const

export const askBackTexts = {
  open: 'Ask back…',
  title: 'What do you want to know before you answer?',
  placeholder: 'The agent answers in text, and asks again if it still needs to.',
  send: 'Ask the agent',
  sending: 'Asking…',
} as const

export const followTexts = {
  discussion: 'Discussion before this request',
  asked: 'asked back:',
  you: 'You',
  agentSaid: 'The agent’s answer:',
  noAnswer: 'The agent wrote no reply.',
  openSession: 'Open the session to read the answer.',
} as const

export const declineTexts = {
  button: 'Decline',
  open: 'Decline…',
  reason: 'Reason for declining (the agent will see it and continue)',
} as const

export const questionTexts = {
  sendOne: 'Send answer',
  sendAll: 'Send answers',
  sendSome: (unanswered: number) => `Send, leaving ${unanswered} unanswered`,
  sending: 'Sending…',
  multiSelect: 'Select all that apply',
  secret: 'Secret: only the agent will see your answer.',
  other: 'Other',
  ownAnswer: 'Your answer',
  preview: 'Preview:',
} as const

export const formTexts = {
  submit: 'Submit',
  done: 'I’m done',
  sending: 'Sending…',
  optional: 'optional',
  required: 'Required',
  clear: 'Clear',
  onePerLine: 'One per line',
  confirmHidden: 'Send this exact value, with its hidden characters',
  problem: (problem: string) => `This ${problem}.`,
  fieldsToFix: (count: number) => `Fix ${count} ${count === 1 ? 'field' : 'fields'} to continue`,
  openLink: (host: string) => `Open ${host} in a new tab`,
} as const

export const draftTexts = {
  foundElsewhere: 'You also started an answer on another device:',
  foundHere: 'You started a different answer here earlier:',
  useOther: 'Use that answer',
  keepCurrent: 'Keep current answer',
  leftover: 'Your unsent answer:',
  discard: 'Discard',
} as const

export const receiptTexts = {
  pending: 'still pending',
  asked: (action: string) => `Asked: ${action}`,
  edited: 'Edited before allowing',
  note: 'Note',
  reason: 'Reason',
  question: 'Question to the agent',
  comments: 'Comments',
  notAnswered: 'not answered',
  facts: {
    asked: 'Asked',
    risk: 'Risk',
    editedRisk: 'Risk as edited',
    resolved: 'Resolved',
    answeredFrom: 'Answered from',
    rule: 'Rule',
    watcher: 'Watcher',
    delivery: 'Delivery',
    digest: 'Digest',
    editedDigest: 'Digest of the edited request',
    request: 'Request',
  },
  /** Names of the clients from which people answer, by the value of `via`. */
  clients: { page: 'web' } as Readonly<Record<string, string>>,
} as const
