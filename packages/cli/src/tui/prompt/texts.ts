/** Sentences that a prompt shows, in one place so that they can be edited as prose. */

export const confirmWord = 'allow'

export const approvalTexts = {
  notFullyShown: 'Not all of it has been shown yet. Space shows more; then you can allow it.',
  choiceNotFullyShown: 'Not all of this one has been shown yet. Space shows more; then Enter confirms.',
  nothingToRemember: 'There is nothing to remember here. Press a to allow it once.',
  notEditable: 'This cannot be edited. Allow it as it is, or deny it.',
  chooseOne: 'Choose one by its number or with the arrows. Esc goes back.',
  reasonMissing: 'Type a reason, then Enter. Esc goes back; r denies without a reason.',
  wrongWord: `Type the whole word "${confirmWord}", then Enter. Esc goes back.`,
  unchanged: 'Nothing was changed. This is the original request.',
  badEdit: (problem: string) => `${problem} Nothing was changed. Press e to edit again.`,
  dangerous: `The agent flagged this as dangerous. Type "${confirmWord}" to approve.`,
  edited: 'Changed by you: this is what will run.',
  unsavedEdit: 'Unsaved edit: e to reopen',
  draftReason: 'Draft reason: ',
  note: 'With your note: ',
  remembered: 'And from now on: ',
  chooseMode: 'Approve and continue in:',
  currentMode: 'current mode',
  chooseSuggestion: 'Allow, and don’t ask again for:',
} as const

export const questionTexts = {
  optionsOnly: 'This question only takes one of its options.',
  markFirst: 'Mark one or more with space or their numbers, then Enter.',
  chooseFirst: 'Choose one by its number, then Enter.',
  orOther: 'o types another answer; r declines.',
  orDecline: 'r declines.',
  empty: 'The answer is empty. Type one, then Enter, or /reject to decline.',
  secretInEditor: 'A secret is never written to a file. Type it here.',
  noneAnswered: 'No question is answered. Answer at least one, or decline with r or /reject.',
  reasonMissing: 'Type a reason, then Enter. Esc goes back; r declines without a reason.',
  ownAnswer: 'your own: ',
} as const

export const promptTexts = {
  pressAllow: (verb: 'allow' | 'approve') => `Press a to ${verb} or r to deny.`,
  enterOrEscape: 'Enter confirms, Esc goes back.',
  chooseOption: 'Choose by number or with the arrows, then Enter.',
  fillIn: 'Fill in the field, then press Enter.',
  invalid: (problem: string) => `This answer cannot be sent: ${problem}.`,
  changedElsewhere: 'This answer was changed on another device. Confirm it again.',
  editorFailed: 'The editor failed. Set EDITOR to one that works. Nothing was changed.',
  notSent: (problem: string) => `Not sent: ${problem}`,
  tooSmall: 'Too small: enlarge the screen to read this request.',
  sending: 'Sending…',
  disconnected: 'Lost connection to the gateway; reconnecting. You can answer when it is back. Ctrl+C twice to leave.',
  preview: 'Press Enter to answer.',
  morePages: 'space: more',
  pages: 'space: page',
  linkWarning: 'Open this link yourself if you trust it:',
} as const
