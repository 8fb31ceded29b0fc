/** Forms that an agent, or an MCP server through the agent, asks the person to fill in. */
import type { CreateElicitationRequest, CreateElicitationResponse } from '@agentclientprotocol/sdk'
import { type FormAsk, limits } from '@holdpoint/protocol'
import type { Decision } from '../session/decisions.ts'
import { acpCalls } from './messages.ts'

export function formAsk(request: CreateElicitationRequest, agent: string): FormAsk {
  const { message, requestedSchema, url } = request as CreateElicitationRequest & {
    requestedSchema?: unknown
    url?: unknown
  } // a request of mode `form` has a schema, one of mode `url` has an address
  const schema = requestedSchema ?? { type: 'object', properties: {} }
  return {
    kind: 'form',
    title: acpCalls.form(agent).slice(0, limits.titleMax).toWellFormed(),
    message: message.slice(0, limits.reasonMax).toWellFormed(),
    schema: schema as FormAsk['schema'], // an agent can send anything, but `AgentSession.open` validates the ask
    ...(typeof url === 'string' ? { url } : {}),
  }
}

/** `decision` is null if the turn is being interrupted. */
export function formReply(decision: Decision | null): CreateElicitationResponse {
  if (!decision) return { action: 'cancel' }
  if (decision.answer?.kind !== 'submit') return { action: 'decline' }
  // Leave out fields that the person left empty, because agents read an empty text as an answer.
  const content = Object.entries(decision.answer.values).filter(([, value]) => value !== '')
  return { action: 'accept', content: Object.fromEntries(content) as Record<string, string> } // the gateway checked the values against the schema
}
