/** Texts of the Rules screen. */

export const rulesTexts = {
  title: 'Rules',
  introduction: 'A rule answers requests for you. Deny beats ask, and ask beats allow.',
  onlyRestricting:
    'You can add rules that deny or ask. Only the owner of this gateway can add rules that allow something.',
  newRule: 'New rule',
  search: 'Search rules',
  effect: 'Effect',
  loadFailed: 'The rules couldn’t be loaded.',
  empty: 'No rules yet.',
  emptyHint:
    'Choose “Always…” on a request to make a rule from it, turn on a group of commands above, or write a rule yourself.',
  showMore: (count: number) => `Show ${count} more`,
  sections: { own: 'Rules', files: 'From files', builtIn: 'Built in' },
} as const

export const watcherTexts = {
  title: 'Watchers',
  introduction:
    'A watcher follows the course of a session: it keeps variables, reminds the agent, asks or denies. Watchers come from holdpoint.rules.json, so change them there.',
  none: 'No watchers are in force. Turn on a ready-made one in a terminal:',
  turnOn: 'holdpoint watch on tests-before-commit',
  when: 'If',
  notTrusted:
    'This file is not trusted, so its watchers can only deny and ask. Read the file, then run “holdpoint trust” in its folder.',
} as const

export const effectChoices = [
  { value: 'all', name: 'All' },
  { value: 'allow', name: 'Allow' },
  { value: 'ask', name: 'Always ask' },
  { value: 'deny', name: 'Deny' },
] as const

export const rowTexts = {
  usedNever: 'never used',
  used: (count: number, when: string) => `used ${count === 1 ? 'once' : `${count} times`}, last ${when}`,
  ago: (time: string) => (time === 'now' ? 'just now' : `${time} ago`),
  addedBy: 'added by',
  you: 'you',
  edit: 'Edit…',
  pause: 'Pause',
  resume: 'Resume',
  paused: 'paused',
  test: 'What would it have matched?',
  revoke: 'Revoke',
  revokeQuestion: 'Revoke this rule?',
  revokeWarning: 'The rule stops answering at once.',
  sending: 'Saving…',
  othersRule: 'Only the owner of this gateway and the person who added the rule can change it.',
  fromFile: 'This rule comes from a file. Change it there.',
  builtIn: 'Every gateway has this rule, and nobody can change it.',
  files: {
    own: 'Your own file, which needs no trust.',
    trusted: 'Trusted.',
    notTrusted:
      'Not trusted, so its allow rules have no effect. Read the file, then run “holdpoint trust” in its folder.',
  },
  facts: {
    where: 'Where',
    limits: 'Limits',
    noLimits: 'Never expires, unlimited uses',
    uses: 'Used',
    added: 'Added',
    message: 'Message for the agent',
    note: 'Note',
    source: 'File',
    rule: 'Rule',
    version: (version: number) => `version ${version}`,
  },
} as const

export const folderPlaceholder = '/home/you/project'

export const groupTexts = {
  title: 'Groups of commands',
  introduction:
    'Holdpoint knows which options of these programs are harmless. A group that is on for a folder also applies to its subfolders.',
  onIn: 'On in',
  off: 'Off',
  turnOn: 'Turn on',
  turnOnFor: (group: string) => `Turn on “${group}” for the folder`,
  turnOff: 'Turn off',
  turnOffQuestion: (group: string) => `Turn off “${group}” for this folder?`,
  needsAbsolute: 'Enter the absolute path of the folder.',
} as const

export const checkTexts = {
  title: 'Would a command be allowed?',
  command: 'Command',
  folder: 'Folder',
  check: 'Check',
  checking: 'Checking…',
  verdicts: { allow: 'Allowed.', ask: 'A person is asked.', deny: 'Denied.' },
  byRule: 'Rule',
} as const

export const ruleFormTexts = {
  newTitle: 'New rule',
  editTitle: 'Edit rule',
  keySaves: 'saves',
  effect: 'What happens',
  effects: { allow: 'Allow without asking', ask: 'Always ask a person', deny: 'Deny' },
  target: 'For',
  targets: {
    command: 'A command',
    group: 'A group of commands',
    path: 'A file or folder',
    host: 'A web host',
    mcp: 'An MCP tool',
    other: 'The same calls as before',
  },
  command: 'Command',
  commandHints: {
    exact: 'The rule allows this command and no other.',
    grammar: 'The rule also allows other arguments that Holdpoint knows to be harmless.',
    restricting:
      'The rule matches every command in which these words occur in this order, even with other words between them.',
  },
  harmlessArguments: 'Also with other harmless arguments',
  group: 'Group',
  path: 'Path',
  pathHint: 'End the path with /** for everything in a folder.',
  access: 'Access',
  accesses: { read: 'Reading', write: 'Writing', any: 'Reading and writing' },
  host: 'Host',
  hostHint: 'The exact name, such as docs.example.com.',
  server: 'MCP server',
  tool: 'Tool',
  folder: 'Folder',
  folderHints: {
    needed: 'An absolute path. The same command can mean something else in another folder.',
    optional: 'An absolute path. Leave it empty for every folder.',
  },
  session: 'Session',
  allSessions: 'All sessions',
  otherSession: 'Another session',
  moreLimits: 'More limits',
  driver: 'Agent',
  allDrivers: 'All agents',
  subagent: 'Subagent',
  subagentHint:
    'Write the name as the subagent’s requests show it. For a subagent of another subagent, write one name on each line, the outer one first. If the field is empty, the rule applies to all.',
  duration: 'For how long',
  keepDuration: 'As before',
  message: 'Message for the agent',
  messageHint: 'The agent reads this sentence when the rule denies its call.',
  note: 'Note (for people)',
  test: 'What would it have matched?',
  incomplete: 'Fill in what the rule applies to. The number of uses must be a whole number above 0.',
  cancel: 'Cancel',
  add: 'Add rule',
  save: 'Save',
  saving: 'Saving…',
} as const
