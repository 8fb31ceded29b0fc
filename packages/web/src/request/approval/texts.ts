/** Texts of approval cards: buttons, warnings, modes and the scopes of remembered choices. */
import { riskLabel } from '@holdpoint/client'
import type { Request } from '@holdpoint/protocol'

/** Labels of an approval's buttons and fields. Plans have their own labels. */
export const approvalTexts = {
  approval: {
    allow: 'Allow once',
    allowWithNote: 'Allow with your note',
    allowWithComments: 'Allow with comments',
    allowWithNoteAndComments: 'Allow with note and comments',
    allowWithoutComments: 'Allow without your comments',
    allowWithoutEdit: 'Allow as asked, without your edit',
    allowThisNote: 'Allow with this note',
    allowEdited: 'Allow with edits',
    allowing: 'Allowing…',
    edit: 'Edit…',
    editField: (name: string) => `Edit ${uncapitalized(name)} (this is what will run)`,
    deny: 'Deny',
    reason: 'Reason (the agent will see it and continue)',
    reasonForNextMessage: 'Reason (the agent stops its turn, and sees this with your next message)',
  },
  plan: {
    allow: 'Approve plan',
    allowWithNote: 'Approve with your note',
    allowWithComments: 'Approve with comments',
    allowWithNoteAndComments: 'Approve with note and comments',
    allowWithoutComments: 'Approve without your comments',
    allowWithoutEdit: 'Approve as asked, without your edit',
    allowThisNote: 'Approve with this note',
    allowEdited: 'Approve with edits',
    allowing: 'Approving…',
    edit: 'Edit the plan…',
    editField: (name: string) => `Edit ${uncapitalized(name)} (this is what you approve)`,
    deny: 'Keep planning',
    reason: 'What should the plan do differently?',
    reasonForNextMessage: 'What should the plan do differently? (The agent sees this with your next message.)',
  },
} as const

export const panelTexts = {
  yourEdit: 'Your edit…',
  yourNote: 'Your note…',
  addNote: 'Note…',
  always: 'Always…',
  note: 'Note for the agent (optional)',
  yourChanges: 'Your changes',
  editedRisk: 'What it does with your changes:',
  checkingRisk: 'Holdpoint is checking your changes…',
  undoChanges: 'Undo my changes',
  allowAndRemember: 'Allow and remember',
  unknownScope: (scope: string) => `Scope: ${scope}`,
  noteIncluded: 'Your note will also be sent:',
  afterApproval: 'After approval',
  defaultMode: 'Agent’s default mode',
  viewSource: 'View source',
  viewFormatted: 'View formatted',
} as const

export const alwaysTexts = {
  title: 'Allow from now on, without asking:',
  loading: 'Looking for rules…',
  noRule: 'Holdpoint proposes no rule for this.',
  openRules: 'Open the rules',
  limits: 'Where and how long the rule applies',
  suggestions: (agent: string) => `Suggested and stored by ${agent}, not by Holdpoint:`,
  fromNowOn: 'New rule:',
  allowAndAdd: 'Allow and add rule',
} as const

export const bodyTexts = {
  inFolder: 'in',
  command: 'Command',
  plan: 'Plan',
  input: 'Input',
  otherParameters: 'Other parameters',
  change: 'Change',
  newFile: 'new file',
  deleted: 'deleted',
  movedTo: 'moved to',
  added: (lines: number) => `${lines} added`,
  removed: (lines: number) => `${lines} removed`,
  relativeLines: 'numbered from the change',
  agentText: 'What the agent says',
  agentSays: 'The agent says:',
  reason: 'Reason',
  blockedPath: 'Path that needs permission',
} as const

/** Replaces the name of the agent's program in sentences if the name is unknown. */
export const unknownAgent = 'the agent'

/** Warns that the agent's program considers the request dangerous. `agent` is the name of the program, for example "Claude Code". */
export function flaggedAsDangerous(agent: string): string {
  return `Flagged as dangerous by ${agent}`
}

/** Says why a request must be confirmed: the agent's program advises against it, or Holdpoint derives that it is dangerous. */
export function dangerWarning({ ask, risk }: Pick<Request, 'ask' | 'risk'>, agent: string): string {
  const isFlagged = ask.kind === 'approval' && ask.caution?.defaultToNo === true
  if (isFlagged) return `${capitalized(agent)} recommends denying this request.`
  return risk ? `${riskLabel(risk)}.` : 'This request is dangerous.'
}

function uncapitalized(text: string): string {
  return text.charAt(0).toLowerCase() + text.slice(1)
}

function capitalized(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}

const scopes: Readonly<Record<string, string>> = {
  session: 'For this session only.',
  localSettings: 'For you, in this folder, until you remove the choice from the folder’s local settings.',
  projectSettings:
    'For everyone who works on this project, until someone removes the choice from the project’s settings.',
  userSettings: 'For you, in every folder, until you remove the choice from your settings.',
}

/** Returns how long and for whom a remembered choice applies; null if the scope is unknown. */
export function scopeLabel(scope: string): string | null {
  return Object.hasOwn(scopes, scope) ? (scopes[scope] ?? null) : null
}

const modes: Readonly<Record<string, string>> = {
  default: 'Default: ask before changes',
  acceptEdits: 'Accept edits: change files without asking',
  bypassPermissions: 'Bypass permissions: never ask',
  plan: 'Plan: read-only planning',
  dontAsk: 'Don’t ask: deny anything that needs approval',
}

/** Returns a label that explains the mode, or the mode's name if the mode is unknown. */
export function modeLabel(mode: string): string {
  return Object.hasOwn(modes, mode) ? (modes[mode] ?? mode) : mode
}
