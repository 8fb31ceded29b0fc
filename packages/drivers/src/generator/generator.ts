/** Defines generator agents, which are async generator functions that run once per message, and the driver that runs them: it queues messages, handles interrupts and parks idle sessions. */
import { type Clock, type DriverInfo, Fault, limits, systemClock } from '@holdpoint/protocol'
import type { Driver } from '../driver.ts'
import type { AgentSession, MessageBody, SessionCommand } from '../session/agent-session.ts'
import { inputFault } from './asks.ts'
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
const idleParkDefaultMs = 15 * 60 * 1000

export function generatorDriver(agent: GeneratorAgent, options: GeneratorOptions = {}): Driver {
  const info: DriverInfo = {
    name: agent.name,
    title: agent.title,
    capabilities: ['resumable', 'portable', 'parkable', 'messages', 'attachments', 'interrupt'],
    modes: [...(agent.modes ?? [])],
    ready: true,
  }
  return { info: () => info, run: session => new GeneratorSession(agent, session, options).run() }
}

type Message = SessionCommand & { readonly body: MessageBody }
const isMessage = (command: SessionCommand): command is Message => command.body.kind === 'message'

class GeneratorSession {
  readonly #agent: GeneratorAgent
  readonly #session: AgentSession
  readonly #clock: Clock
  readonly #idleParkMs: number
  readonly #turnLog = new TurnLog()
  readonly #queue: Message[] = []
  #turn: { readonly controller: AbortController; readonly ended: Promise<void> } | null = null
  #parkAfterMs: number | null
  #cancelIdleTimer = () => {}
  #fail: (error: unknown) => void = () => {}

  constructor(agent: GeneratorAgent, session: AgentSession, options: GeneratorOptions) {
    this.#agent = agent
    this.#session = session
    this.#clock = options.clock ?? systemClock
    const { idleParkMs } = session.info.options
    this.#idleParkMs = typeof idleParkMs === 'number' ? idleParkMs : (options.idleParkMs ?? idleParkDefaultMs)
    this.#parkAfterMs = session.info.parkAfterMs
  }

  async run(): Promise<void> {
    const broken = new Promise<never>((_, reject) => {
      this.#fail = reject
    })
    const { signal } = this.#session
    const leave = () => this.#turn?.controller.abort(signal.reason)
    signal.addEventListener('abort', leave, { once: true })
    this.#restartIdleTimer()
    try {
      await Promise.race([this.#handleCommands(), broken])
    } finally {
      this.#cancelIdleTimer()
      signal.removeEventListener('abort', leave)
    }
  }

  async #handleCommands(): Promise<void> {
    for await (const command of this.#session.commands()) {
      if (isMessage(command)) {
        this.#queue.push(command)
        this.#startNextTurn()
        continue
      }
      await this.#carryOut(command)
    }
    await this.#turn?.ended
  }

  async #carryOut(command: SessionCommand): Promise<void> {
    const { body } = command
    if (body.kind === 'mode' && body.parkAfterMs !== undefined) this.#parkAfterMs = body.parkAfterMs
    if (body.kind === 'interrupt') await this.#stopTurn(new Interrupted('The turn was interrupted.'))
    if (body.kind !== 'end') return command.done()
    await this.#stopTurn(new Fault('session_ended', `Session ${this.#session.info.id} was ended by a person`))
    await this.#session.end({ reason: 'stopped' })
  }

  async #stopTurn(reason: Error): Promise<void> {
    this.#turn?.controller.abort(reason)
    await this.#turn?.ended
  }

  /** Starts the next turn synchronously if no turn is running, so that an interrupt right after a message stops that message's turn. */
  #startNextTurn(): void {
    if (this.#turn || this.#session.signal.aborted) return
    this.#restartIdleTimer()
    const message = this.#queue.shift()
    if (!message) return
    this.#cancelIdleTimer()
    const controller = new AbortController()
    const ended = this.#runTurn(message, controller.signal).then(
      () => {
        this.#turn = null
        this.#startNextTurn()
      },
      error => {
        this.#turn = null
        // If the turn stopped because the session ended or this driver must release it, there is no error to report.
        const hasEnded = this.#session.signal.aborted || controller.signal.reason instanceof Fault
        if (!hasEnded) this.#fail(error)
      },
    )
    this.#turn = { controller, ended }
  }

  async #runTurn(message: Message, signal: AbortSignal): Promise<void> {
    if (!message.redelivered) await message.take()
    for await (const event of this.#session.history(this.#turnLog.cursor)) this.#turnLog.fold(event)
    const record = this.#turnLog.turn
    if (record?.seq !== message.seq)
      throw new Error(`the log of session ${message.session} has no turn for command ${message.id}`)
    // The turn had finished before the crash, so only its command is left to finish.
    if (record.over) return message.done()
    const turn = new TurnRun({
      session: this.#session,
      run: this.#agent.run,
      message: message.body,
      record,
      clock: this.#clock,
      signal,
      parkAfterMs: () => this.#parkAfterMs,
    })
    const end = await turn.run()
    if (end.ending === 'parked') return this.#session.park()
    await message.done({ ok: end.ending !== 'failed', ...(end.reason === undefined ? {} : { reason: end.reason }) })
  }

  #restartIdleTimer(): void {
    this.#cancelIdleTimer()
    const park = () => void this.#session.park().catch(this.#fail)
    this.#cancelIdleTimer = this.#clock.after(this.#idleParkMs, park)
  }
}
