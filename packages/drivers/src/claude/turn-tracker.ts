/** Tracks the turns of one process: when a turn starts, which result belongs to which message, and when a turn that the CLI started by itself is over. */
import type { SDKResultMessage, SDKUserMessage } from '@anthropic-ai/claude-agent-sdk'
import type { ProcessExit } from './cli/cli-process.ts'

/** The result is null if only a background subagent was asking, and it has its answer or makes way for a message. */
export type TurnOutcome = { readonly result: SDKResultMessage | null } | { readonly exit: ProcessExit }

export interface TurnTrackerOptions {
  /** Whether any call is waiting, or is answered but not yet taken. */
  readonly hasOpenCalls: () => boolean
  readonly send: (message: SDKUserMessage) => void
  /** Called when the CLI has a message in its queue that it must not process, because the turn was interrupted. */
  readonly onStaleMessage: () => void
}

export class TurnTracker {
  readonly #options: TurnTrackerOptions
  /** The main agent has started a turn and not sent its result. */
  #isRunning = false
  #isAwaited = false
  #isInterrupted = false
  #onResult: (result: SDKResultMessage) => void = () => {}
  #onCallsSettled = () => {}
  #onMessage = () => {}

  constructor(options: TurnTrackerOptions) {
    this.#options = options
  }

  /** Whether the main agent is working, or any call is open. */
  get isBusy(): boolean {
    return this.#isRunning || this.#options.hasOpenCalls()
  }
  /** Whether a caller awaits the end of a turn. */
  get isAwaited(): boolean {
    return this.#isAwaited
  }

  /** The CLI reports that a turn starts; it does not say for which message. */
  markStarted(): void {
    this.#isRunning = true
  }
  markStopped(): void {
    this.#isRunning = false
  }
  markInterrupted(): void {
    this.#isInterrupted = true
  }
  deliverResult(result: SDKResultMessage): void {
    this.#onResult(result)
  }
  /** Call this when the open calls have changed. */
  checkCalls(): void {
    this.#onCallsSettled()
  }
  /** A message has arrived. If only a background subagent is asking, the current turn ends so that the message can start. */
  yieldToMessage(): void {
    if (!this.#isRunning) this.#onMessage()
  }

  /** Sends the message, or with null continues the resumed turn. Resolves with the turn's own result, or when the process exits. */
  runTurn(message: SDKUserMessage | null, exited: Promise<ProcessExit>): Promise<TurnOutcome> {
    return this.#awaitOutcome(exited, resolve => {
      this.#onResult = result => {
        if (belongsTo(result, message)) resolve({ result })
        // The interrupt stopped a turn that the CLI had started by itself, so it would process the message next.
        else if (this.#isInterrupted) this.#options.onStaleMessage()
      }
      if (!message) return
      this.#isRunning = true
      this.#options.send(message)
    })
  }

  /** Follows a turn that the CLI started by itself, until its result. If only a background subagent is asking, until its calls are settled. */
  followOwnTurn(exited: Promise<ProcessExit>): Promise<TurnOutcome> {
    return this.#awaitOutcome(exited, resolve => {
      this.#onResult = result => resolve({ result })
      this.#onCallsSettled = () => {
        if (!this.isBusy) resolve({ result: null })
      }
      this.#onMessage = () => resolve({ result: null })
      this.#onCallsSettled()
    })
  }

  /** Resolves at the next result, whichever turn it belongs to. */
  nextResult(): Promise<void> {
    return new Promise(resolve => {
      this.#onResult = () => resolve()
    })
  }

  async #awaitOutcome(
    exited: Promise<ProcessExit>,
    start: (resolve: (outcome: TurnOutcome) => void) => void,
  ): Promise<TurnOutcome> {
    this.#isAwaited = true
    this.#isInterrupted = false
    const outcome = new Promise<TurnOutcome>(start)
    try {
      return await Promise.race([outcome, exited.then(exit => ({ exit }))])
    } finally {
      this.#onCallsSettled = () => {}
      this.#onMessage = () => {}
      this.#isAwaited = false
    }
  }
}

/** The result of a turn that the CLI started by itself has an origin, and contains our message only if the CLI picked it up on the way. */
function belongsTo({ origin, user_message_uuids: uuids }: SDKResultMessage, message: SDKUserMessage | null): boolean {
  if (!message?.uuid) return true
  return uuids ? uuids.includes(message.uuid) : origin === undefined || origin.kind === 'human'
}
