/** The sentences of the opencode driver that a person or the agent reads. */
export const opencodeCalls = {
  outside: (patterns: readonly string[]) => `opencode asks because this is outside its folder: ${patterns.join(', ')}`,
  repeated: 'opencode asks because the agent has made this call several times in a row',
}

export const opencodeReads = {
  /** The text that replaces the answer to a declined question, because opencode's protocol has no field for a reason. */
  notAnswered: (why: string) => `(The person did not answer this question. ${why})`,
}

export const opencodeLog = {
  notFinished: 'The agent did not finish this call',
  noLongerWaits: 'opencode is no longer waiting for this answer',
  notSent: (why: string) => `opencode did not accept the message: ${why}`,
  failed: (why: string) => `opencode could not finish the turn: ${why}`,
}

export const opencodeExit = {
  noAddress: 'opencode ended before its server was ready',
  connectionFailed: (why: string) => `the connection to opencode’s server failed (${why})`,
  refused: (path: string, why: string) => `opencode refused ${path}: ${why}`,
  streamEnded: 'opencode closed its stream of events',
  noConversation: (id: string, why: string) => `opencode cannot continue the conversation ${id}: ${why}`,
}

export const opencodeSettings = {
  noSuchMode: (mode: string, modes: readonly string[]) =>
    `opencode has no agent “${mode}” for conversations; it has ${modes.join(', ')}`,
  noSuchModel: (model: string, models: readonly string[]) =>
    `opencode has no model “${model}”; it has ${models.join(', ')}`,
  startHint: 'run `opencode` in a terminal to check that it works and that a model is set up',
}
