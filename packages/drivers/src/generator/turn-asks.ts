/** The asks of one turn: opened together, handed together once all are resolved, taken when the agent goes on. */
import { type Answer, type Ask, type Clock, Fault, orAborted, secretFieldIds } from '@holdpoint/protocol'
import type { AgentSession } from '../session/agent-session.ts'
import type { HandedAnswer, OpenRequest } from '../session/open-request.ts'
import { type AskItem, TurnCancelled } from './asks.ts'
import { jsonCopy } from './json-copy.ts'
import { notDeterministic, ParkTurn, TurnFailed } from './turn-end.ts'

export interface TurnAsksOptions {
  readonly session: AgentSession
  readonly clock: Clock
  /** Of the turn: aborting it ends the turn. */
  readonly over: AbortController
  /** How long an ask may wait before the generator is let go; null: for ever. */
  readonly parkAfterMs: () => number | null
}

export class TurnAsks {
  readonly #options: TurnAsksOptions
  readonly #session: AgentSession
  readonly #signal: AbortSignal
  readonly #unhanded = new Set<OpenRequest>()
  readonly #ungiven: HandedAnswer[] = []
  readonly #untaken: HandedAnswer[] = []
  #busy = 0
  #holdsSecret = false

  constructor(options: TurnAsksOptions) {
    this.#options = options
    this.#session = options.session
    this.#signal = options.over.signal
  }

  /** Returns when all of it is resolved and handed. `parkable`: the generator does nothing else meanwhile. */
  async settle(
    items: readonly AskItem[],
    keys: readonly string[],
    parkable: boolean,
  ): Promise<readonly HandedAnswer[]> {
    this.#busy++
    try {
      const opened = await this.#open(items, keys)
      for (const asked of opened) this.#unhanded.add(asked)
      const waiting = Promise.all(opened.map(asked => this.#resolved(asked, opened)))
      await (parkable ? this.#unlessCold(opened, waiting) : orAborted(waiting, this.#signal))
      return await this.#hand(opened)
    } finally {
      this.#busy--
    }
  }

  /** What has been handed goes to the agent now. */
  give(): void {
    this.#untaken.push(...this.#ungiven.splice(0))
  }

  /** The agent's own next step has been seen. */
  async take(): Promise<void> {
    for (const settled of this.#untaken.splice(0)) await settled.taken()
  }

  /** The turn is over: what it still asked it no longer asks, and what it was not given it will not get. */
  async drop(): Promise<void> {
    for (const asked of this.#unhanded) await asked.withdraw()
    for (const settled of this.#ungiven.splice(0)) await settled.dropped()
  }

  async #open(items: readonly AskItem[], keys: readonly string[]): Promise<readonly OpenRequest[]> {
    const drafts = items.map(({ ask, ...rest }, index) => {
      const full = ask?.kind === 'approval' ? { ...ask, cwd: ask.cwd ?? this.#session.info.cwd } : ask
      const copy = jsonCopy(full, 'the ask') as Ask // `open` parses it
      return { ...rest, ask: copy, key: keys[index] ?? '' }
    })
    try {
      return await this.#session.open(drafts)
    } catch (error) {
      if (error instanceof Fault && error.code === 'key_conflict')
        throw notDeterministic(`what it asks as ${keys.join(' or ')} is not what it asked before`)
      throw error
    }
  }

  async #resolved(asked: OpenRequest, together: readonly OpenRequest[]): Promise<void> {
    const { resolution } = await asked.resolved()
    if (!interrupts(resolution?.answer)) return
    await Promise.all(together.filter(other => other.request.status === 'pending').map(other => other.withdraw()))
  }

  /** Waits, but not for ever with a process in hand: the answer brings the session back. */
  async #unlessCold(opened: readonly OpenRequest[], waiting: Promise<unknown>): Promise<void> {
    const parkAfterMs = this.#options.parkAfterMs()
    let cancel = () => {}
    const cold = new Promise<never>((_, reject) => {
      if (parkAfterMs === null) return
      cancel = this.#options.clock.after(parkAfterMs, () => {
        const allPending = opened.every(asked => asked.request.status === 'pending')
        // What is answered already, asked from elsewhere, or cannot be had again would be lost with the generator.
        if (allPending && this.#busy === 1 && !this.#holdsSecret) reject(new ParkTurn())
      })
    })
    await orAborted(Promise.race([waiting, cold]), this.#signal).finally(() => cancel())
  }

  /** All at once: the agent gets none of them before it can get all, and what it did not get must not count as handed. */
  async #hand(opened: readonly OpenRequest[]): Promise<readonly HandedAnswer[]> {
    const settled: HandedAnswer[] = []
    for (const asked of opened) {
      settled.push(await asked.hand())
      this.#unhanded.delete(asked)
    }
    if (settled.some(one => one.kind === 'agent' && one.reason !== 'withdrawn'))
      // The command that ended it is on its way and says what becomes of the turn.
      await orAborted(new Promise<never>(() => {}), this.#signal)
    this.#ungiven.push(...settled)
    for (const one of settled) this.#guardSecret(one)
    if (settled.some(one => one.kind === 'answer' && interrupts(one.answer))) {
      this.give()
      this.#options.over.abort(new TurnCancelled('A person declined and stopped the turn.'))
      this.#signal.throwIfAborted()
    }
    return settled
  }

  /** A secret is kept only until the agent has it: the generator that has it is not let go, and a replay cannot pass it. */
  #guardSecret(settled: HandedAnswer): void {
    const { ask, key } = settled.request
    if (settled.kind !== 'answer' || secretFieldIds(ask).size === 0) return
    if (settled.answer.kind !== 'answers' && settled.answer.kind !== 'submit') return
    this.#holdsSecret = true
    if (settled.replayed)
      throw new TurnFailed(
        `The secret answer to ${key} was not kept, so this turn cannot be resumed; send the message again.`,
      )
  }
}

function interrupts(answer: Answer | undefined): boolean {
  return answer !== undefined && 'interrupt' in answer && answer.interrupt === true
}
