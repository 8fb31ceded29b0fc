/** The sentences of the session loop that a person or the agent reads. */

/** The message that the agent reads after its process was lost, with one line for each call that it had asked about. */
export const decisions = {
  heading: 'Your process was lost while you waited for answers. This is what was decided:',
  pending: (call: string) => `- ${call}: nobody has answered yet; make the same call again to wait for the answer`,
  unknown: (call: string) =>
    `- ${call}: approved, and it may have run; its outcome is unknown, so check before running it again`,
  allowed: (call: string) => `- ${call}: allowed; make exactly the same call again to run it`,
  answered: (call: string, answer: string) => `- ${call}: ${answer}`,
  nobodyAnswered: 'nobody answered',
}

/** Texts that the agent reads in addition to the reply to a call, if its protocol has no field for them. */
export const agentReads = {
  about: (call: string, text: string) => `About “${call}”: ${text}`,
  note: (call: string, note: string) => `The person who allowed “${call}” added a note: ${note}`,
  denied: (call: string, reason: string) => `“${call}” was denied: ${reason}`,
  notAsked: (call: string, problem: string) => `“${call}” was denied because nobody could be asked: ${problem}`,
}

export const loopMessages = {
  /** Reasons why a message was not given to the agent. */
  promptRefused: (watcher: string, why: string) => `The watcher “${watcher}” refused this message: ${why}`,
  promptNotChecked: (why: string) =>
    `The agent did not get this message, because the watchers could not check it: ${why}`,

  /** Reasons why the process must keep running while a request is pending. */
  notParkable: {
    nothingPending: 'no request is pending',
    several: 'several requests are pending at once',
    answerOnItsWay: 'the answer is being delivered',
    notMainAgent: 'the request came from a subagent or an MCP server',
    background: 'work is running in the background',
    cannotAskAgain: 'this agent cannot ask again after a restart',
  },

  /** Messages about work that was lost because the runner stopped. */
  unfinished: {
    background: 'The runner was stopped, so the work in the background stopped too',
    outcomeUnknown:
      'The runner was stopped after a call was answered but before its result was recorded, so its outcome is unknown',
    working: (agent: string) =>
      `The runner was stopped while ${agent} was working, so the turn ended early. Send a message to continue`,
    notResumable: (agent: string, why: string) =>
      `The runner was stopped, and the pending request cannot be resumed (${why}). You can still answer it; ${agent} will be told your answer`,
  },

  /** Reasons why a turn failed. */
  turnFailed: {
    runnerLost: 'The runner was lost in the middle of the turn; send a message to continue',
    startTimeout: (agent: string, hint: string | undefined) =>
      `${agent} did not respond within a minute after it was started${hint === undefined ? '' : `; ${hint}`}`,
    processLost: ' in the middle of the turn; send a message to continue',
  },

  /** Messages about a process that ended. */
  processExit: {
    lastOutput: (lines: string) => `. Its last output: ${lines}`,
    backgroundLost: (exit: string) => `${exit}; its work in the background was lost`,
  },

  settings: {
    refused: (agent: string, why: string) => `${agent} refused the change: ${why}`,
    noReply: (agent: string, seconds: number) =>
      `${agent} did not respond within ${seconds} s, so the change was canceled`,
    processExited: 'its process exited',
  },
}
