/** Streams an agent's text. Consecutive texts form one block, which is sent as deltas while it grows and stored as a whole when the agent yields something else. */

import type { AgentSession } from '@holdpoint/client'
import { type AgentEvent, limits } from '@holdpoint/protocol'

interface TextRun {
  readonly block: string
  readonly agentPath: readonly string[]
  /** True in a replay if the log already contains the block, so the block is not sent again. */
  readonly isRecorded: boolean
  text: string
}

/** Longer text is split into several blocks, so that each block fits into one request body even if JSON escapes every character. */
const runMaxChars = limits.bodyMaxBytes / 16

export interface TextStreamOptions {
  readonly session: Pick<AgentSession, 'say' | 'sayQuietly'>
  /** Returns the id of the next block, and whether the log already contains the complete block. */
  readonly nextBlock: () => { readonly block: string; readonly isRecorded: boolean }
}

export class TextStream {
  readonly #session: TextStreamOptions['session']
  readonly #next: TextStreamOptions['nextBlock']
  #run: TextRun | null = null

  constructor({ session, nextBlock }: TextStreamOptions) {
    this.#session = session
    this.#next = nextBlock
  }

  /** Whether the log already contains the current block. */
  get isReplaying(): boolean {
    return this.#run?.isRecorded ?? false
  }

  async write(text: string, agentPath: readonly string[] = []): Promise<void> {
    if (this.#run && this.#run.agentPath.join('\0') !== agentPath.join('\0')) await this.close()
    for (const chunk of chunksOf(text)) {
      if (this.#run && this.#run.text.length + chunk.length > runMaxChars) await this.close()
      this.#run ??= { ...this.#next(), agentPath, text: '' }
      const { block, isRecorded, text: before } = this.#run
      this.#run.text += chunk
      if (!isRecorded) this.#sendDelta(block, before.length, chunk, agentPath)
    }
  }

  /** Commits the current block. The next text starts another block. */
  async close(): Promise<void> {
    await this.#session.say(...this.takeEvents(false))
  }

  /** Commits the current block as partial. The next text continues the block. */
  async commitPartial(): Promise<void> {
    if (this.#run && !this.#run.isRecorded) await this.#session.say(messageAdded(this.#run, true))
  }

  /** Ends the current block and returns its event, so that the caller can commit it together with other events. Returns an empty list if there is nothing to commit. */
  takeEvents(partial: boolean): AgentEvent[] {
    const run = this.#run
    this.#run = null
    return run && !run.isRecorded ? [messageAdded(run, partial)] : []
  }

  #sendDelta(block: string, offset: number, text: string, agentPath: readonly string[]): void {
    const path = agentPath.length > 0 ? { agentPath: [...agentPath] } : {}
    // Do not await the delta, so that streaming does not slow the agent down. If sending fails, storing the block fails too and reports the error.
    this.#session.sayQuietly({ type: 'message.delta', block, offset, text: text.toWellFormed(), ...path })
  }
}

function messageAdded({ block, text, agentPath }: TextRun, partial: boolean): AgentEvent {
  return {
    type: 'message.added',
    block,
    text: text.toWellFormed(),
    ...(partial ? { partial } : {}),
    ...(agentPath.length > 0 ? { agentPath: [...agentPath] } : {}),
  }
}

function* chunksOf(text: string): Generator<string> {
  for (let from = 0; from < text.length; ) {
    let to = Math.min(from + runMaxChars, text.length)
    const last = text.charCodeAt(to - 1)
    // Never split a surrogate pair.
    if (to < text.length && last >= 0xd800 && last < 0xdc00) to--
    yield text.slice(from, to)
    from = to
  }
}
