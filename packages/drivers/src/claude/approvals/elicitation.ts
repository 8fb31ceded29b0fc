/** Opens a form request for an MCP server's elicitation, with fields to fill in or a link to open, and converts the answer to the elicitation's result. */
import { createHash } from 'node:crypto'
import type { ElicitationRequest, ElicitationResult, OnElicitation } from '@anthropic-ai/claude-agent-sdk'
import { Fault, type FormAsk, limits } from '@holdpoint/protocol'
import type { HandedAnswer } from '../../session/open-request.ts'
import { cliErrors } from '../messages.ts'
import type { PendingCalls } from './pending-calls.ts'

export function elicitationHandler(calls: PendingCalls, reportProblem: (message: string) => void): OnElicitation {
  const counts = new Map<string, number>()
  return async (request, { signal }) => {
    const id = identify(request)
    const count = (counts.get(id) ?? 0) + 1
    counts.set(id, count)
    try {
      return toElicitationResult(await calls.askElicitation(`form:${id}:${count}`, toFormAsk(request), signal))
    } catch (error) {
      if (!(error instanceof Fault)) throw error
      reportProblem(cliErrors.formNotShown(request.serverName, error.message))
      return { action: 'cancel' }
    }
  }
}

/** Returns the elicitation's id. Most servers send no id, so a hash of the content is used instead. */
function identify(request: ElicitationRequest): string {
  const content = JSON.stringify([request.serverName, request.message, request.requestedSchema, request.url])
  return request.elicitationId ?? createHash('sha256').update(content).digest('hex').slice(0, 16)
}

function toFormAsk({ serverName, message, title, requestedSchema, url }: ElicitationRequest): FormAsk {
  const schema = requestedSchema ?? { type: 'object', properties: {} }
  return {
    kind: 'form',
    title: (title ?? `A form from ${serverName}`).slice(0, limits.titleMax),
    message: message.slice(0, limits.reasonMax),
    schema: schema as FormAsk['schema'], // a server can send anything, but `AgentSession.open` validates the ask
    ...(url === undefined ? {} : { url }),
  }
}

function toElicitationResult(handed: HandedAnswer): ElicitationResult {
  if (handed.kind !== 'answer') return { action: 'cancel' }
  if (handed.answer.kind !== 'submit') return { action: 'decline' }
  return { action: 'accept', content: { ...handed.answer.values } as ElicitationResult['content'] } // the gateway checked the values against the schema
}
