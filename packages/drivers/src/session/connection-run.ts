/** One connection to the agent, from its start to its exit: the start time limit, the close reason, and what people are told about the process. */

import type { AgentSession } from '@holdpoint/client'
import { type AgentEvent, type AgentProcess, type Clock, messageOf } from '@holdpoint/protocol'
import { readRepository } from '../repository.ts'
import type {
  AgentConnection,
  AgentExit,
  AgentOutput,
  AgentProtocol,
  CloseReason,
  ConnectionOptions,
} from './agent-connection.ts'
import { loopMessages } from './loop-messages.ts'
import { exitMessage } from './session-turn.ts'

export interface ConnectionRunOptions {
  readonly session: AgentSession
  readonly protocol: AgentProtocol
  readonly clock: Clock
  readonly onOutput: (output: AgentOutput) => Promise<void>
  readonly onStartTimeout: () => void
  /** Called if the connection could not be closed. */
  readonly onError: (error: unknown) => void
}

/** How long the agent may take to become ready. */
const startMaxMs = 60_000
/** Maximum length of the description of an exit, so that the text that `backgroundLost` adds to it is not cut off. */
const exitMessageMax = 1000

export class ConnectionRun {
  readonly exited: Promise<void>
  /** Resolves when the connection is closed, or at once if nobody has closed it. */
  closed: Promise<void> = Promise.resolve()
  /** Whether the process must end after its current turn. */
  mustEnd = false
  readonly #options: ConnectionRunOptions
  #connection: AgentConnection | null = null
  #exit: AgentExit | null = null
  #closeReason: CloseReason | null = null
  #startTimedOut = false
  #cancelStartTimer = () => {}
  #resolveExited = () => {}

  constructor(options: ConnectionRunOptions) {
    this.#options = options
    this.exited = new Promise(resolve => {
      this.#resolveExited = resolve
    })
  }

  start(options: Omit<ConnectionOptions, 'emit'>): void {
    const { protocol, clock, onOutput, onStartTimeout } = this.#options
    this.#cancelStartTimer = clock.after(startMaxMs, () => {
      this.#startTimedOut = true
      onStartTimeout()
    })
    const emit = (output: AgentOutput) => {
      if (output.type === 'ready' || output.type === 'exited') this.#cancelStartTimer()
      return onOutput(output)
    }
    try {
      this.#connection = protocol.connect({ ...options, emit })
    } catch (error) {
      this.#connection = notConnected
      void emit({ type: 'exited', how: messageOf(error) })
    }
  }

  get connection(): AgentConnection {
    return this.#connection ?? notConnected
  }
  /** The connection, or null if the process has ended. */
  get live(): AgentConnection | null {
    return this.#exit ? null : this.#connection
  }
  /** A sentence for people that says why the turn was lost. */
  get lossMessage(): string {
    const { title, startHint } = this.#options.protocol
    const { startTimeout, processLost } = loopMessages.turnFailed
    if (this.#startTimedOut) return startTimeout(title, startHint)
    return exitMessage(this.#exit ?? { how: `${title} exited` }, processLost)
  }

  /** Returns the event that shows the running process and the branch of its folder, if there is a process to show. The note says why the process must keep running. */
  liveEvents(note?: string): readonly AgentEvent[] {
    if (this.#options.protocol.hasNoProcess) return []
    const status = this.connection.status?.() ?? {}
    const process: AgentProcess = { state: 'live', ...status, ...(note === undefined ? {} : { note }) }
    const repository = readRepository(this.#options.session.info.cwd)
    return [{ type: 'session.changed', process, ...(repository === null ? {} : { repository }) }]
  }

  close(reason: CloseReason, waiting: readonly string[]): void {
    if (this.#closeReason !== null || this.#exit) return
    this.#closeReason = reason
    const closing = this.connection.close(reason, waiting)
    closing.catch(this.#options.onError)
    // `onError` gets the error. `closed` only says when closing is over.
    this.closed = closing.catch(() => {})
  }

  /** Call this when the process has ended. Shows people how it ended. */
  reportExit(exit: AgentExit): void {
    this.#exit = exit
    const process: AgentProcess = this.#closeReason
      ? { state: this.#closeReason }
      : { state: 'lost', note: exitMessage(exit) }
    if (!this.#options.protocol.hasNoProcess) this.#options.session.sayQuietly({ type: 'session.changed', process })
    this.#resolveExited()
  }

  /** Reports background work that was lost because the process exited between turns. */
  reportLostWork(): void {
    const how = exitMessage(this.#exit ?? { how: '' }).slice(0, exitMessageMax)
    const message = loopMessages.processExit.backgroundLost(how)
    this.#options.session.sayQuietly({ type: 'error.raised', code: 'lost', message })
  }
}

/** Replaces a connection that could not be made. */
const notConnected: AgentConnection = {
  send: () => {},
  answer: async () => ({}),
  interrupt: async () => {},
  changeSettings: () => Promise.reject(new Error(loopMessages.settings.processExited)),
  close: async () => {},
}
