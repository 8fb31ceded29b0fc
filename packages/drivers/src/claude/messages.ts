/** All sentences of this driver that a person or the agent reads. */
import type { SDKAssistantMessageError } from '@anthropic-ai/claude-agent-sdk'
import { limits } from '@holdpoint/protocol'

/** What the agent reads in place of, or next to, the result of a tool call. */
export const toAgent = {
  withdrawn: 'This request was withdrawn.',
  interrupted: 'The person interrupted this.',
  declined: 'A person declined to answer.',
  selfTest: 'This was only a test.',
  note: (note: string) => `The person who allowed this adds: ${note}`,
  stopReason: (reason: string) => `The person who stopped you said: ${reason}`,
  cannotAsk: (why: string) => `Nobody could be asked about this: ${why}`,
  rule: (verdict: string, reason: string) => `A rule says ${verdict}: ${reason}`,
}

/** What the agent reads after its process was lost, one line for each call that it had asked about. */
export const decisions = {
  heading: 'Your process was lost while you waited for answers. This is what was decided:',
  pending: (call: string) => `- ${call}: nobody has answered yet; make the same call again to wait for the answer`,
  unknown: (call: string) => `- ${call}: approved and started; its outcome is unknown, check before running it again`,
  allowed: (call: string) => `- ${call}: allowed; make exactly the same call again to run it`,
  answered: (call: string, answer: string) => `- ${call}: ${answer}`,
  nobodyAnswered: 'nobody answered',
}

/** Why a tool call was denied without asking anyone. */
export const denied = {
  notObject: (tool: string) => `${tool} was denied: its input is not an object`,
  tooLarge: (tool: string, bytes: number, bytesMax: number) =>
    `${tool} was denied: its input is too large to ask about (${bytes} bytes; the limit is ${bytesMax}); do it in smaller parts`,
  rulesFailed: (tool: string, why: string) => `${tool} was denied, because the rules could not be checked: ${why}`,
  cannotAsk: (tool: string, why: string) => `${tool} was denied, because nobody could be asked: ${why}`,
}

/** Why the process must keep running while a request is pending. */
export const notParkable = {
  nothingPending: 'no request is pending',
  several: 'several requests are pending at once',
  answerOnItsWay: 'the answer is being delivered',
  notMainAgent: 'the request came from a subagent or an MCP server, so the process must keep running',
  background: 'work is running in the background',
  notRecorded: 'the call is not in the transcript yet',
  siblingOpen: 'another call of the same step has not finished',
  tooMuchWritten: 'too much has been written since the call',
  off: 'parking is off',
  onlyQuestions: 'this version of Claude Code can only be parked on a question or a plan',
  siblingInStep: 'the same step contains another call',
}

/** What a session loses because its runner stops. */
export const unfinished = {
  background: 'The runner was stopped: work in the background was ended',
  outcomeUnknown: 'The runner was stopped: a call was already answered and running; its outcome is unknown',
  working:
    'The runner was stopped: Claude Code was working and no request was pending; the turn ends here. Send a message to continue',
  notResumable: (why: string) =>
    `The runner was stopped: the pending request cannot be resumed (${why}); Claude Code will be told what you decide`,
}

export const bypassUnavailable =
  'bypassPermissions is only available in a session that was started in that mode or with the option allowBypass; start a new session'
export const settings = {
  unknownMode: (mode: string) => `Claude Code has no mode “${mode}”`,
  modeReplaced: (mode: string | null, why: string, replacement: string) =>
    `Mode “${mode}” isn't available: ${why}. Continuing in mode ${replacement}`,
  noSuchMode: 'Claude Code has no such mode',
  bypassDenied: `refused: ${bypassUnavailable}`,
  refused: (why: string) => `Claude Code refused the change: ${why}`,
  noReply: (seconds: number) => `Claude Code did not answer within ${seconds} s; the change was cancelled`,
  allowedWithoutMode: (tool: string) => `${tool} was allowed, but the mode was not changed: ${bypassUnavailable}`,
}

/** How a turn failed. */
export const turnFailed = {
  runnerLost: 'The runner was lost in the middle of the turn; send a message to continue',
  resumedTooOften: 'Claude Code exited every time it was resumed at this point; send a message to try something else',
  startTimeout:
    'Claude Code was started and said nothing for a minute; check that `claude` runs on its own, and that HOLDPOINT_CLAUDE, if it is set, names it',
  processLost: ' in the middle of the turn; send a message to continue',
  endedBy: (subtype: string) => `Claude Code ended the turn: ${subtype}`,
}

export const processExit = {
  signal: (signal: string) => `Claude Code was ended by ${signal}`,
  notStarted: 'Claude Code could not be started',
  code: (code: number) => `Claude Code exited with code ${code}`,
  stderr: (lines: string) => `. Its last output: ${lines}`,
  backgroundLost: (exit: string) => `${exit}; the work that it was running in the background was lost`,
}

/** Errors of the model's API, by the SDK's error code. */
export const modelErrors: Readonly<Record<SDKAssistantMessageError, string>> = {
  authentication_failed: 'Claude Code is not signed in, or its sign-in has expired; run `claude` and sign in again',
  oauth_org_not_allowed: 'This organisation may not use Claude Code; sign in with another one',
  account_on_hold: 'The account is on hold; see its account page',
  verification_required: 'The account must be verified first; see its account page',
  billing_error: 'The account cannot pay for this; check its billing',
  rate_limit: 'The limit of this account is reached; wait, or use another account or model',
  overloaded: 'The model’s API is overloaded; try again in a while',
  invalid_request: 'The model’s API refused the request',
  model_not_found: 'This account has no such model; choose another one',
  server_error: 'The model’s API failed; try again in a while',
  unknown: 'The model’s API could not be used',
  max_output_tokens: 'The answer was longer than the model may write; ask for less at once',
  cloud_credential_error: 'The cloud credentials for the model are missing or have expired',
}
export const cliErrors = {
  limitResets: (at: Date) => `the limit resets at ${at.toISOString()}`,
  unreachable: 'The model’s API cannot be reached; check the network',
  retrying: (retriesMax: number) => `retrying up to ${retriesMax} times`,
  diskFull: 'The disk is full: the transcript has gaps',
  transcriptNotStored: 'The transcript could not be stored',
  mcpSignIn: (server: string) =>
    `The MCP server ${server} needs a sign-in; its tools are missing. Run \`claude\` and type /mcp`,
  mcpNotStarted: (server: string) => `The MCP server ${server} could not be started; its tools are missing`,
  formNotShown: (server: string, why: string) =>
    `The MCP server ${server} asked for something that cannot be shown as a form: ${why}`,
}

/** The session's record of itself was damaged on disk. */
export const damaged = {
  newConversation: (file: string) =>
    `The stored state of this session was damaged and was moved to ${file}; there is no transcript, so a new conversation begins`,
  continued: (file: string) =>
    `The stored state of this session was damaged and was moved to ${file}; the conversation continues from its transcript, in mode default unless the session has another one`,
}

export const cwdProblems = {
  relative: (cwd: string) => `The folder “${cwd}” is not an absolute path; start a session with an absolute path`,
  notFolder: (cwd: string) => `${cwd} is not a folder; start a session in a folder`,
  missing: (cwd: string) => `The folder ${cwd} does not exist; create it, or start a session in another folder`,
  unusable: (cwd: string, why: string) => `The folder ${cwd} cannot be used: ${why}`,
}

export const installation = {
  sdkMissing:
    'The Claude Agent SDK is not installed; run `npm install @anthropic-ai/claude-agent-sdk` next to Holdpoint',
  notExecutable: (file: string) =>
    `${file} is not a program that can be run; set HOLDPOINT_CLAUDE to the \`claude\` to use, or unset it`,
  claudeMissing:
    'Claude Code is not installed on this machine; install it (`npm install -g @anthropic-ai/claude-code`), or set HOLDPOINT_CLAUDE to its executable',
  notSignedIn:
    'Nobody seems to be signed in to Claude Code on this machine; run `claude` once and sign in, or set ANTHROPIC_API_KEY',
}

/** What is wrong with a session option; each follows the option's name. */
export const optionProblems = {
  unknown: (known: readonly string[]) => `is not an option of Claude Code; the options are ${known.join(', ')}`,
  boolean: 'must be true or false',
  text: 'must be text',
  textList: 'must be a list of texts',
  textMap: 'must be an object whose values are texts',
  object: 'must be an object',
  named: 'must be an object whose keys are names',
  milliseconds: `must be a whole number of milliseconds, from 0 to ${limits.deadlineMaxMs}`,
  serverType: 'must be stdio, http or sse',
  forkNeedsConversation: 'needs conversationId, the conversation to fork',
}
