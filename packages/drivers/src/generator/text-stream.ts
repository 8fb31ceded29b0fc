/** Text as an agent streams it: one block per run of text, shown live, kept whole once something else comes. */
import { type AgentEvent, limits } from '@holdpoint/protocol'

interface Run {
  readonly block: string
  readonly agentPath: readonly string[]
  /** On record already: not said twice. */
  readonly silent: boolean
  text: string
}

/** A longer run becomes several blocks, so that each fits a body however its characters are written. */
const runMaxChars = limits.bodyMaxBytes / 16

export interface TextStreamOptions {
  readonly say: (...sayings: readonly AgentEvent[]) => Promise<void>
  /** The id of the next block, and whether it is on record whole. */
  readonly next: () => { readonly block: string; readonly silent: boolean }
}

export class TextStream {
  readonly #say: TextStreamOptions['say']
  readonly #next: TextStreamOptions['next']
  #run: Run | null = null

  constructor({ say, next }: TextStreamOptions) {
    this.#say = say
    this.#next = next
  }

  /** Whether what is being said is on record already. */
  get silent(): boolean {
    return this.#run?.silent ?? false
  }

  async speak(text: string, agentPath: readonly string[] = []): Promise<void> {
    if (this.#run && this.#run.agentPath.join('\0') !== agentPath.join('\0')) await this.close()
    for (const piece of pieces(text)) {
      if (this.#run && this.#run.text.length + piece.length > runMaxChars) await this.close()
      this.#run ??= { ...this.#next(), agentPath, text: '' }
      const { block, silent, text: before } = this.#run
      this.#run.text += piece
      if (!silent) this.#stream(block, before.length, piece, agentPath)
    }
  }

  /** Commits the run as it stands; a next piece of text begins another. */
  async close(): Promise<void> {
    await this.#say(...this.take(false))
  }

  /** Commits what there is of the run, which goes on. */
  async keep(): Promise<void> {
    if (this.#run && !this.#run.silent) await this.#say(added(this.#run, true))
  }

  /** The run as a saying, for the caller to commit with others; nothing where there is none. */
  take(partial: boolean): AgentEvent[] {
    const run = this.#run
    this.#run = null
    return run && !run.silent ? [added(run, partial)] : []
  }

  #stream(block: string, offset: number, text: string, agentPath: readonly string[]): void {
    const path = agentPath.length > 0 ? { agentPath: [...agentPath] } : {}
    // Not awaited: live text must not hold the agent up. Where it cannot be said, the block that follows cannot either.
    void this.#say({ type: 'message.delta', block, offset, text: text.toWellFormed(), ...path }).catch(() => {})
  }
}

function added({ block, text, agentPath }: Run, partial: boolean): AgentEvent {
  return {
    type: 'message.added',
    block,
    text: text.toWellFormed(),
    ...(partial ? { partial } : {}),
    ...(agentPath.length > 0 ? { agentPath: [...agentPath] } : {}),
  }
}

function* pieces(text: string): Generator<string> {
  for (let from = 0; from < text.length; ) {
    let to = Math.min(from + runMaxChars, text.length)
    const last = text.charCodeAt(to - 1)
    // A pair of surrogates stays together.
    if (to < text.length && last >= 0xd800 && last < 0xdc00) to--
    yield text.slice(from, to)
    from = to
  }
}
