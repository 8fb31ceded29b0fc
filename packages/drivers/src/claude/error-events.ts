/** Builds the error events of this driver from SDK messages and model errors, and describes how a process ended. */
import type { SDKAssistantMessageError, SDKMessage } from '@anthropic-ai/claude-agent-sdk'
import { type AgentEvent, limits } from '@holdpoint/protocol'
import type { ProcessExit } from './cli/cli-process.ts'
import { cliErrors, modelErrors, processExit } from './messages.ts'

type ErrorEvent = Extract<AgentEvent, { readonly type: 'error.raised' }>

/** Creates an error event. Its message consists of the non-empty parts, joined with colons. */
export function errorEvent(code: string, ...parts: readonly string[]): ErrorEvent {
  const message = parts
    .map(part => part.trim())
    .filter(Boolean)
    .join(': ')
  return { type: 'error.raised', code, message: message.slice(0, limits.reasonMax).toWellFormed() }
}

export function modelError(error: SDKAssistantMessageError, detail: string): ErrorEvent {
  return errorEvent(error, modelErrors[error] ?? modelErrors.unknown, detail)
}

/** Converts an SDK message that reports an error outside the conversation to an error event. Returns null for any other message. */
export function errorFrom(message: SDKMessage): ErrorEvent | null {
  if (message.type === 'auth_status') return message.error ? modelError('authentication_failed', message.error) : null
  if (message.type === 'rate_limit_event') {
    const { status, resetsAt } = message.rate_limit_info
    if (status !== 'rejected') return null
    return modelError('rate_limit', resetsAt === undefined ? '' : cliErrors.limitResets(new Date(resetsAt * 1000)))
  }
  if (message.type !== 'system') return null
  // The CLI retries by itself, so report only the first attempt.
  if (message.subtype === 'api_retry' && message.attempt === 1)
    return errorEvent(
      'api_retry',
      message.error_status === null ? cliErrors.unreachable : modelErrors[message.error],
      cliErrors.retrying(message.max_retries),
    )
  if (message.subtype === 'session_writes_lost') return errorEvent('disk_full', cliErrors.diskFull)
  if (message.subtype === 'mirror_error') return errorEvent('transcript', cliErrors.transcriptNotStored, message.error)
  return null
}

/** Returns how a process ended, for people. */
export function describeExit({ code, signal }: ProcessExit): string {
  if (signal) return processExit.signal(signal)
  return code === null ? processExit.notStarted : processExit.code(code)
}
