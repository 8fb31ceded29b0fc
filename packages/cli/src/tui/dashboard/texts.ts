/** Sentences and key hints of `holdpoint tui`, in one place so that they can be edited as prose. */
import type { KeyHint } from '../prompt/layout/prompt-sections.ts'

export const dashboardTexts = {
  needsTerminal: 'tui needs an interactive terminal. holdpoint inbox, show, allow and watch work anywhere',
  tooSmall: 'Too small: enlarge the screen.',
  pendingOnLeave: (count: number) =>
    count === 1 ? '1 request is waiting for you. ' : `${count} requests are waiting for you. `,
  comeBack: 'Come back with: holdpoint tui',

  // Header
  waiting: (count: number) => `${count} waiting for you`,
  nothingWaiting: 'Nothing is waiting for you',
  working: (count: number) => ` · ${count} working`,
  connecting: ' · connecting',
  reconnecting: ' · reconnecting',

  // Panes
  loading: 'Loading…',
  empty: 'Nothing is waiting for you, and no agent is working.',
  startHint: 'Press n to start a session.',
  openHint: 'Press Enter to open.',
  sendFirst: 'The agent is asking something. Send your message, or press Esc to see it.',
  linesBelow: (count: number) => `── ${count} more lines below ──`,
  messageLabel: 'Message',
  unsentMessage: 'Unsent message: ',
  leaveByCtrlC: 'Ctrl+C again to leave.',
  interruptAgain: 'Press I again to interrupt the turn.',
  endAgain: 'Press E again to end the session.',

  // Start dialog
  startTitle: 'Start a session',
  gatewayFolder: 'the gateway’s folder',
  chooseAgent: 'Choose an agent first.',
  promptLabel: 'What should it do?',
  promptMissing: 'Type what it should do, then press Enter.',
} as const

/** The help page; null is a blank line. */
export const helpLines: readonly (KeyHint | null)[] = [
  ['↑ ↓ j k', 'move in the list'],
  ['Enter →', 'open the selected request or session'],
  ['Esc ←', 'back to the list'],
  ['Tab', 'next request, when one is open'],
  ['n', 'start a session'],
  ['q', 'leave; pending requests are kept'],
  null,
  ['a 1 / r 2', 'allow or deny the request'],
  ['e  n  s', 'edit it in your editor; add a note; don’t ask again'],
  ['R  x', 'deny with a reason; deny and stop the turn'],
  ['1–9 ↑↓ space', 'choose; mark several'],
  ['Enter  o', 'confirm; type another answer'],
  ['space PgDn', 'next page; read to the end before you allow'],
  ['Ctrl+C', 'deny or decline the request; twice: leave'],
  ['Ctrl+L Ctrl+Z', 'redraw the screen; suspend (fg comes back)'],
  null,
  ['Enter  i', 'write to the open session'],
  ['I I  E E', 'interrupt its turn; end it'],
]

/** The key hints of the last line, by what has the keys. */
export const keyHints = {
  help: [['any key', 'back']],
  helpMore: [
    ['space', 'more'],
    ['any other key', 'back'],
  ],
  startDialog: [],
  composer: [
    ['Enter', 'send'],
    ['/edit', 'open your editor'],
    ['Esc', 'back'],
  ],
  prompt: [
    ['Tab', 'next request'],
    ['Esc', 'back to the list'],
  ],
  session: [
    ['Enter', 'write'],
    ['Esc', 'back to the list'],
    ['↑↓', 'scroll'],
    ['I', 'interrupt'],
    ['E', 'end'],
    ['?', 'help'],
  ],
  list: [
    ['↑↓', 'move'],
    ['Enter', 'open'],
    ['n', 'new session'],
    ['?', 'help'],
    ['q', 'leave'],
  ],
} as const satisfies Readonly<Record<string, readonly KeyHint[]>>
