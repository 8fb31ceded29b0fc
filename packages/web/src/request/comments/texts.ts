/** Texts about comments on the lines of a request. */
import { commentCountLabel } from '@holdpoint/client'
import { limits } from '@holdpoint/protocol'

export const commentTexts = {
  open: 'Comment…',
  reopen: 'Your comments…',
  close: 'Done commenting',
  hint: 'Choose a line to comment on it. Your comments go with your answer.',
  goWithAnswer: (count: number) =>
    count === 1 ? '1 comment goes with your answer.' : `${commentCountLabel(count)} go with your answer.`,
  onlyWithDenial: (deny: string) =>
    `This agent can’t read comments with an allow, so they are sent only with “${deny}”.`,
  tooMany: `An answer can have at most ${limits.commentsMax} comments.`,
  loading: 'Loading the lines…',
  lines: 'Lines to comment on',
  add: (place: string, path: string | null) =>
    `Comment on ${place.charAt(0).toLowerCase()}${place.slice(1)}${path === null ? '' : ` in ${path}`}`,
  placeholder: 'What should the agent know or do differently here?',
  done: 'Done',
  edit: 'Edit',
  remove: 'Delete',
} as const
