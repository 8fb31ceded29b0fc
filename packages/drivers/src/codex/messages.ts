/** The sentences of the Codex driver that a person or the agent reads. */
export const codexCalls = {
  typeInto: 'Type into a running command',
  connect: (host: string) => `Connect to ${host}`,
  changeUnknown: 'Change files',
  permissions: 'Get more permissions for this turn',
  useTool: (server: string, tool: string) => `Use ${tool} of the MCP server ${server}`,
  form: (server: string) => `A form from ${server}`,
  grantRoot: (root: string) => `Allowing this also lets Codex write anywhere in ${root}, until the session ends.`,
  noDiff: 'Codex did not say what it wants to change.',
}

/** The labels of Codex's own ways to remember an answer. */
export const codexSuggestions = {
  command: 'Don’t ask again for this command in this session',
  prefix: (words: string) => `Don’t ask again, in any session, for commands that start with: ${words}`,
  host: (host: string) => `Don’t ask again, in any session, for connections to ${host}`,
  files: 'Don’t ask again for changes to these files in this session',
  permissions: 'Keep these permissions for this session',
  toolInSession: 'Don’t ask again for this tool in this session',
  toolAlways: 'Don’t ask again for this tool, in any session',
}

export const codexExit = {
  notStarted: (executable: string) => `Codex could not be started (${executable})`,
  signal: (signal: string) => `Codex was stopped by ${signal}`,
  code: (code: number) => `Codex exited with code ${code}`,
  ended: 'Codex has ended',
  noReply: (why: string) => `Codex started, but could not be reached: ${why}`,
  disconnected: 'The connection to Codex was lost',
  closed: 'Holdpoint ended Codex',
}

export const codexLog = {
  noLongerWaits: 'Codex is no longer waiting for this answer',
  notFinished: 'Codex did not finish this call',
  declined: 'This call was denied',
  typedInTerminal: (text: string) => `Typed in a terminal: ${text}`,
  deniedButRan: (title: string) =>
    `“${title}” was allowed in a terminal at the same moment, so it ran although it was denied here`,
  notUnderstood: (method: string) =>
    `Codex asked something that Holdpoint does not understand (${method}), so Holdpoint refused it. Holdpoint was tested with another version of Codex`,
  subagentLost: (why: string) =>
    `Holdpoint can no longer follow a subagent of Codex, so you do not see what the subagent does or asks. Interrupt the turn if it does not end. ${why}`,
  mcpFailed: (server: string, why: string) =>
    `The MCP server ${server} could not be started, so its tools are missing: ${why}`,
  runnerLost: 'The runner was lost in the middle of the turn; send a message to continue',
  turnFailed: (why: string) => `Codex could not finish the turn: ${why}`,
  notSent: (why: string) => `Codex did not accept the message: ${why}`,
  noConversation: (id: string, why: string) => `Codex cannot continue the conversation ${id} on this machine: ${why}`,
}

export const codexAttachments = {
  file: (name: string, text: string) => `The attached file ${name}:\n\n${text}`,
  unreadable: (name: string) => `Codex can read pictures and text, but not the attachment ${name}`,
}

/** Advice for people about errors of Codex, by its error code. */
export const codexErrors: Readonly<Record<string, string>> = {
  unauthorized: 'Codex is not signed in, or its sign-in has expired; run `codex login`',
  usageLimitExceeded: 'This account has reached its usage limit; wait, or use another account or model',
  rateLimitExceeded: 'The model’s API was called too often; try again later',
  serverOverloaded: 'The model’s API is overloaded; try again later',
  internalServerError: 'The model’s API failed; try again later',
  modelNotFound: 'This model does not exist, or this account cannot use it; choose another model',
  contextWindowExceeded: 'The conversation is too long for the model; start a new session',
  sandboxError: 'The sandbox of Codex failed',
}

export const codexInstallation = {
  notOnWindows: 'Holdpoint runs Codex on Linux and macOS only, because it needs Unix sockets',
  notSignedIn: 'Codex does not seem to be signed in on this machine; run `codex login`, or set OPENAI_API_KEY',
}

export const codexSettings = {
  noSuchMode: (mode: string) => `Codex has no mode “${mode}”`,
  fullAccessDenied:
    'full-access is only available in a session that was started in that mode or with the option allowFullAccess. Start a new session to use it',
  unknownOption: (known: readonly string[]) => `is not an option of Codex; the options are ${known.join(', ')}`,
  notBoolean: 'must be true or false',
  notMilliseconds: 'must be a whole number of milliseconds',
  startHint: 'run `codex` in a terminal to check that it works, and check HOLDPOINT_CODEX if it is set',
}
