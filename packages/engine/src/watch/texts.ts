/** Texts of watchers that people and agents read. */
export const watchTexts = {
  madeBy: (watcher: string) => `watcher ${watcher}`,
  stopHeader: 'Stop?',
  letStop: 'Let it stop',
  sendBack: 'Send it back',
  asks: (reason: string) => `${reason}\n\nMay the agent stop?`,
  sentBackOften: (times: number, text: string) =>
    `The agent was sent back to work ${times} times, and wants to stop again:\n\n${text}\n\nMay the agent stop?`,
  agent: 'agent',
}
