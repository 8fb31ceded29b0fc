/** Texts of `holdpoint hook`. */
import type { TerminalAgentName } from '@holdpoint/drivers'

export const hookTexts = {
  notJson: (file: string, problem: string) =>
    `The settings ${file} cannot be changed: ${problem}. Correct the file, then run the command again`,
  hasComments: (file: string) =>
    `Holdpoint cannot change a settings file that contains comments: ${file}. Remove the comments, or change the file yourself`,
  noProjectFile: (title: string, agent: string) =>
    `The settings of ${title} for one folder are shared with others, but the hooks contain paths of this machine. Install the hooks for every folder: holdpoint hook install ${agent}`,
  fromCache:
    'This program runs from the npx cache, which npm may empty at any time. Install Holdpoint first: npm install -g holdpoint',
  installed: (file: string) => `The hooks were added to ${file}.`,
  isInstalled: (file: string) => `The hooks are in ${file}.`,
  alreadyInstalled: (file: string) => `The hooks are already in ${file}.`,
  noGateway: 'No gateway is running, so the terminal asks as usual. Start one with: holdpoint up',
  removed: (file: string) => `The hooks were removed from ${file}.`,
  notInstalled: (file: string) => `There are no hooks of Holdpoint in ${file}.`,
  unreadable: (agent: string) =>
    `the input of the hook has an unexpected form, perhaps because ${agent} is newer than this Holdpoint`,
  programMissing: (program: string, agent: string) =>
    `The hooks start ${program}, which does not exist. Run: holdpoint hook install ${agent}`,
}

/** What the hooks of each agent can do, and what the person does next. */
export const agentTexts: Readonly<Record<TerminalAgentName, { readonly about: string; readonly next: string }>> = {
  claude: {
    about: 'Claude Code asks Holdpoint, too. You can still answer every question in the terminal.',
    next: 'In terminals that are already open, restart Claude Code.',
  },
  codex: {
    about:
      'Codex asks Holdpoint first. While Holdpoint waits for an answer, the terminal shows no dialog; Esc interrupts the turn.',
    next: 'Codex runs new hooks only after you have trusted them: it asks at its next start, or type /hooks there.',
  },
  gemini: {
    about:
      'Gemini’s hooks cannot answer what Gemini asks, so answer that in its terminal. Your deny and ask rules apply, and the session is in the list. To answer on the page, use: holdpoint run gemini',
    next: 'In terminals that are already open, restart Gemini.',
  },
}
