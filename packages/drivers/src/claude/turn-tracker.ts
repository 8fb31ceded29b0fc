/** The turns of one process: when one begins, whose result is whose, and when what the CLI does by itself has come to rest. */
import type { SDKResultMessage, SDKUserMessage } from '@anthropic-ai/claude-agent-sdk'
import type { ProcessEnd } from './cli/os-process.ts'

/** Without a result: nothing but an agent in the background had asked, and no longer does, or gives way. */
export type TurnOutcome = { readonly result: SDKResultMessage | null } | { readonly gone: ProcessEnd }

export interface TurnTrackerOptions {
  /** Something that was asked has not come to its end. */
  readonly asks: () => boolean
  readonly give: (message: SDKUserMessage) => void
  /** The CLI holds a message that it must not take up any more. */
  readonly onForfeit: () => void
}

export class TurnTracker {
  readonly #options: TurnTrackerOptions
  /** The main agent is between its start and its result. */
  #running = false
  #followed = false
  #stopping = false
  #result: (result: SDKResultMessage) => void = () => {}
  #settled = () => {}
  #giveWay = () => {}

  constructor(options: TurnTrackerOptions) {
    this.#options = options
  }

  /** It is at work, or something that it asked has not come to its end. */
  get busy(): boolean {
    return this.#running || this.#options.asks()
  }
  /** Somebody waits for a turn to end. */
  get followed(): boolean {
    return this.#followed
  }

  /** The CLI says that a turn begins, at whose word it does not say. */
  began(): void {
    this.#running = true
  }
  rested(): void {
    this.#running = false
  }
  finished(result: SDKResultMessage): void {
    this.#result(result)
  }
  /** Something that was asked may have come to its end. */
  settled(): void {
    this.#settled()
  }
  /** A message is there: an agent in the background that asks goes on asking beside it. */
  giveWay(): void {
    if (!this.#running) this.#giveWay()
  }
  stop(): void {
    this.#stopping = true
  }

  /** Gives the message, or lets the turn that was brought back go on; until its own result, or the end of the process. */
  turn(message: SDKUserMessage | null, over: Promise<ProcessEnd>): Promise<TurnOutcome> {
    return this.#follow(over, resolve => {
      this.#result = result => {
        if (isOf(result, message)) resolve({ result })
        // What was stopped is something that it had begun by itself: the message would be taken up next.
        else if (this.#stopping) this.#options.onForfeit()
      }
      if (!message) return
      this.#running = true
      this.#options.give(message)
    })
  }

  /** What it does by itself: until its result; where only an agent in the background asks, until it has ceased to. */
  own(over: Promise<ProcessEnd>): Promise<TurnOutcome> {
    return this.#follow(over, resolve => {
      this.#result = result => resolve({ result })
      this.#settled = () => {
        if (!this.busy) resolve({ result: null })
      }
      this.#giveWay = () => resolve({ result: null })
      this.#settled()
    })
  }

  /** The last word of a process that is let go. */
  last(): Promise<void> {
    return new Promise(resolve => {
      this.#result = () => resolve()
    })
  }

  async #follow(
    over: Promise<ProcessEnd>,
    begin: (resolve: (outcome: TurnOutcome) => void) => void,
  ): Promise<TurnOutcome> {
    this.#followed = true
    this.#stopping = false
    const outcome = new Promise<TurnOutcome>(begin)
    try {
      return await Promise.race([outcome, over.then(gone => ({ gone }))])
    } finally {
      this.#settled = () => {}
      this.#giveWay = () => {}
      this.#followed = false
    }
  }
}

/** A turn that began by itself has an origin, and none of our messages in it unless one was taken up on the way. */
function isOf({ origin, user_message_uuids: uuids }: SDKResultMessage, message: SDKUserMessage | null): boolean {
  if (!message?.uuid) return true
  return uuids ? uuids.includes(message.uuid) : origin === undefined || origin.kind === 'human'
}
