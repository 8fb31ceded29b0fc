/** All sentences and key hints of `holdpoint tui`, kept together so that they can be edited as prose. */
import type { KeyHint } from '../prompt/layout/prompt-sections.ts'
import { answerKeys } from '../prompt/texts.ts'

export const dashboardTexts = {
  needsTerminal: '`tui` needs an interactive terminal. `inbox`, `show`, `allow` and `watch` work anywhere',
  tooSmall: 'Too small: enlarge the window.',
  pendingOnLeave: (count: number) =>
    count === 1 ? '1 request is waiting for you. ' : `${count} requests are waiting for you. `,
  comeBack: 'Return with: holdpoint tui',
  notSentOnLeave: 'You left without sending your message to ',

  // Header
  waiting: (count: number) => `${count} waiting for you`,
  nothingWaiting: 'Nothing is waiting for you',
  working: (count: number) => (count === 0 ? '' : ` · ${count} working`),
  connecting: ' · connecting',
  reconnecting: ' · reconnecting',

  // List
  filterLabel: 'Filter',
  filtered: 'Filter: ',

  // Panes
  loading: 'Loading…',
  empty: 'Nothing is waiting for you, and no agent is working.',
  startHint: 'Press n to start a session.',
  openHint: 'Press Enter to open the session.',
  sendFirst: 'The agent is asking you something. Send your message, or press Esc to see the request.',
  linesBelow: (count: number) => (count === 1 ? '── 1 more line below ──' : `── ${count} more lines below ──`),
  messageLabel: 'Message',
  unsentMessage: 'Unsent message: ',
  interruptAgain: 'Press I again to interrupt the turn.',
  noMessages: 'This agent doesn’t accept messages.',
  noInterrupt: 'This agent can’t be interrupted. Press E to end the session.',
  attach: 'Open it in the agent’s own terminal: ',
  endAgain: 'Press E again to end the session.',

  // Start dialog
  startTitle: 'Start a session',
  gatewayFolder: 'the gateway’s folder',
  chooseAgent: 'Choose an agent first.',
  promptLabel: 'What should the agent do?',
  promptMissing: 'Type what the agent should do, then press Enter.',
} as const

/** The lines of the help page; null stands for a blank line. */
export const helpLines: readonly (KeyHint | null)[] = [
  ['↑ ↓ j k', 'move in the list'],
  ['Enter →', 'open the selected request or session'],
  ['Esc ← q', 'back to the list; in the list, q closes the view'],
  ['Tab', 'next pending request'],
  ['/  z', 'filter the list (Esc shows all); zoom what is open'],
  ['n', 'start a session'],
  ['Ctrl+C Ctrl+D', 'leave without answering; requests stay pending'],
  ['Ctrl+L Ctrl+Z', 'redraw the screen; suspend (fg resumes)'],
  null,
  ...answerKeys,
  null,
  ['Enter  i', 'write a message to the open session'],
  ['o Ctrl+O', 'open tool calls with their output; Ctrl+O also in a request'],
  ['I I  E E', 'interrupt the turn; end the session (press twice)'],
]

/** The key hints on the last line of the screen, by the part of the screen that receives the keys. */
export const keyHints = {
  startDialog: [],
  composer: [
    ['Enter', 'send'],
    ['/edit', 'open your editor'],
    ['Esc', 'back'],
  ],
  filtered: [
    ['Enter', 'open'],
    ['/', 'change the filter'],
    ['Esc', 'show all'],
  ],
  prompt: [
    ['Tab', 'next request'],
    ['Esc', 'back'],
    ['z', 'zoom'],
    ['?', 'help'],
    ['Ctrl+C', 'leave'],
  ],
  session: [
    ['Enter', 'write'],
    ['Esc', 'back'],
    ['↑↓', 'scroll'],
    ['o', 'tool output'],
    ['I', 'interrupt'],
    ['E', 'end'],
    ['?', 'help'],
  ],
  list: [
    ['↑↓', 'move'],
    ['Enter', 'open'],
    ['/', 'filter'],
    ['n', 'new session'],
    ['?', 'help'],
    ['q', 'leave'],
  ],
} as const satisfies Readonly<Record<string, readonly KeyHint[]>>

/** The keys that the last line leaves out on a narrow screen, the least important first. The help has all of them. */
export const spareKeys: readonly string[] = ['↑↓', 'I', 'E', 'n', 'z', 'Ctrl+C', 'o', '/', '/edit']
