/** Sentences about an agent that a person runs in their own terminal. */
export const terminalTexts = {
  typed: (text: string) => `Typed in a terminal: ${text}`,
  /** The agent or the person reads this if the rules could not be checked. */
  rulesFailed: (why: string) => `Holdpoint could not check its rules: ${why}`,
  /** The agent reads this if a rule wants a person to decide, and nobody could be asked. */
  cannotAsk: 'A rule wants a person to decide, but Holdpoint’s gateway did not respond in time.',
  promptRefused: (watcher: string, why: string) => `The watcher “${watcher}” refused this message: ${why}`,
  asking: (agent: string, message: string) =>
    `${agent} asks in its terminal, and you can answer only there: ${message}`,
  /** Codex shows this while a hook waits. */
  waiting: 'Holdpoint asks a person (page, phone or: holdpoint next)',
}
