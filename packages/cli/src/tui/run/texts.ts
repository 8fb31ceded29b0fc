/** All sentences of `holdpoint run`, kept together so that they can be edited as prose. `holdpoint tui` shows some of them too. */
import { startTexts } from '../../gateway-client/texts.ts'
import type { KeyHint } from '../prompt/layout/prompt-sections.ts'
import { answerKeys } from '../prompt/texts.ts'

const leaveKey: KeyHint = ['Ctrl+D', 'leave']
const helpKey: KeyHint = ['?', 'help']

/** The keys of the message line, by the state of the agent. */
export const lineKeys = {
  idle: [['Enter', 'send'], ['/edit', 'open your editor'], ['/end', 'end the session'], helpKey, leaveKey],
  working: [['Enter', 'send'], ['/edit', 'open your editor'], ['Ctrl+C', 'interrupt'], helpKey, leaveKey],
  noMessages: [leaveKey],
  asked: [['Tab', 'show the request'], ['Enter', 'send'], leaveKey],
} as const satisfies Readonly<Record<string, readonly KeyHint[]>>

/** The keys of `run` while a request is shown. */
export const requestKeys: readonly KeyHint[] = [['Tab', 'write a message'], helpKey, leaveKey]
/** Shown once the agent has used a tool. */
export const outputKey: KeyHint = ['Ctrl+O', 'tool output']

/** The lines of the help of `run`; null stands for a blank line. */
export const helpKeys: readonly (KeyHint | null)[] = [
  ['Ctrl+D', 'leave; the agent keeps working, and requests stay pending'],
  ['Ctrl+C', 'on a request: deny it and stop the turn; while the agent works, twice: interrupt the turn'],
  ['Ctrl+O', 'open the tool calls with their output'],
  ['Tab', 'switch between the request and the message line'],
  ['Ctrl+L Ctrl+Z', 'redraw the screen; suspend (fg resumes)'],
  ['? /help', 'this help'],
  null,
  ...answerKeys,
  null,
  ['Enter', 'send the message; while the agent works, it waits for the next pause'],
  ['/edit', 'write the message in your editor'],
  ['/end  /leave', 'end the session; leave it open'],
]

export const runTexts = {
  ownGateway: (url: string) => `No gateway is running, so a temporary one runs here until you leave: ${url}`,
  connectionClosed: 'The gateway closed the connection: ',

  // While the session is open
  reconnecting: 'lost connection to the gateway; reconnecting',
  waitingForAgent: 'waiting for the agent',
  ended: 'This session has ended. Send a message to reopen it.',
  asked: (action: string, hasText: boolean) =>
    `The agent is asking: ${action}. ${hasText ? 'Your text is kept. ' : ''}Tab shows the request.`,
  attach: 'Share this session in the agent’s own terminal: ',
  kept: 'Unsent message (Tab returns to it): ',
  queued: 'Sent. The agent gets your message when it is ready for it.',
  leaveByCtrlC: 'Press Ctrl+C again to leave.',
  interruptByCtrlC: 'Press Ctrl+C again to interrupt the turn, or Ctrl+D to leave the agent working.',
  interrupted: 'Interrupted. Press Ctrl+C again to leave.',
  notInterrupted: (problem: string) => `Could not interrupt: ${problem}`,
  lineBreak: 'Enter came together with other keys, so it became a line break. Press Enter again to send.',
  notSent: (problem: string) => `Not sent: ${problem}`,
  editorFailed: 'The editor failed. Set EDITOR to an editor that works.',

  // After leaving
  notSentOnLeave: 'Your last message was not sent:',
  cannotReopen: (id: string) => `${id} has ended and cannot be reopened.`,
  external: 'It belonged to an external agent. Only that agent can start a new session.',
  startNew: 'Start a new session with: ',
  stillPending: (count: number) =>
    count === 1 ? '1 request is still pending:' : `${count} requests are still pending:`,
  comeBack: 'Return with: ',
  unknownFate: 'You left. The gateway cannot be reached, so Holdpoint can’t tell whether the session continues.',
  leftEnded: 'You left. The session has ended; send a message to reopen it.',
  leftPaused: 'You left. The session is saved, and its agent is paused until you come back.',
  leftRunning: 'You left. The session stays open.',

  // Without a terminal
  notInteractive: 'This is not an interactive terminal. Answer with holdpoint allow, deny or answer, or on the page.',

  // Wrong arguments
  unknownAgent: (name: string, names: string) =>
    `No agent is called ${name}. Available: ${names || 'none yet'}. ${startTexts.newAgents}`,
  needsPrompt: (driver: string) => `Without an interactive terminal, run needs a message: holdpoint run ${driver} "…"`,
  noAgentReady: 'No agent is ready to run here. Run holdpoint doctor to see what is missing',
} as const
