/** The sentences of the driver for the Agent Client Protocol that a person or the agent reads. */
export const acpCalls = {
  form: (agent: string) => `${agent} asks you to fill in a form`,
  unnamed: 'Use a tool',
  /** The agent offers no way to allow a call only once. */
  alwaysOnly: (agent: string) => `${agent} can only allow this permanently. It will not ask again for calls like this.`,
}

export const acpLog = {
  notFinished: 'The agent did not finish this call',
  denied: 'This call was denied',
  noLongerWaits: 'The agent is no longer waiting for this answer',
  notSent: (agent: string, why: string) => `${agent} could not finish the turn: ${why}`,
  stopped: {
    max_tokens: 'The model’s answer became too long; ask for a shorter answer',
    max_turn_requests: 'The agent called its model too often in this turn; send a message to continue',
    refusal: 'The model refused to continue; send a different message',
  },
  newConversation: (agent: string) =>
    `${agent} cannot continue an earlier conversation, so this is a new one: the agent knows nothing of what was said before`,
  unreadableAttachment: (agent: string, name: string) => `${agent} cannot read the attachment ${name}`,
  attachedFile: (name: string, text: string) => `The attached file ${name}:\n\n${text}`,
}

export const acpExit = {
  notStarted: (agent: string, executable: string) => `${agent} could not be started (${executable})`,
  signal: (agent: string, signal: string) => `${agent} was stopped by ${signal}`,
  code: (agent: string, code: number | null) => `${agent} exited with code ${code ?? 'unknown'}`,
  connectionLost: (agent: string) => `The connection to ${agent} was lost`,
  noSession: (agent: string, why: string) => `${agent} started, but could not open a session: ${why}`,
  noConversation: (agent: string, why: string, hint?: string) =>
    `${agent} cannot continue the earlier conversation: ${why}${hint ? `. ${hint}` : ''}`,
}

export const acpSettings = {
  startHint: (command: string) => `run \`${command}\` in a terminal to check that it works and that you are signed in`,
  noSuchMode: (agent: string, mode: string) => `${agent} has no mode “${mode}”`,
  fixedMode: (agent: string) => `The mode of ${agent} cannot be changed in Holdpoint`,
  neverAsks: (agent: string, mode: string, modes: readonly string[]) =>
    `${agent} does not ask in the mode “${mode}”, so Holdpoint does not offer it; the modes are ${modes.join(', ')}`,
  noSuchModel: (agent: string, model: string) => `${agent} has no model “${model}”`,
  noModels: (agent: string) => `${agent} does not let other programs choose its model`,
}
