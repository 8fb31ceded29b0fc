/** Tracks the turns of one process: when a turn starts, which result belongs to which message, and when a turn that the CLI started by itself has ended. */
import type { SDKResultMessage, SDKUserMessage } from '@anthropic-ai/claude-agent-sdk'
import type { ProcessExit } from './cli/cli-process.ts'

/** The result is null if the turn consisted only of a background subagent's request, and ended because the request was answered or a message arrived. */
export type TurnOutcome = { readonly result: SDKResultMessage | null } | { readonly exit: ProcessExit }

export interface TurnTrackerOptions {
  /** Whether any call is waiting, or is answered but not yet taken. */
  readonly hasOpenCalls: () => boolean
  readonly send: (message: SDKUserMessage) => void
  /** Called when the CLI has queued a message that it must not process, because a person interrupted the turn. */
  readonly onStaleMessage: () => void
}

export class TurnTracker {
  readonly #options: TurnTrackerOptions
  /** Whether the main agent has started a turn and has not sent its result. */
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

  /** Call this when the CLI reports that a turn starts. The CLI does not say for which message. */
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
  /** Call this when a message arrives. If the current turn consists only of a background subagent's request, the turn ends so that the message's turn can start. */
  yieldToMessage(): void {
    if (!this.#isRunning) this.#onMessage()
  }

  /** Sends the message, or continues the resumed turn if the message is null. Resolves with the result of that turn, or when the process exits. */
  runTurn(message: SDKUserMessage | null, exited: Promise<ProcessExit>): Promise<TurnOutcome> {
    return this.#awaitOutcome(exited, resolve => {
      this.#onResult = result => {
        if (belongsTo(result, message)) resolve({ result })
        // The interrupt stopped a turn that the CLI had started by itself, so the CLI would process the message next, although the interrupt applies to the message too.
        else if (this.#isInterrupted) this.#options.onStaleMessage()
      }
      if (!message) return
      this.#isRunning = true
      this.#options.send(message)
    })
  }

  /** Follows a turn that the CLI started by itself until its result. If the turn consists only of a background subagent's requests, follows the turn until no call is open or a message arrives. */
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

  /** Resolves at the next result, no matter which turn the result belongs to. */
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

/** Returns whether a result belongs to the turn of this message. The result of a turn that the CLI started by itself has an origin other than `human`, and lists the message only if the CLI processed the message during that turn. */
function belongsTo({ origin, user_message_uuids: uuids }: SDKResultMessage, message: SDKUserMessage | null): boolean {
  if (!message?.uuid) return true
  return uuids ? uuids.includes(message.uuid) : origin === undefined || origin.kind === 'human'
}
