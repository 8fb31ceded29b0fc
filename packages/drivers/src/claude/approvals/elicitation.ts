/** MCP elicitation as a form: a schema to fill in, or a link to open. */
import { createHash } from 'node:crypto'
import type { ElicitationRequest, ElicitationResult, OnElicitation } from '@anthropic-ai/claude-agent-sdk'
import { Fault, type FormAsk, limits } from '@holdpoint/protocol'
import type { HandedAnswer } from '../../session/open-request.ts'
import type { PendingCalls } from './pending-calls.ts'

export function elicit(calls: PendingCalls, raise: (message: string) => Promise<void>): OnElicitation {
  const counts = new Map<string, number>()
  return async (request, { signal }) => {
    const name = nameOf(request)
    const count = (counts.get(name) ?? 0) + 1
    counts.set(name, count)
    try {
      return resultOf(await calls.ask(`form:${name}:${count}`, formOf(request), signal))
    } catch (error) {
      if (!(error instanceof Fault)) throw error
      await raise(`The server ${request.serverName} asked for something that no form can show: ${error.message}`)
      return { action: 'cancel' }
    }
  }
}

/** Servers have no id for what they ask: what is asked, and how often, stands in for it. */
function nameOf(request: ElicitationRequest): string {
  const what = JSON.stringify([request.serverName, request.message, request.requestedSchema, request.url])
  return request.elicitationId ?? createHash('sha256').update(what).digest('hex').slice(0, 16)
}

function formOf({ serverName, message, title, requestedSchema, url }: ElicitationRequest): FormAsk {
  const schema = requestedSchema ?? { type: 'object', properties: {} }
  return {
    kind: 'form',
    title: (title ?? `${serverName} asks`).slice(0, limits.titleMax),
    message: message.slice(0, limits.reasonMax),
    schema: schema as FormAsk['schema'], // whatever a server sends; the ask is parsed before it is opened
    ...(url === undefined ? {} : { url }),
  }
}

function resultOf(settled: HandedAnswer): ElicitationResult {
  if (settled.kind !== 'answer') return { action: 'cancel' }
  if (settled.answer.kind !== 'submit') return { action: 'decline' }
  return { action: 'accept', content: { ...settled.answer.values } as ElicitationResult['content'] } // it fits the schema, or it would not be an answer
}
