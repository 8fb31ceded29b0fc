/** The elicitations of MCP servers: opens a form, with fields to fill in or a link to open, and converts the answer to the elicitation's result. An elicitation cannot be resumed in another process. */
import { createHash } from 'node:crypto'
import type { ElicitationRequest, ElicitationResult, OnElicitation } from '@anthropic-ai/claude-agent-sdk'
import { type FormAsk, limits } from '@holdpoint/protocol'
import type { AnswerEffects, CallAnswer, ConnectionOptions } from '../../session/agent-connection.ts'
import { cliErrors } from '../messages.ts'

export interface ElicitationsOptions extends Pick<ConnectionOptions, 'emit'> {
  /** Called with a sentence for people if a form cannot be shown. */
  readonly reportProblem: (message: string) => void
}

interface Elicitation {
  readonly serverName: string
  readonly give: (result: ElicitationResult) => void
}

export class Elicitations {
  readonly #options: ElicitationsOptions
  readonly #waiting = new Map<string, Elicitation>()
  readonly #answered = new Set<string>()
  readonly #counts = new Map<string, number>()

  constructor(options: ElicitationsOptions) {
    this.#options = options
  }

  onElicitation: OnElicitation = (request, { signal }) => {
    const { emit } = this.#options
    const content = identify(request)
    const count = (this.#counts.get(content) ?? 0) + 1
    this.#counts.set(content, count)
    const id = `form:${content}:${count}`
    return new Promise(resolve => {
      this.#waiting.set(id, { serverName: request.serverName, give: resolve })
      void emit({ type: 'callOpened', call: { id, ask: toFormAsk(request), origin: 'background' } })
      const abort = () => void emit({ type: 'callAborted', id })
      if (signal.aborted) abort()
      else signal.addEventListener('abort', abort, { once: true })
    })
  }

  /** Gives the server the answer. Returns null if no such elicitation waits. */
  answer(id: string, answer: CallAnswer): AnswerEffects | null {
    const elicitation = this.#waiting.get(id)
    if (!elicitation) return null
    this.#waiting.delete(id)
    this.#answered.add(id)
    if (answer.kind === 'notAsked')
      this.#options.reportProblem(cliErrors.formNotShown(elicitation.serverName, answer.problem))
    elicitation.give(toElicitationResult(answer))
    return {}
  }

  /** Call this at every assistant or user message. An elicitation has no result of its own, so the next message shows that its answer was received. Returns the ids of the elicitations that were received. */
  takeAnswered(): readonly string[] {
    const ids = [...this.#answered]
    this.#answered.clear()
    return ids
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
    title: (title ?? `A form from ${serverName}`).slice(0, limits.titleMax).toWellFormed(),
    message: message.slice(0, limits.reasonMax).toWellFormed(),
    schema: schema as FormAsk['schema'], // a server can send anything, but `AgentSession.open` validates the ask
    ...(url === undefined ? {} : { url }),
  }
}

function toElicitationResult(given: CallAnswer): ElicitationResult {
  if (given.kind !== 'answer') return { action: 'cancel' }
  if (given.answer.kind !== 'submit') return { action: 'decline' }
  return { action: 'accept', content: { ...given.answer.values } as ElicitationResult['content'] } // the gateway checked the values against the schema
}
