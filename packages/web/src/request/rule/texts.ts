/** Texts about rules that cards and the Rules screen share. */
import type { ActionKind, CommandGroup, RuleEffect } from '@holdpoint/protocol'

export const effectNames: Readonly<Record<RuleEffect, string>> = {
  allow: 'Allow',
  ask: 'Always ask about',
  deny: 'Deny',
}

const groups: Readonly<
  Record<CommandGroup, { readonly name: string; readonly target: string; readonly about: string }>
> = {
  'only-reads': {
    name: 'Only reads',
    target: 'commands that only read',
    about: 'Commands that print files, names and the history of git. They write nothing and use no network.',
  },
  'project-code': {
    name: 'Runs project code',
    target: 'commands that test, check or build the project',
    about:
      'Tests, checks and builds. The project’s code runs and can do anything that you can do, and agents can change it.',
  },
}

const everyAction: Readonly<Record<ActionKind, string>> = {
  shell: 'every shell command',
  write: 'every file change',
  read: 'every file read',
  fetch: 'every fetch from the web',
  mcp: 'every use of an MCP tool',
  other: 'every other tool',
}

export const ruleTexts = {
  groups,
  everyAction,
  harmlessArguments: 'with harmless arguments',
  access: (action: ActionKind | undefined) =>
    action === 'write' ? 'writing' : action === 'read' ? 'reading' : 'access to',
  fetch: 'fetching from',
  everyTool: 'every tool',
  ofServer: 'of the MCP server',
  everyCall: 'every call',
  everyUse: 'every use of',
  runsProjectCode: 'Runs project code, which agents can change.',
} as const

export const previewTexts = {
  loading: 'Looking at earlier requests…',
  examples: 'For example:',
  answers: { allow: 'allowed', deny: 'denied', none: 'another outcome' },
  alsoPending: (count: number, isComplete: boolean) =>
    `It also answers ${isComplete ? '' : 'at least '}${count} other pending ${count === 1 ? 'request' : 'requests'} now.`,
} as const

export const scopeTexts = {
  label: 'Where',
  folder: 'In this folder',
  session: 'Only in this session',
  everywhere: 'Everywhere',
} as const

export const limitTexts = {
  label: 'For how long',
  uses: 'Number of uses',
  anyUses: 'No limit',
  badUses: 'Enter a whole number above 0, or leave it empty.',
} as const

export const summaryTexts = {
  everywhere: 'everywhere',
  inFolder: 'in',
  inSession: 'in one session',
  forDriver: 'for',
  forSubagent: 'for the subagent',
  until: { turn: 'until its turn ends', session: 'until the session ends' },
  expires: (time: string) => `until ${time}`,
  uses: (count: number) => (count === 1 ? 'once' : `at most ${count} times`),
} as const
