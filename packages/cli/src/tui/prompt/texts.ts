/** All sentences that a prompt shows, kept together so that they can be edited as prose. */
import type { PromptKeyResult } from './prompt.ts'

export const confirmWord = 'allow'

/** The keys of a request, for the help of every view. */
export const answerKeys = [
  ['a 1 / r 2', 'allow or deny the request'],
  ['e  n  s', 'edit the request in your editor; add a note; don’t ask again'],
  ['d  w  x', 'deny with a reason; ask back; deny and stop the turn'],
  ['1–9 ↑↓ space', 'choose an option; mark several options'],
  ['Enter  o', 'confirm your choice; type another answer'],
  ['space PgDn', 'next page; read to the end before you allow'],
] as const

export const approvalTexts = {
  notFullyShown: 'You haven’t seen the whole request yet. Press space for more, then allow it.',
  choiceNotFullyShown: 'You haven’t seen this whole entry yet. Press space for more, then Enter to confirm.',
  nothingToRemember: 'There is nothing to remember for this request. Press a to allow it once.',
  mayNotRemember: 'The agent’s program does not let this answer be remembered. Press a to allow it once.',
  noRules: (reason: string) =>
    `There is no rule for this request.${reason === '' ? '' : ` ${reason}`} Press a to allow it once.`,
  offersFailed: (problem: string) => `The rules could not be loaded: ${problem}. Press s to try again.`,
  checkingRisk: 'Holdpoint is checking your edited version…',
  stillChecking: 'Holdpoint is still checking what your edited version does. Press a again in a moment.',
  endsTurn: '(ends the turn)',
  readFirst: '(read it all first)',
  checkFirst: '(after the check of your edited version)',
  loadingRules: 'Looking for rules that would allow this…',
  notEditable: 'This request cannot be edited. Allow it as it is, or deny it.',
  chooseOne: 'Choose one by its number or with the arrow keys. Esc goes back.',
  reasonMissing: 'Type a reason, then press Enter. To deny without a reason, press Esc and then r.',
  questionMissing: 'Type your question, then press Enter. Esc goes back.',
  wrongWord: `Type the whole word "${confirmWord}", then press Enter. Esc goes back.`,
  unchanged: 'Nothing was changed. This is the original request.',
  badEdit: (problem: string) => `${problem} Nothing was changed. Press e to edit again.`,
  dangerous: `This is dangerous. Type "${confirmWord}" to allow it.`,
  flagged: `The agent flagged this as dangerous. Type "${confirmWord}" to allow it.`,
  edited: 'Changed by you. The agent will run this version.',
  unfinishedEdit: 'Unfinished edit: press e to continue',
  draftReason: 'Draft reason: ',
  draftQuestion: 'Draft question: ',
  comments: (count: string) => `${count} from the page`,
  commentsOnlyWithDenial: ', sent only with a denial: this agent cannot read comments with an allow',
  note: 'With your note: ',
  remembered: 'Also allowed from now on: ',
  chooseMode: 'Approve the plan and continue in:',
  currentMode: 'current mode',
  chooseRule: 'Allow, and don’t ask again for:',
  chooseDuration: 'For how long?',
  agentSuggests: 'suggested by the agent',
  runsProjectCode: 'Runs project code, which agents can change.',
  alsoPending: (count: number, isComplete: boolean) =>
    `Also answers ${isComplete ? '' : 'at least '}${count} other pending ${count === 1 ? 'request' : 'requests'} now.`,
} as const

export const questionTexts = {
  optionsOnly: 'You can only choose from the options listed.',
  markFirst: 'Mark one or more options with space or their numbers, then press Enter.',
  chooseFirst: 'Choose one by its number, then press Enter.',
  orOther: 'Press o to type another answer, or r to decline.',
  orDecline: 'Press r to decline.',
  empty: 'The answer is empty. Type an answer and press Enter, or type /decline to decline.',
  secretInEditor: 'A secret is never written to a file, so type it here.',
  noneAnswered: 'You haven’t answered any question. Answer at least one, or decline with r or /decline.',
  questionMissing: 'Type your question, then press Enter. Esc goes back.',
  reasonMissing: 'Type a reason, then press Enter. To decline without a reason, press Esc and then r.',
  ownAnswer: 'your own answer: ',
  letter: 'Does “r” mean that you decline, or is it your answer?',
} as const

export const promptTexts = {
  typing: 'Typing is ignored here. Pause for a second, then press a key.',
  tooSoon: 'That key came right after another one, so it was ignored. Pause, then press it again.',
  takenBack: 'Nothing was sent, because another key followed.',
  changed: 'Nothing was sent, because the screen changed. Press the key again.',
  enterAgain: 'Check your answer, then press Enter again to send it.',
  held: (result: PromptKeyResult) => `${heldAction(result)}… Esc cancels.`,
  pressAllow: (verb: 'allow' | 'approve') => `Press a to ${verb} or r to deny.`,
  enterOrEscape: 'Press Enter to confirm or Esc to go back.',
  chooseOption: 'Choose by number or with the arrow keys, then press Enter.',
  letterOrDecline: 'Press r to decline, s to send the letter “r”, or Esc to keep typing.',
  stopUnread: (verb: 'deny' | 'decline', stops: boolean) =>
    `You haven’t read all of this. Press Ctrl+C again to ${verb}${stops ? ' and stop the turn' : ''}, or Ctrl+D to leave it pending.`,
  stopUnfinished: (verb: 'deny' | 'decline', stops: boolean) =>
    `Your answer is not finished. Press Ctrl+C again to discard it and ${verb}${stops ? ', which stops the turn' : ''}, or Ctrl+D to keep it and leave.`,
  fillIn: 'Fill in the field, then press Enter.',
  invalid: (problem: string) => `This answer cannot be sent: ${problem}.`,
  changedElsewhere: 'This answer was changed on another device. Confirm it again.',
  editorFailed: 'The editor failed, so nothing was changed. Set EDITOR to an editor that works.',
  notSent: (problem: string) => `Not sent: ${problem}`,
  tooSmall: 'Too small: enlarge the window to read this request.',
  sending: 'Sending…',
  disconnected:
    'Lost connection to the gateway; reconnecting. You can answer when the connection is back. Press Ctrl+D to leave.',
  preview: 'Press Enter to answer.',
  morePages: 'space: read on',
  pages: 'space: next page',
  previewPages: 'Enter: read all',
  shortPages: 'space',
  unread: (from: number, to: number) => `lines ${from}–${to} not seen yet · space: go there`,
  shortUnread: (from: number, to: number) => `${from}–${to} not seen · space`,
  linkWarning: 'Open this link yourself if you trust it:',
} as const

/** Returns the text about the action that a held letter is about to run. */
function heldAction({ answer, edit }: PromptKeyResult): string {
  if (edit !== undefined) return 'Opening your editor'
  switch (answer?.kind) {
    case 'allow':
      return 'Allowing'
    case 'deny':
      if (answer.askBack) return 'Asking back'
      return answer.interrupt ? 'Denying and stopping' : 'Denying'
    case 'decline':
      if (answer.askBack) return 'Asking back'
      return answer.interrupt ? 'Declining and stopping' : 'Declining'
    case 'answers':
    case 'submit':
      return 'Sending'
    default:
      return 'One moment'
  }
}
