/** One turn of a session: what to send to the agent when the turn starts or is resumed, and which events end it. */
import { randomUUID } from 'node:crypto'
import type { AgentSession, MessageBody, SessionCommand } from '@holdpoint/client'
import { type AgentEvent, type CommandOutcome, Fault, limits } from '@holdpoint/protocol'
import type {
  AgentExit,
  AgentMessage,
  AgentProtocol,
  AgentTurnEnd,
  CarriedRequest,
  InterruptedTurn,
  ResumePlan,
} from './agent-connection.ts'
import { CarriedRequests, dropCarried, readInterruptedTurn, summarizeDecisions } from './carried-requests.ts'
import { loopMessages } from './loop-messages.ts'
import type { LoopState, TurnOver } from './loop-state.ts'

export type MessageCommand = SessionCommand & { readonly body: MessageBody }
export function isMessage(command: SessionCommand): command is MessageCommand {
  return command.body.kind === 'message'
}

interface TurnSummary {
  readonly events: readonly AgentEvent[]
  readonly outcome: CommandOutcome
}

const noRequests: ReadonlyMap<string, CarriedRequest> = new Map()

export class SessionTurn {
  /** Null if the agent started the turn by itself. */
  readonly message: MessageCommand | null
  /** The message to send to the agent, or null if there is nothing to send. */
  input: AgentMessage | null = null
  /** Texts of watchers that the agent must read with the message. */
  texts: readonly string[] = []
  /** Set if the agent continues an open turn. */
  resume: { readonly call: string | null } | null = null
  /** Requests of an earlier process that the agent may ask for again. */
  carried = new CarriedRequests()
  /** The end of the turn, as the agent reported it. */
  end: AgentTurnEnd | null = null
  /** The reason why the turn failed before the agent started. */
  failure = ''
  readonly finished: Promise<void>
  finish = () => {}
  readonly #session: AgentSession
  readonly #protocol: AgentProtocol
  /** Requests that no call has repeated. They are dropped when the turn ends. */
  #unclaimed: ReadonlyMap<string, CarriedRequest> = noRequests

  constructor(session: AgentSession, protocol: AgentProtocol, message: MessageCommand | null) {
    this.#session = session
    this.#protocol = protocol
    this.message = message
    this.finished = new Promise(resolve => {
      this.finish = resolve
    })
  }

  /** Takes the message, or decides how to resume its turn. `isTurnOpen` says whether a turn that a message started was open when this driver took over the session. */
  async prepare(isTurnOpen: boolean): Promise<'ready' | 'failed' | 'interrupted' | 'alreadyDone'> {
    const { message } = this
    if (!message) return this.#resume(await readInterruptedTurn(this.#session))
    if (!message.redelivered) {
      const refusal = await this.#reportPrompt(message)
      if (refusal !== null) {
        await message.done({ ok: false, reason: refusal })
        return 'alreadyDone'
      }
      await message.take()
      this.input = toAgentMessage(message)
      return this.#checkStart()
    }
    if (isTurnOpen) return this.#resume(await readInterruptedTurn(this.#session))
    // The turn of this message had finished before the crash. Only the command is left to finish.
    await message.done()
    return 'alreadyDone'
  }

  /** Asks the watchers about the message before the agent gets it. Returns why the message is refused, or null. */
  async #reportPrompt({ id, body }: MessageCommand): Promise<string | null> {
    try {
      const { say, deny, watcher } = await this.#session.reportMoment({ moment: 'prompt', key: id, text: body.text })
      this.texts = say
      if (deny === undefined) return null
      return loopMessages.promptRefused(watcher?.name ?? '', deny).slice(0, limits.reasonMax)
    } catch (error) {
      if (this.#session.signal.aborted || !(error instanceof Fault)) throw error
      return loopMessages.promptNotChecked(error.message).slice(0, limits.reasonMax)
    }
  }

  async #resume(interrupted: InterruptedTurn): Promise<'ready' | 'failed' | 'interrupted'> {
    const { requests } = interrupted
    this.#unclaimed = requests
    const message = this.message && toAgentMessage(this.message)
    const plan = await (this.#protocol.planResume?.(interrupted, message) ?? this.#defaultPlan(interrupted))
    switch (plan.kind) {
      case 'interrupted':
        return 'interrupted'
      case 'failed':
        return this.#fail(plan.reason)
      case 'continue':
        this.resume = { call: plan.call ?? null }
        this.carried = new CarriedRequests(requests)
        break
      case 'replay':
        this.input = message
        break
      case 'message':
      case 'summary':
        this.carried = new CarriedRequests(requests, true)
        this.input =
          plan.kind === 'message' && message
            ? message
            : { id: randomUUID(), text: await summarizeDecisions(this.#session, requests), attachments: [] }
    }
    this.#unclaimed = this.carried.remaining
    // The agent has not received the message, so it must still read the texts. The watchers give the same reply as before.
    const refusal = this.message && this.input?.id === this.message.id ? await this.#reportPrompt(this.message) : null
    return refusal === null ? this.#checkStart() : this.#fail(refusal)
  }

  #defaultPlan({ requests, interrupted }: InterruptedTurn): ResumePlan {
    if (interrupted) return { kind: 'interrupted' }
    if (requests.size === 0) return { kind: 'failed', reason: loopMessages.turnFailed.runnerLost }
    return { kind: this.#protocol.keepsAfterLoss === 'calls' ? 'continue' : 'summary' }
  }

  async #checkStart(): Promise<'ready' | 'failed'> {
    await this.#protocol.prepareTurn?.()
    const problem = this.#protocol.startProblem?.() ?? null
    return problem === null ? 'ready' : this.#fail(problem)
  }
  #fail(reason: string): 'failed' {
    this.failure = reason
    return 'failed'
  }

  /** Returns the events that end the turn and the outcome of its command. */
  summarize(over: TurnOver, { turn, ending }: LoopState, lost: string): TurnSummary {
    const chosen = turn?.isInterrupted ? 'interrupted' : ending
    switch (over) {
      case 'ended':
        return summaryOf(this.end, chosen)
      case 'settled':
        return summaryOf(null, chosen)
      case 'interrupted':
        return summaryOf(null, 'interrupted')
      case 'failed':
        return failureOf(this.failure)
      case 'lost':
        return failureOf(lost)
    }
  }

  /** Drops the requests that no call repeated. After a failure, this includes requests that an earlier process had opened. */
  async dropRequests(hasFailed: boolean): Promise<void> {
    const requests = hasFailed ? (await readInterruptedTurn(this.#session)).requests : this.#unclaimed
    await dropCarried(this.#session, requests)
  }
}

function toAgentMessage({ id, body }: MessageCommand): AgentMessage {
  return { id, text: body.text, attachments: body.attachments }
}

/** A turn without an end of its own consisted only of calls of background work. */
function summaryOf(end: AgentTurnEnd | null, chosen: 'cancelled' | 'interrupted' | null): TurnSummary {
  const { usage, cost, reason } = end ?? {}
  const ending = chosen ?? end?.ending ?? 'done'
  const finished: AgentEvent = {
    type: 'turn.finished',
    ending,
    ...(usage === undefined ? {} : { usage }),
    ...(cost === undefined ? {} : { cost }),
  }
  // An interrupted agent may report its interruption as an error.
  const events = (end?.events ?? []).filter(({ type }) => chosen === null || type !== 'error.raised')
  const outcome =
    chosen === null && reason !== undefined ? { reason: reason.slice(0, limits.reasonMax).toWellFormed() } : {}
  return { events: [...events, finished], outcome: { ok: ending !== 'failed', ...outcome } }
}

function failureOf(reason: string): TurnSummary {
  return {
    events: [
      { type: 'error.raised', code: 'lost', message: reason.slice(0, limits.reasonMax).toWellFormed() },
      { type: 'turn.finished', ending: 'failed' },
    ],
    outcome: { ok: false, reason: reason.slice(0, limits.reasonMax).toWellFormed() },
  }
}

/** Returns a sentence that says how a process ended, what the consequence is, and what the process last wrote. */
export function exitMessage({ how, lastOutput = '' }: Omit<AgentExit, 'type'>, consequence = ''): string {
  const lastLines = lastOutput.split('\n').slice(-5).join('\n')
  const message = `${how}${consequence}${lastLines ? loopMessages.processExit.lastOutput(lastLines) : ''}`
  return message.slice(0, limits.reasonMax).toWellFormed()
}
