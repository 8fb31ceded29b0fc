/** The sentences of this driver that a person or the agent reads. */
import type { SDKAssistantMessageError } from '@anthropic-ai/claude-agent-sdk'
import { limits, type Variable, type VariableValue, type Verdict } from '@holdpoint/protocol'
import { listedFiles, trustCommand } from '../folder-settings/messages.ts'
import type { ProjectSettings } from '../folder-settings/project-settings.ts'

/** Texts that the agent reads instead of, or in addition to, the result of a tool call. */
export const toAgent = {
  withdrawn: 'This request was withdrawn.',
  interrupted: 'The person interrupted the turn, so this call did not run.',
  declined: 'A person declined to answer.',
  selfTest: 'This was only a test.',
  note: (note: string) => `The person who allowed this added a note: ${note}`,
  stopReason: (reason: string) => `The person who stopped you said: ${reason}`,
  cannotAsk: (why: string) => `This call was denied because nobody could be asked: ${why}`,
  verdict: ({ verdict, reason, watcher }: Verdict) =>
    watcher === undefined
      ? `A rule says ${verdict}: ${reason}`
      : `The watcher “${watcher.name}” says ${verdict}: ${reason}`,
}

/** What the agent reads about its variables. */
export const variableTexts = {
  description: (variables: readonly Variable[]) =>
    ['Sets a variable of this session. The variables are:', ...variables.map(describeVariable)].join('\n'),
  isSet: (name: string, value: VariableValue) => `${name} is now ${JSON.stringify(value)}.`,
}
function describeVariable({ name, default: value, note }: Variable): string {
  return `- ${name} (${typeof value})${note === undefined ? '' : `: ${note}`}`
}

/** Reasons why a tool call was denied without asking anyone. */
export const denied = {
  notObject: (tool: string) => `${tool} was denied because its input is not an object`,
  tooLarge: (tool: string, bytes: number, bytesMax: number) =>
    `${tool} was denied because its input is too large to ask about (${bytes} bytes; the limit is ${bytesMax}). Split the work into smaller calls`,
  rulesFailed: (tool: string, why: string) => `${tool} was denied because the rules could not be checked: ${why}`,
  resultNotReported: (tool: string, why: string) => `The watchers did not see the result of ${tool}: ${why}`,
  cannotAsk: (tool: string, why: string) => `${tool} was denied because nobody could be asked: ${why}`,
}

/** Reasons why the process must keep running while a request is pending. */
export const notParkable = {
  notRecorded: 'the call is not in the transcript yet',
  siblingOpen: 'another call in the same step has not finished',
  tooMuchWritten: 'the transcript has grown too much since the call',
  otherFolder: 'the call does not run in the folder of the session',
  off: 'parking is turned off',
  onlyQuestions: 'this version of Claude Code can only be parked on a question or a plan',
  siblingInStep: 'the same step contains another call',
}

export const bypassUnavailable =
  'bypassPermissions is only available in a session that was started in that mode or with the option allowBypass. Start a new session to use it'
export const settings = {
  unknownMode: (mode: string) => `Claude Code has no mode “${mode}”`,
  modeReplaced: (mode: string | null, why: string, replacement: string) =>
    `Mode “${mode}” isn’t available: ${why}. Continuing in mode ${replacement}`,
  noSuchMode: 'Claude Code has no such mode',
  bypassDenied: `The mode was not changed: ${bypassUnavailable}`,
  allowedWithoutMode: (tool: string) => `${tool} was allowed, but the mode was not changed: ${bypassUnavailable}`,
}

/** Reasons why a turn failed. */
export const turnFailed = {
  resumedTooOften:
    'Claude Code exited every time it was resumed at this point; send a message to continue in a different way',
  endedBy: (subtype: string) => `Claude Code ended the turn: ${subtype}`,
}

/** The error if the answer to a call cannot be given to Claude Code. */
export const noLongerWaits = 'Claude Code is no longer waiting for this answer'

/** Advice for people if Claude Code does not start. */
export const startHint = 'run `claude` in a terminal to check that it works, and check HOLDPOINT_CLAUDE if it is set'

export const processExit = {
  signal: (signal: string) => `Claude Code was stopped by ${signal}`,
  notStarted: 'Claude Code could not be started',
  code: (code: number) => `Claude Code exited with code ${code}`,
}

/** Messages for errors of the model's API, by the SDK's error code. */
export const modelErrors: Readonly<Record<SDKAssistantMessageError, string>> = {
  authentication_failed: 'Claude Code is not signed in, or its sign-in has expired; run `claude` and sign in again',
  oauth_org_not_allowed: 'Your organization is not allowed to use Claude Code; sign in with another organization',
  account_on_hold: 'This account is on hold; open its account page to find out why',
  verification_required: 'This account must be verified first; open its account page to verify it',
  billing_error: 'This account has a billing problem; check its payment details or credit',
  rate_limit: 'This account has reached its usage limit; wait, or use another account or model',
  overloaded: 'The model’s API is overloaded; try again later',
  invalid_request: 'The model’s API did not accept the request',
  model_not_found: 'This model does not exist or this account cannot use it; choose another model',
  server_error: 'The model’s API failed; try again later',
  unknown: 'The model’s API returned an unknown error',
  max_output_tokens: 'The answer exceeded the model’s maximum length; ask for a shorter answer',
  cloud_credential_error:
    'The cloud credentials for the model are missing or have expired; sign in to the cloud provider again',
}
export const cliErrors = {
  limitResets: (at: Date) => `the limit resets at ${at.toISOString()}`,
  unreachable: 'The model’s API cannot be reached; check the network',
  retrying: (retriesMax: number) => `retrying up to ${retriesMax} times`,
  diskFull: 'The disk is full, so part of the transcript could not be written; free some space',
  transcriptNotStored: 'The transcript could not be stored',
  mcpSignIn: (server: string) =>
    `The MCP server ${server} requires you to sign in, so its tools are missing. Run \`claude\` and type /mcp to sign in`,
  mcpNotStarted: (server: string) => `The MCP server ${server} could not be started, so its tools are missing`,
  formNotShown: (server: string, why: string) =>
    `The MCP server ${server} sent a form that cannot be shown, so it was canceled: ${why}`,
}

/** Messages about a session whose stored state is damaged. */
export const damaged = {
  newConversation: (file: string) =>
    `The stored state of this session was damaged and has been moved to ${file}. There is no transcript, so a new conversation starts`,
  continued: (file: string) =>
    `The stored state of this session was damaged and has been moved to ${file}. The conversation continues from its transcript, in mode default unless the session has another mode`,
}

/** The message about settings of the folder that are not loaded. */
export function untrustedSettings({ folder, files, problem }: ProjectSettings): string {
  const listed = listedFiles(files.map(({ path }) => path))
  const advice =
    problem ??
    `To load them, read and trust them on the runner’s machine with: ${trustCommand(folder)}. They apply from the next start of Claude Code`
  return `This folder has settings for Claude Code that you have not trusted, or that have changed since you trusted them (${listed}). They can run commands without asking, so this session runs without them and without the folder’s CLAUDE.md. ${advice}`
}

export const cwdProblems = {
  relative: (cwd: string) => `The folder “${cwd}” is not an absolute path; start a new session with an absolute path`,
  notFolder: (cwd: string) => `${cwd} is not a folder; start a new session in a folder`,
  missing: (cwd: string) => `The folder ${cwd} does not exist; create it, or start a new session in another folder`,
  unusable: (cwd: string, why: string) => `The folder ${cwd} cannot be used: ${why}`,
}

export const installation = {
  sdkMissing:
    'The Claude Agent SDK is not installed; run `npm install @anthropic-ai/claude-agent-sdk` next to Holdpoint',
  notExecutable: (file: string) =>
    `${file} is not an executable file; set HOLDPOINT_CLAUDE to the path of \`claude\`, or unset it`,
  claudeMissing:
    'Claude Code is not installed on this machine; install it (`npm install -g @anthropic-ai/claude-code`), or set HOLDPOINT_CLAUDE to the path of `claude`',
  notSignedIn:
    'Claude Code does not seem to be signed in on this machine; run `claude` and sign in, or set ANTHROPIC_API_KEY',
}

/** Problems with a session option. Each text follows the option's name. */
export const optionProblems = {
  unknown: (known: readonly string[]) => `is not an option of Claude Code; the options are ${known.join(', ')}`,
  boolean: 'must be true or false',
  text: 'must be a string',
  textList: 'must be a list of strings',
  textMap: 'must be an object whose values are strings',
  object: 'must be an object',
  named: 'must be an object whose keys are names',
  milliseconds: `must be a whole number of milliseconds, from 0 to ${limits.deadlineMaxMs}`,
  serverType: 'must be stdio, http or sse',
  forkNeedsConversation: 'needs conversationId, the conversation to fork',
}
