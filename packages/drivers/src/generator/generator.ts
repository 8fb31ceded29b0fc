/** Defines generator agents, which are async generator functions that run once per message, and the driver that runs them. */

import { type AgentSession, inputFault } from '@holdpoint/client'
import { type Capability, type Clock, type DriverInfo, Fault, limits, systemClock } from '@holdpoint/protocol'
import type { Driver } from '../driver.ts'
import type {
  AgentConnection,
  AgentMessage,
  AgentProtocol,
  AnswerEffects,
  ConnectionOptions,
} from '../session/agent-connection.ts'
import { runSession } from '../session/session-loop.ts'
import { type AgentText, type AgentYield, type Turn, TurnRun } from './turn.ts'
import { Interrupted } from './turn-end.ts'
import { TurnLog } from './turn-log.ts'

export interface GeneratorAgent {
  readonly name: string
  readonly title: string
  readonly modes?: readonly string[]
  readonly run: (turn: Turn) => AsyncGenerator<AgentYield, void, unknown>
}

export function defineAgent(agent: GeneratorAgent): GeneratorAgent {
  const { name, title, modes, run } = Object(agent) as Partial<GeneratorAgent> // a module may export anything, so every field counts as optional until the checks below
  if (typeof name !== 'string' || name === '' || name.length > limits.nameMax)
    throw inputFault('defineAgent()', 'name', `must be a string of 1 to ${limits.nameMax} characters`)
  if (typeof title !== 'string' || title === '') throw inputFault('defineAgent()', 'title', 'must be a string')
  if (typeof run !== 'function') throw inputFault('defineAgent()', 'run', 'must be an async generator function')
  if (modes !== undefined && !Array.isArray(modes))
    throw inputFault('defineAgent()', 'modes', 'must be a list of names')
  return agent
}

/** Streams text, with an optional agent path. Yielding a plain string does the same. */
export function say(text: string, options: { readonly agentPath?: readonly string[] } = {}): AgentText {
  return { type: 'message.delta', text, ...options }
}

export interface GeneratorOptions {
  readonly clock?: Clock
  /** How long a session may be idle before it is parked. The session option `idleParkMs` overrides this value. */
  readonly idleParkMs?: number
}

const capabilities: readonly Capability[] = [
  'approvals',
  'questions',
  'forms',
  'concurrentRequests',
  'denyAndContinue',
  'editInput',
  'note',
  'resumable',
  'portable',
  'parkable',
  'messages',
  'attachments',
  'interrupt',
]

export function generatorDriver(agent: GeneratorAgent, options: GeneratorOptions = {}): Driver {
  const info: DriverInfo = {
    name: agent.name,
    title: agent.title,
    capabilities: [...capabilities],
    modes: [...(agent.modes ?? [])],
    ready: true,
  }
  const { clock = systemClock } = options
  return {
    info: () => info,
    async run(session) {
      let fail: (error: unknown) => void = () => {}
      const failed = new Promise<never>((_, reject) => {
        fail = reject
      })
      const protocol: AgentProtocol = {
        title: agent.title,
        keepsAfterLoss: 'calls',
        hasNoProcess: true,
        connect: connection => new GeneratorConnection(agent, session, connection, clock, fail),
        planResume: () => ({ kind: 'replay' }),
      }
      await Promise.race([runSession(session, protocol, options), failed])
    },
  }
}

/** Runs the turns of a generator agent. The turns run inside the runner, and a turn that was cut short is replayed from its start. */
class GeneratorConnection implements AgentConnection {
  readonly isDurable = true
  readonly #agent: GeneratorAgent
  readonly #session: AgentSession
  readonly #options: ConnectionOptions
  readonly #clock: Clock
  readonly #onError: (error: unknown) => void
  readonly #turnLog = new TurnLog()
  #turn: { readonly controller: AbortController; readonly ended: Promise<void> } | null = null

  constructor(
    agent: GeneratorAgent,
    session: AgentSession,
    options: ConnectionOptions,
    clock: Clock,
    onError: (error: unknown) => void,
  ) {
    this.#agent = agent
    this.#session = session
    this.#options = options
    this.#clock = clock
    this.#onError = onError
    void options.emit({ type: 'ready' })
  }

  send(message: AgentMessage): void {
    const controller = new AbortController()
    const ended = this.#runTurn(message, controller.signal).catch(error => {
      // If the turn stopped because the session ended or this driver must release it, there is no error to report.
      const hasEnded = this.#session.signal.aborted || controller.signal.reason instanceof Fault
      if (!hasEnded) this.#onError(error)
    })
    this.#turn = { controller, ended }
  }

  async #runTurn(message: AgentMessage, signal: AbortSignal): Promise<void> {
    const { emit, parkAfterMs } = this.#options
    for await (const event of this.#session.history(this.#turnLog.cursor)) this.#turnLog.fold(event)
    const record = this.#turnLog.turn
    if (record?.command !== message.id)
      throw new Error(`the log of session ${this.#session.info.id} has no turn for command ${message.id}`)
    const [session, { run }, clock] = [this.#session, this.#agent, this.#clock]
    const end = await new TurnRun({ session, run, message, record, clock, signal, parkAfterMs }).run()
    if (end.ending === 'parked') await emit({ type: 'exited', how: 'The turn was parked', isParked: true })
    else await emit({ type: 'turnEnded', ...end })
  }

  async interrupt(): Promise<void> {
    this.#turn?.controller.abort(new Interrupted('The turn was interrupted.'))
  }
  async close(): Promise<void> {
    const { signal, info } = this.#session
    const ended = new Fault('session_ended', `A person ended session ${info.id}`)
    this.#turn?.controller.abort(signal.aborted ? signal.reason : ended)
    await this.#turn?.ended
    await this.#options.emit({ type: 'exited', how: 'The session was closed' })
  }
  /** The turn opens its requests itself, because it needs all answers at once. */
  async answer(): Promise<AnswerEffects> {
    return {}
  }
  /** A turn gets its mode from the log. */
  async changeSettings(): Promise<void> {}
}
