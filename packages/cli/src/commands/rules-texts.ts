/** Texts of `holdpoint rules`. */
import type { RulePreview, Verdict } from '@holdpoint/protocol'

const verdicts = { allow: 'Allowed', ask: 'A person is asked', deny: 'Denied' } as const

export const rulesTexts = {
  columns: ['id', 'rule', 'where', 'limits', 'uses', 'by'],
  spareColumns: ['by', 'uses', 'limits', 'where'],
  none: 'There are no rules yet. `holdpoint rules add --help` shows how to add one.',
  builtIn: 'built-in',
  runsProjectCode: 'Runs project code, which agents can change.',
  added: 'Added ',
  changed: 'Changed ',
  paused: 'Paused ',
  resumed: 'In effect again: ',
  removed: 'Removed ',
  pendingToo: 'Pending requests that this rule covers are answered now.',
  nothingToChange: 'Name at least one option to change.',
  badDuration: (typed: string) => `“${typed}” is not a time. Write a number and s, m, h or d, such as 30m or 7d.`,
  badUses: (typed: string) => `“${typed}” is not a number of uses. Write a whole number above 0.`,
  notFound: (typed: string) => `There is no rule ${typed}. \`holdpoint rules list\` lists them.`,
  badMcp: 'Name the MCP tool as server/tool.',
  verdict: ({ verdict }: Verdict) => `${verdicts[verdict]}.`,
  byRule: (id: string, version: number | undefined) =>
    version === undefined ? `Rule ${id}` : `Rule ${id}, version ${version}`,
  runsAs: 'It runs as: ',
  watchersToo:
    'These are the rules only. In a session, these watchers can also deny the call or ask (holdpoint watch list):',
  answeredByWatcher: 'A watcher answered:',
  answeredByRule: 'A rule answered this request.',
  answeredByPerson: 'No rule answered this request; a person did.',
  answeredOtherwise: 'No rule answered this request.',
  stillPending: 'This request is waiting for a person.',
  rulesNow: 'The current rules say: ',
  onlyApprovals: 'Rules answer approvals only. This request asks a question.',
  previewPending: ({ pending: { length: count }, pendingComplete }: RulePreview) =>
    `Matches ${pendingComplete ? '' : 'at least '}${count} pending ${count === 1 ? 'request' : 'requests'}.`,
  noSettings: (file: string) => `There is no ${file}. Name the settings file to import.`,
  badSettings: (file: string) =>
    `${file} is not a settings file of Claude Code: it has no "permissions" with lists of strings.`,
  imported: (count: number) => `${count} ${count === 1 ? 'rule' : 'rules'} added.`,
  wouldImport: (count: number) => `${count} ${count === 1 ? 'rule' : 'rules'} would be added.`,
  leftOut: (count: number) => `${count} ${count === 1 ? 'entry was' : 'entries were'} left out.`,
} as const
