/** Sentences about an agent that a person runs in their own terminal. */
export const terminalTexts = {
  typed: (text: string) => `Typed in a terminal: ${text}`,
  /** The agent or the person reads this if the rules could not be checked. */
  rulesFailed: (why: string) => `Holdpoint could not check its rules: ${why}`,
  /** The agent reads this if a rule requires that a person decides, and nobody could be asked. */
  cannotAsk: 'A rule requires that a person decides, but Holdpoint’s gateway did not respond in time.',
  /** The agent reads this if a request that a rule required was ended, for example because the person interrupted the session. */
  notAllowed: 'Nobody allowed this call, because its request ended. Nothing has run.',
  /** Why an answer could not be delivered. */
  answeredFirst: 'the call was allowed in the terminal first',
  deniedButRan: (title: string) => `“${title}” was allowed in the terminal before it was denied here, so it ran anyway`,
  editedButRan: (title: string) =>
    `“${title}” was allowed in the terminal before it was edited here, so it ran without the edits`,
  promptRefused: (watcher: string, why: string) => `The watcher “${watcher}” refused this message: ${why}`,
  asking: (agent: string, message: string) =>
    `${agent} asks in its terminal, and you can answer only there: ${message}`,
  form: (server: string, message: string, url?: string) =>
    `The MCP server ${server}: ${url === undefined ? message : `${message} (${url})`}`,
  /** Codex shows this while a hook waits. */
  waiting: 'Holdpoint asks a person (page, phone or: holdpoint next)',
}
