/** The texts that the agent has not read yet, because its protocol has no field for them. The agent reads them with its next message, or earlier if it can take them without a turn. */
import { type Clock, within } from '@holdpoint/protocol'
import type { AgentConnection } from './agent-connection.ts'

/** How long the agent may take to add a text to its conversation. The end of the turn waits for it. */
const tellMaxMs = 5000

export class UntoldTexts {
  readonly #clock: Clock
  #texts: readonly string[] = []

  constructor(clock: Clock) {
    this.#clock = clock
  }

  add(text: string): void {
    this.#texts = [...this.#texts, text]
  }
  /** Returns the texts, which the caller gives to the agent. */
  take(): readonly string[] {
    const texts = this.#texts
    this.#texts = []
    return texts
  }

  /** Adds the texts to the conversation, if the agent can take them without a turn. If this fails, the agent reads them with its next message. */
  async tell(connection: AgentConnection | null): Promise<void> {
    if (this.#texts.length === 0 || !connection?.tell) return
    const texts = this.take()
    const told = connection.tell(texts.join('\n\n')).then(() => 'told')
    const result = await within(this.#clock, tellMaxMs, told).catch(() => 'failed')
    if (result !== 'told') this.#texts = [...texts, ...this.#texts]
  }
}
