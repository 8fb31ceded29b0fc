/** All sentences of `holdpoint next`, and of `holdpoint answer` without options. */
import type { KeyHint } from '../prompt/layout/prompt-sections.ts'
import { answerKeys } from '../prompt/texts.ts'

const leaveKey: KeyHint = ['Ctrl+D', 'leave']

/** The keys of the view while a request is shown. */
export const viewKeys = {
  one: [['?', 'help'], leaveKey],
  several: [['Tab', 'next request'], ['?', 'help'], leaveKey],
} as const satisfies Readonly<Record<string, readonly KeyHint[]>>

/** The lines of the help; null stands for a blank line. */
export const answerHelpKeys: readonly (KeyHint | null)[] = [
  ['Ctrl+D Esc', 'leave; the request stays pending'],
  ['Tab', 'next request; this one stays pending'],
  ['Ctrl+L Ctrl+Z', 'redraw the screen; suspend (fg resumes)'],
  null,
  ...answerKeys,
]

export const answerViewTexts = {
  loading: 'loading',
  nothingPending: 'No pending requests.',
  nothingLeft: 'No other pending requests.',
  notAnswered: (request: string) => `${request} was not answered. It is still pending.`,
  needsTerminal: '`next` needs an interactive terminal. `inbox`, `show`, `allow` and `answer` work anywhere',
} as const
