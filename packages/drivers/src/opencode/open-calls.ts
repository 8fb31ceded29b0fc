/** The permissions and questions that wait for an answer. */
import {
  type ApprovalAsk,
  canonicalJson,
  defaultDenyReason,
  type JsonObject,
  type QuestionsAsk,
} from '@holdpoint/protocol'
import type { AgentOutput } from '../session/agent-connection.ts'
import type { Decision } from '../session/decisions.ts'
import { opencodeLog } from './messages.ts'
import { questionAnswers } from './questions.ts'
import { OpencodeRefusal, type OpencodeServer } from './server.ts'

export interface WaitingCall {
  readonly id: string
  readonly sessionID: string
  readonly ask: ApprovalAsk | QuestionsAsk
  readonly agentPath: readonly string[]
  /** Identifies the tool call that needs the permission. One tool call can need several. */
  readonly toolCall: string | null
}

interface CallState extends WaitingCall {
  /** The reason of a denial that has not been sent to opencode yet. */
  denial: string | null
  /** Resolves to whether opencode accepted the driver's reply. */
  reply: Promise<boolean> | null
  hasReply: boolean
}

interface OpenCallsOptions {
  readonly server: OpencodeServer
  readonly emit: (output: AgentOutput) => Promise<void>
}

export class OpenCalls {
  readonly #options: OpenCallsOptions
  readonly #calls = new Map<string, CallState>()
  /** The calls that a person has allowed in this turn, by tool call. */
  readonly #allowed = new Map<string, string>()

  constructor(options: OpenCallsOptions) {
    this.#options = options
  }

  async open(call: WaitingCall): Promise<void> {
    const { id, ask, agentPath, toolCall } = call
    // opencode asks twice for a command outside its folder: for the folder, and for the command.
    if (toolCall !== null && this.#allowed.get(toolCall) === contentOf(ask)) {
      await this.#options.server.send('POST', `/permission/${id}/reply`, { reply: 'once' }).catch(ignoreMissing)
      return
    }
    this.#calls.set(id, { ...call, denial: null, reply: null, hasReply: false })
    await this.#options.emit({ type: 'callOpened', call: { id, ask, agentPath } })
  }

  has(id: string): boolean {
    return this.#calls.has(id)
  }

  /** Gives opencode the answer. Rejects if opencode no longer waits for it. */
  async answer(id: string, decision: Decision): Promise<void> {
    const call = this.#calls.get(id)
    if (!call || call.reply) throw new Error(opencodeLog.noLongerWaits)
    const { ask, toolCall, sessionID } = call
    if (ask.kind === 'questions')
      return this.#reply(call, `/question/${id}/reply`, { answers: questionAnswers(ask, decision) })
    if (decision.answer === null) {
      call.denial = decision.text ?? defaultDenyReason
      return this.#sendDenials(sessionID)
    }
    if (toolCall !== null) this.#allowed.set(toolCall, contentOf(ask))
    await this.#reply(call, `/permission/${id}/reply`, { reply: 'once' })
    await this.#sendDenials(sessionID)
  }

  /**
   * A rejection also rejects all other waiting permissions of the same opencode session. So a denial is sent only when
   * no other permission waits for a person. Nothing is delayed, because the model continues only after all calls of its step.
   */
  async #sendDenials(sessionID: string): Promise<void> {
    const calls = [...this.#calls.values()].filter(call => call.sessionID === sessionID && call.ask.kind === 'approval')
    if (calls.some(({ denial, hasReply }) => denial === null && !hasReply)) return
    const denied = calls.filter(({ denial, reply }) => denial !== null && reply === null)
    const [first] = denied
    if (!first) return
    // Only the first call shows its message to the model.
    const message = denied.map(({ denial }) => denial).join('\n')
    const rejection = this.#reply(first, `/permission/${first.id}/reply`, { reply: 'reject', message })
    for (const other of denied) other.reply ??= first.reply
    await rejection
  }

  async #reply(call: CallState, path: string, body: object): Promise<void> {
    call.reply = this.#options.server.send('POST', path, body).then(
      () => true,
      error => {
        ignoreMissing(error)
        return false
      },
    )
    const isTaken = await call.reply
    call.hasReply = true
    if (!isTaken) throw new Error(opencodeLog.noLongerWaits)
  }

  /** Call this when opencode reports that a call was answered, by this driver or in a terminal. */
  async settle(id: string, reply: string | undefined): Promise<void> {
    const call = this.#calls.get(id)
    if (!call) return
    // A reply that failed did not answer the call, so somebody else did. `answer` passes the error on.
    const isOurs = call.reply !== null && (await call.reply.catch(() => false))
    const isTaken = isOurs || (call.denial !== null && reply === 'reject')
    this.#calls.delete(id)
    await this.#options.emit({ type: isTaken ? 'callTaken' : 'callAborted', id })
    // Other denials may have waited for this answer from a terminal. An error means that opencode cannot be reached; the end of its process reports that.
    await this.#sendDenials(call.sessionID).catch(() => {})
  }

  /** Rejects the calls of an aborted turn, because opencode still lists them and shows them in terminals. `early` are permissions that were not opened yet. */
  async endTurn(early: readonly string[]): Promise<void> {
    const left = [...this.#calls.values()]
    this.#calls.clear()
    this.#allowed.clear()
    const questions = left.filter(({ ask }) => ask.kind === 'questions').map(({ id }) => id)
    const permissions = left.filter(({ ask }) => ask.kind === 'approval').map(({ id }) => id)
    for (const id of questions)
      await this.#options.server.send('POST', `/question/${id}/reject`, {}).catch(ignoreMissing)
    for (const id of [...permissions, ...early])
      await this.#options.server.send('POST', `/permission/${id}/reply`, { reply: 'reject' }).catch(ignoreMissing)
  }
}

/** Identifies what a person decides about, without the reason for which opencode asks. */
function contentOf(ask: ApprovalAsk | QuestionsAsk): string {
  if (ask.kind === 'questions') return ''
  const { tool, input, action, cwd } = ask
  return canonicalJson({ tool, input, action: (action ?? null) as JsonObject | null, cwd }) // an action is JSON
}
function ignoreMissing(error: unknown): void {
  if (!(error instanceof OpencodeRefusal && error.isMissing)) throw error
}
