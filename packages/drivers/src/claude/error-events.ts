/** What can go wrong on Claude Code's side, as sentences that a person can act on. */
import type { SDKAssistantMessageError, SDKMessage } from '@anthropic-ai/claude-agent-sdk'
import { type AgentEvent, limits } from '@holdpoint/protocol'
import type { ProcessEnd } from './cli/os-process.ts'

type Raised = Extract<AgentEvent, { readonly type: 'error.raised' }>

const sentences: Readonly<Record<SDKAssistantMessageError, string>> = {
  authentication_failed:
    'Claude Code is not signed in, or its sign-in is no longer valid; run `claude` and sign in again',
  oauth_org_not_allowed: 'This organisation may not use Claude Code; sign in with another one',
  account_on_hold: 'The account is on hold; see the account’s own page',
  verification_required: 'The account must be verified first; see the account’s own page',
  billing_error: 'The account cannot pay for this; check its billing',
  rate_limit: 'The limit of this account is reached; wait, or use another account or model',
  overloaded: 'The model’s service is overloaded; try again in a while',
  invalid_request: 'The model’s service refused the request',
  model_not_found: 'There is no such model for this account; choose another one',
  server_error: 'The model’s service failed; try again in a while',
  unknown: 'The model’s service could not be used',
  max_output_tokens: 'The answer was longer than the model may write; ask for less at once',
  cloud_credential_error: 'The cloud credentials for the model are missing or no longer valid',
}

export function errorEvent(code: string, ...parts: readonly string[]): Raised {
  const message = parts
    .map(part => part.trim())
    .filter(Boolean)
    .join(': ')
  return { type: 'error.raised', code, message: message.slice(0, limits.reasonMax) }
}

export function modelError(error: SDKAssistantMessageError, detail: string): Raised {
  return errorEvent(error, sentences[error] ?? sentences.unknown, detail)
}

/** Troubles that the CLI tells of beside the conversation. */
export function errorFrom(message: SDKMessage): Raised | null {
  if (message.type === 'auth_status') return message.error ? modelError('authentication_failed', message.error) : null
  if (message.type === 'rate_limit_event') {
    const { status, resetsAt } = message.rate_limit_info
    if (status !== 'rejected') return null
    const until = resetsAt === undefined ? '' : `it is lifted at ${new Date(resetsAt * 1000).toISOString()}`
    return modelError('rate_limit', until)
  }
  if (message.type !== 'system') return null
  // The CLI goes on trying by itself; a person hears of it once.
  if (message.subtype === 'api_retry' && message.attempt === 1)
    return errorEvent(
      'api_retry',
      message.error_status === null
        ? 'The model’s service cannot be reached; check the network'
        : sentences[message.error],
      `trying again, up to ${message.max_retries} times`,
    )
  if (message.subtype === 'session_writes_lost')
    return errorEvent('disk_full', 'The disk is full: the transcript has gaps')
  if (message.subtype === 'mirror_error')
    return errorEvent('transcript', 'The transcript could not be kept', message.error)
  return null
}

/** It was started and could not even say that it is there. */
export const startTimeoutMessage =
  'Claude Code was started and said nothing for a minute; check that it runs by itself (`claude`), and that HOLDPOINT_CLAUDE, where it is set, names it'

/** How a process ended that nobody had ended, and what that means for whoever reads it. */
export function processEndMessage({ code, signal, complaint }: ProcessEnd, meaning = ''): string {
  const how = signal ? `was ended by ${signal}` : code === null ? 'could not be started' : `ended with code ${code}`
  const last = complaint.split('\n').slice(-5).join('\n')
  return `Claude Code ${how}${meaning}${last ? `. It said: ${last}` : ''}`.slice(0, limits.reasonMax).toWellFormed()
}
