/** Texts that the commands print (results, prompts and errors), in one place so that they can be edited as prose. */

const list = (names: readonly string[]) => names.join(', ')

/** Printed after a command has succeeded. */
export const results = {
  sent: (session: string) => `Sent to ${session}.`,
  interrupted: (session: string) => `${session} was interrupted. Its pending requests were withdrawn.`,
  ended: (session: string) => `${session} has ended.`,
  stopped: (count: number) =>
    count === 0 ? 'No agent was working.' : count === 1 ? 'Interrupted 1 session.' : `Interrupted ${count} sessions.`,
  renamed: (session: string) => `${session} has a new title.`,
  aboutToDelete: (session: string) => `${session} will be deleted with its history.`,
  deleted: (session: string) => `${session} was deleted.`,
  // The agent carries these out later. If it refuses, the transcript says why.
  modeAsked: (session: string, mode: string) => `Asked the agent of ${session} to change to the mode ${mode}.`,
  modelAsked: (session: string, model: string) => `Asked the agent of ${session} to use the model ${model}.`,
  started: (session: string) => `${session} has started.`,
  followSession: (session: string) =>
    `Follow it with holdpoint logs -f ${session}. See its requests with holdpoint inbox.`,
  needsMessage: (session: string) => `It is waiting for a message: holdpoint send ${session} "…"`,
  rehearsalStarted: (session: string) => `${session} has started. Answer its requests in a browser:`,
  rehearsalHere: 'or in this terminal: holdpoint next',
  awaitingOthers: (request: string) => `Your answer to ${request} was recorded. Waiting for other people to answer.`,
} as const

export const listTexts = {
  answerHint: 'holdpoint show ID prints one in full. holdpoint next lets you answer one by one.',
  answerHere: 'Answer it with holdpoint allow, deny or answer, or on the page.',
  emptyInbox: (working: number) => {
    const agents = working === 0 ? '' : working === 1 ? ' 1 agent is working.' : ` ${working} agents are working.`
    return `No pending requests.${agents}`
  },
  watchNeedsTerminal: '--watch needs an interactive terminal. In a script, use --count, --json or holdpoint watch',
  /** The first text that fits the screen is shown. */
  watchKeys: ['q leave  ·  answer with holdpoint next, allow, deny or answer', 'q leave'],
  loading: 'loading',
  moreBelow: (count: number) => (count === 1 ? '1 more request' : `${count} more requests`),
  noActiveSessions: 'No active sessions. Start one with holdpoint start, or try holdpoint rehearse.',
  noMatchingSessions: 'No matching sessions.',
  moreSessions: (max: number) => `There are more. Use --limit N (up to ${max}) or --search TEXT.`,
} as const

/** Labels and counts that `show` prints for a session. */
export const showTexts = {
  pending: 'Pending',
  changed: 'Changed',
  files: (count: number) => (count === 1 ? '1 file' : `${count} files`),
  moreFiles: (count: number) => (count === 1 ? '1 more file' : `${count} more files`),
  todo: 'To-do list',
  done: (done: number, all: number) => `${done} of ${all} done`,
  partial: (entries: number) =>
    `Files and the to-do list are from the last ${entries.toLocaleString('en-US')} entries of the transcript.`,
} as const

export const watchTexts = {
  missedEvents: 'Some events were missed. Continuing from here.',
  disconnected: 'Lost the connection to the gateway. Reconnecting…',
  reconnected: 'Reconnected.',
  badCursor: (typed: string) => `--after must be the cursor of an event, not "${typed}"`,
} as const

export const watcherTexts = {
  none: 'There are no watchers. Turn on a ready-made one with `holdpoint watch on NAME`; `holdpoint watch ready` lists them.',
  noneForSession: 'No watcher applies to this session.',
  notTrusted: 'not trusted, so its watchers can only deny and ask; run `holdpoint trust` in its folder',
  noFile: (file: string) => `There is no ${file}.`,
  counts: (watchers: number, variables: number) =>
    `${watchers} ${watchers === 1 ? 'watcher' : 'watchers'}, ${variables} ${variables === 1 ? 'variable' : 'variables'}`,
  turnedOn: (name: string) => `${name} is on for `,
  everywhere: 'all folders',
  noDefault: 'no default',
  turnedOff: (name: string) => `${name} is off.`,
  notOn: (name: string) =>
    `${name} is not on here. \`holdpoint watch list\` shows what is on; name its folder with --cwd.`,
  unknownReadyMade: (name: string, names: readonly string[]) =>
    `There are no ready-made watchers named "${name}". Names: ${names.join(', ')}`,
  badSetting: (name: string, typed: string, settings: readonly string[]) =>
    settings.length === 0
      ? `${name} has no settings, so leave out --with ${typed}.`
      : `"${typed}" is not a setting of ${name}. Write --with NAME=VALUE; names: ${settings.join(', ')}`,
  badValue: (setting: string, type: string) =>
    `${setting} must be ${type === 'boolean' ? 'true or false' : 'a number'}.`,
} as const

export const variableTexts = {
  columns: ['name', 'value', 'set by', 'age', 'file'],
  none: 'This session has no variables. Files with watchers declare them (docs/watchers.md).',
  isDefault: 'default',
  set: (name: string, value: string) => `${name} is now ${value}.`,
  whichSession: 'Name the session with --session.',
  severalFiles: (name: string, files: readonly string[]) =>
    `Several files declare ${name}. Name one of them with --file: ${files.join(', ')}`,
  notDeclared: (name: string, names: readonly string[]) =>
    names.length === 0
      ? `No file declares the variable ${name} for this session.`
      : `No file declares the variable ${name} for this session. Declared: ${names.join(', ')}.`,
  wrongType: (name: string, type: string, typed: string) =>
    `${name} is ${type === 'boolean' ? 'true or false' : 'a number'}, so it cannot be "${typed}".`,
} as const

export const denyTexts = {
  askOrReason: 'Use either --reason to deny, or --ask to ask the agent a question.',
  noLines: (id: string) => `Request ${id} has no lines to comment on.`,
  badComment: (typed: string) => `"${typed}" is not a comment. Use --comment LINE=TEXT or --comment PATH:LINE=TEXT.`,
  noSuchLine: (id: string, typed: string) =>
    `Request ${id} has no line for "${typed}". Lines are counted from 1, in the new text of a change; see: holdpoint show ${id}`,
} as const

export const allowTexts = {
  confirm: 'Allow this once? [y/N] ',
  confirmSeveral: (count: number) => `Allow these ${count} requests once? [y/N] `,
  position: (position: number, count: number) => `Request ${position} of ${count}`,
  severalNeedTerminal:
    'There is no terminal to confirm in. Allow one request at a time, and pass --digest DIGEST for each',
  confirmAndRemember: 'Allow this and remember it? [y/N] ',
  confirmDangerous: 'This is dangerous. Type "allow" to allow it: ',
  confirmFlagged: 'This is flagged as dangerous. Type "allow" to allow it: ',
  ownInput: 'Your input will run, not the agent’s.',
  notConfirmed: (request: string) => `${request} was not allowed. It is still pending.`,
  notRead: (request: string) => `You did not read ${request} to the end, so it was not allowed. It is still pending.`,
  noTerminal: (request: string) =>
    `There is no terminal to confirm in. Read the request with holdpoint show ${request}, then pass --digest DIGEST`,
  nothingToRemember: (request: string, reason: string) =>
    `There is no suggestion and no rule for ${request}; leave out --always. ${reason}`.trim(),
  mayNotRemember: (request: string) => `The answer to ${request} cannot be remembered; leave out --always`,
  badNumber: (request: string, count: number) =>
    `--always takes a number from 1 to ${count}; see holdpoint show ${request}`,
  forWithoutAlways: '--for works only with --always',
  suggestionDuration: 'The agent’s program decides how long its own suggestion applies; leave out --for',
  badDuration: (typed: string) => `“${typed}” is not a duration. Write turn, session, or a time such as 1h or 7d`,
  badPlanMode: (request: string, mode: string, modes: readonly string[]) =>
    `"${mode}" is not a mode that ${request} can continue in. Available: ${list(modes)}`,
  noPlanModes: (request: string) => `${request} has no modes to continue in; leave out --mode`,
  notAPlan: (request: string) => `${request} is not a plan; leave out --mode`,
} as const

export const answerTexts = {
  onlyOneRequest: (option: string) => `${option} works only with a single request`,
  refused: (request: string, problem: string) => `${request} was not answered: ${problem}`,
  alreadyResolved: (request: string, resolution: string) => `${request} is already resolved: ${resolution}`,
  otherDigest: (request: string) => `The digest does not match ${request}. Read it again: holdpoint show ${request}`,
  isApproval: (request: string) =>
    `${request} asks for approval. Use holdpoint allow ${request} or holdpoint deny ${request}`,
  isQuestions: (request: string) =>
    `${request} asks questions. Use --choose LABEL or --text TEXT; --set and --values are for forms`,
  isForm: (request: string) =>
    `${request} is a form. Use --set FIELD=VALUE or --values FILE; --choose and --text are for questions`,
  declineWithAnswer: '--decline can be combined only with --reason and --stop',
  reasonWithoutDecline: '--reason and --stop work only with --decline',
  noAnswer: (choices: string) => `Give an answer with --choose LABEL, --text TEXT or --decline. ${choices}`,
  noValues: (fields: readonly string[]) =>
    `Fill in the form with --set FIELD=VALUE, --values FILE or --decline. Fields: ${list(fields)}`,
  questions: (names: readonly string[]) => `Questions: ${list(names)}`,
  options: (labels: readonly string[]) => `Options: ${list(labels)}`,
  ownWords: 'Answer in your own words with --text',
  textTwice: (question: string) => `--text is given twice for question ${question}`,
  ambiguousQuestion: (typed: string, names: readonly string[]) =>
    `"${typed}" could be ${names.map(name => `question ${name}`).join(' or ')}. Write ${names.map(name => `${name}=…`).join(' or ')}`,
  whichQuestion: (names: readonly string[]) =>
    `There are several questions. Use QUESTION=… to say which one you are answering; QUESTION is ${list(names)} or a number`,
  notAnOption: (typed: string, question: string, labels: readonly string[]) =>
    `"${typed}" is not an option of question ${question}. ${labels.length === 0 ? 'Answer it with --text' : `Options: ${list(labels)}`}`,
  badSet: (typed: string) => `--set takes FIELD=VALUE, not "${typed}"`,
  notAField: (name: string, fields: readonly string[]) =>
    `"${name}" is not a field of this form. Fields: ${list(fields)}`,
  setTwice: (name: string) => `--set ${name} is given twice`,
  notABoolean: (name: string, typed: string) => `"${name}" must be true or false, not "${typed}"`,
  notANumber: (name: string, typed: string) => `"${name}" must be a number, not "${typed}"`,
} as const

/** Texts that `ask` and `guard` print. */
export const scriptTexts = {
  emptyQuestion: 'The question is empty',
  choiceTwice: 'Two --choice options are the same',
  badDeadline: (typed: string) => `--deadline must be like 90s, 15m, 1h or 2d, at most 366d, not "${typed}"`,
  waiting: (request: string) => `Waiting for a person: holdpoint show ${request}`,
  onPage: 'Answer it on the page: ',
  note: 'Note: ',
  nobodyAnswered: 'Nobody answered in time.',
  cancelled: (reason: string) => `The request was withdrawn before anyone answered (${reason}).`,
  denied: 'Denied',
  declined: 'Declined',
  cannotRun: 'Allowed, but the command could not be started: ',
} as const

export const inputTexts = {
  notAnId: (typed: string) => `"${typed}" is not an id`,
  ambiguousId: (typed: string, ids: string) => `"${typed}" could be ${ids}; type more letters`,
  notFound: (what: 'request' | 'session', typed: string) =>
    `There is no ${what} ${typed}. ${what === 'request' ? 'Pending requests: holdpoint inbox' : 'All sessions: holdpoint sessions --all'}`,
  badCount: '--limit must be a whole number of 1 or more',
  badLimit: (max: number) => `--limit must be a whole number from 1 to ${max}`,
  deletesOnlyEnded: (session: string) => `${session} has not ended. End it first: holdpoint end ${session}`,
  deleteNeedsYes: 'There is no terminal to confirm in. Pass --yes to delete the session',
  confirmDelete: 'Delete it? This cannot be undone. [y/N] ',
  notDeleted: (session: string) => `${session} was not deleted.`,
  emptyMessage: 'The message is empty. Give the text, or - to read it from stdin',
  unreadable: (file: string, problem: string) => `Cannot read ${file}: ${problem}`,
  notAnObject: (file: string, what: string) => `${file} must contain ${what} as a JSON object`,
  emptyFile: (file: string) => `${file} is empty`,
  tooLarge: (file: string, mebibytes: number) => `${file} is larger than ${mebibytes} MiB`,
  unknownFileType: (file: string) => `${file} is not an image, a PDF or a text file`,
  unknownShell: (shell: string, shells: readonly string[]) =>
    `There is no completion for "${shell}". Available: ${list(shells)}`,
} as const

export const auditTexts = {
  progress: (checked: number, events: number) =>
    `Checked ${checked.toLocaleString('en-US')} of ${events.toLocaleString('en-US')} events…`,
  verified: (events: number, rows: number) =>
    `Verified ${events.toLocaleString('en-US')} events and ${rows.toLocaleString('en-US')} rows. Nobody has changed them.`,
  columns: ['time', 'answer', 'what', 'session'],
  spareColumns: ['session', 'time'],
  nothingFound: 'No entry of the audit log matches.',
  more: (count: number) => `Only the newest ${count} entries are listed. Use --limit N, --since TIME or --search TEXT.`,
  badTime: (option: string, typed: string) =>
    `${option} must be a date such as 2026-11-18, a time such as 2026-11-18T14:00, or how long ago, such as 2h or 7d; not "${typed}"`,
} as const

export const openTexts = {
  opened: (link: string) =>
    `Opened Holdpoint in your browser. If no page appears, open this link (it works once, for ten minutes):\n${link}`,
  noBrowser: (link: string) =>
    `No browser could be opened here. Open this link (it works once, for ten minutes):\n${link}`,
  onlyHere:
    'This link works once, for ten minutes, and only on this machine. A phone or another computer needs an address that it can reach, for example through a VPN: holdpoint link --url https://ADDRESS prints a link for it. docs/install.md explains the steps.',
} as const

export const statusTexts = {
  running: 'Holdpoint is running at ',
  none: 'none',
  noRunner: 'none, so no agent can be started',
  pending: ({ pending, dangerous, overdue }: Readonly<Record<'pending' | 'dangerous' | 'overdue', number>>) =>
    [
      `${pending} pending`,
      ...(dangerous > 0 ? [`${dangerous} dangerous`] : []),
      ...(overdue > 0 ? [`${overdue} overdue`] : []),
    ].join(', '),
} as const
