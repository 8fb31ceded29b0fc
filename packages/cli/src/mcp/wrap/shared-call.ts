/** One call of a tool that a client of `holdpoint mcp wrap` makes, and every identical call that the client makes before the reply. All of them get the same reply. */
import type { JsonObject } from '@holdpoint/protocol'
import type { WaitingClient } from '../client-session.ts'

/** The reply to a call: the `result` or the `error` of a JSON-RPC message. */
export interface CallReply {
  readonly reply: JsonObject
  /** Called after the reply was written to the client. */
  readonly onWritten?: () => void
}

export class SharedCall implements WaitingClient {
  /** The name of the call: the hash of its tool and its arguments. */
  readonly name: string
  /** The id under which the call was sent to the server, or null if it was not sent. */
  sentAs: string | null = null
  readonly #waiting = new Set<string | number>()
  readonly #cancelled = new AbortController()
  readonly #away = new AbortController()

  constructor(name: string) {
    this.name = name
  }

  get cancelled(): AbortSignal {
    return this.#cancelled.signal
  }
  get away(): AbortSignal {
    return this.#away.signal
  }

  /** The client has started this process, so the end of the connection ends the call. */
  async whenReachable(): Promise<void> {}

  add(id: string | number): void {
    this.#waiting.add(id)
  }
  /** Returns whether the client still waits for the reply to this id. */
  has(id: string | number): boolean {
    return this.#waiting.has(id)
  }
  /** Returns whether the client no longer waits for any reply. */
  remove(id: string | number): boolean {
    this.#waiting.delete(id)
    return this.#waiting.size === 0
  }

  /** Withdraws the request, because the client no longer wants the call. */
  cancel(): void {
    this.#cancelled.abort()
  }
  /** Stops waiting. The request stays pending, and an identical call finds it again. */
  leave(): void {
    this.#away.abort()
  }
}
