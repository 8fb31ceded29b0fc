/** Counts the tokens of Claude Code: those that the model read, also from its cache, and those that it wrote. */
import type { TurnUsage } from '../session/agent-connection.ts'

/** The API counts tokens that are read from the cache or written to it apart from the other input. */
export interface ApiUsage {
  readonly input_tokens?: number | null
  readonly output_tokens?: number | null
  readonly cache_read_input_tokens?: number | null
  readonly cache_creation_input_tokens?: number | null
}

export function usageOf(usage: ApiUsage): TurnUsage {
  const { input_tokens: input, cache_read_input_tokens: read, cache_creation_input_tokens: created } = usage
  return { inputTokens: (input ?? 0) + (read ?? 0) + (created ?? 0), outputTokens: usage.output_tokens ?? 0 }
}

/** Adds up the usage of the model's messages in a turn. The CLI sends each block of a message with the usage of the whole message. */
export class TurnTokens {
  readonly #messages = new Map<string, TurnUsage>()

  /** Returns what the turn has used so far. Messages that the CLI writes itself may have no usage. */
  add(message: string, usage: ApiUsage | undefined): TurnUsage {
    if (usage) this.#messages.set(message, usageOf(usage))
    const all = [...this.#messages.values()]
    return {
      inputTokens: all.reduce((sum, { inputTokens }) => sum + inputTokens, 0),
      outputTokens: all.reduce((sum, { outputTokens }) => sum + outputTokens, 0),
    }
  }
  /** Call this when the turn ends. */
  clear(): void {
    this.#messages.clear()
  }
}
