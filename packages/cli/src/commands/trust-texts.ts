/** Texts of `holdpoint trust`: what each setting of a config file does, in plain words. */
import type { AccessProblem } from '../config/file-access.ts'

/** The effect of each setting. Each text continues "the file would …". */
export const configEffects = {
  agent: (name: string, file: string) => `run the code in ${file} as the agent “${name}”, without asking you`,
  command: (name: string, line: string) => `run ${line} as the agent “${name}”`,
  executable: (name: string, file: string) => `run ${file} as the agent “${name}”`,
  host: (host: string) => `listen on the address ${host}`,
  allowRemote: 'let other machines reach the gateway',
  hosts: (hosts: readonly string[]) => `answer browsers that use the host name ${hosts.join(' or ')}`,
  port: (port: number) => `listen on port ${port}`,
  store: (store: string) => `keep all requests, answers and sessions in ${store}`,
  runner: {
    process: 'run agents in a separate process, as usual',
    inline: 'run agents inside the gateway’s process',
    none: 'run no agents',
  },
  retentionDays: (days: number) => `delete ended sessions and their history after ${days} days`,
} as const

export const trustTexts = {
  heading: {
    new: ' would:',
    changed: ' has changed since you trusted it. It would:',
    trusted: ' is trusted. It would:',
  },
  nothing: 'change only deadlines and parking, which needs no trust',
  codeToo: 'The code that it names is trusted with it, even if that code changes later.',
  confirm: 'Trust this file? [y/N] ',
  confirmSettings: 'Trust all of this? [y/N] ',
  done: 'Trusted. The file applies from the next start: holdpoint down, then holdpoint up.',
  notConfirmed: (file: string) => `${file} was not trusted.`,
  noTerminal: 'There is no terminal to confirm in. Read what the file would do, then pass --yes',
  nothingHere: (folder: string) =>
    `There is no file holdpoint.config.json or holdpoint.rules.json in ${folder}, and the folder has no settings for agents, such as Claude Code or opencode`,
  rulesHeading: {
    new: ' has these rules:',
    changed: ' has changed since you trusted it. It has these rules:',
    trusted: ' is trusted. It has these rules:',
  },
  watcher: (name: string, label: string) => `watcher ${name}, ${label}`,
  noRules: '  no rules',
  rulesDone: 'Trusted. The rules that allow something apply from now on.',
  rulesRemoved: 'This file is no longer trusted. Its rules that allow something no longer apply; the others still do.',
  settingsHeading: {
    new: (agents: string) => `: its settings for ${agents} would:`,
    changed: (agents: string) => `: its settings for ${agents} have changed since you trusted them. They would:`,
    trusted: (agents: string) => `: its settings for ${agents} are trusted. They would:`,
  },
  settingsDone: (agents: string) => `Trusted. The settings apply from the next start of ${agents} in this folder.`,
  settingsListed: (agents: string) => ` (its settings for ${agents} have changed, so they do not apply)`,
  settingsRemoved: 'The settings of this folder are no longer trusted. Agents ignore them from their next start.',
  noFile: (file: string) => `There is no file ${file}`,
  otherName: (file: string, name: string) => `${file} cannot be trusted; the name of the file must be ${name}`,
  exposed: ({ path, detail, remedy }: AccessProblem) =>
    `The file was not trusted, because ${path} ${detail}. Fix it with: ${remedy}`,
  nothingTrusted: 'No file is trusted. Files in the data folder need no trust.',
  listed: { trusted: '', changed: ' (changed, so it does not apply)', missing: ' (does not exist)' },
  notTrusted: (path: string) => `${path} is not trusted. See holdpoint trust --list`,
  removed: 'This file is no longer trusted. It stops applying at the next start: holdpoint down, then holdpoint up.',
} as const

/** The effects of an agent's settings. Each text continues "the settings would …". */
export const settingsEffects = {
  hook: (event: string, what: string) => `run on ${event}, without asking you: ${what}`,
  server: (name: string, what: string) => `start the MCP server “${name}”: ${what}`,
  setting: (key: string, value: string, file: string) => `set ${key} to ${value} (${file})`,
  file: (file: string) => `add what is in ${file}`,
  codeToo:
    'Trusting these settings also trusts the commands in them, even if the programs that those commands run change later.',
} as const
