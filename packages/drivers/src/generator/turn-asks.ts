/** The asks of one turn. Asks that are opened together are handed together when all are resolved, and reported as taken when the agent continues. */

import { type AgentSession, type HandedAnswer, type OpenRequest, WrongRequest } from '@holdpoint/client'
import { type Answer, type Ask, type Clock, Fault, orAborted, secretFieldIds } from '@holdpoint/protocol'
import { type AskItem, TurnCancelled } from './asks.ts'
import { notDeterministic, ParkTurn, TurnFailed } from './turn-end.ts'

export interface TurnAsksOptions {
  readonly session: AgentSession
  readonly clock: Clock
  /** Aborting this controller ends the turn. */
  readonly over: AbortController
  /** How long an ask may wait before the turn is parked; null means never. */
  readonly parkAfterMs: () => number | null
}

export class TurnAsks {
  readonly #options: TurnAsksOptions
  readonly #session: AgentSession
  readonly #signal: AbortSignal
  readonly #notHanded = new Set<OpenRequest>()
  readonly #notGiven: HandedAnswer[] = []
  readonly #notTaken: HandedAnswer[] = []
  #openBatches = 0
  #holdsSecret = false

  constructor(options: TurnAsksOptions) {
    this.#options = options
    this.#session = options.session
    this.#signal = options.over.signal
  }

  /** Resolves when all asks are resolved and handed. `parkable` says that the generator does nothing but wait, so the turn can be parked. */
  async askAll(
    items: readonly AskItem[],
    keys: readonly string[],
    parkable: boolean,
  ): Promise<readonly HandedAnswer[]> {
    this.#openBatches++
    try {
      const opened = await this.#open(items, keys)
      for (const asked of opened) this.#notHanded.add(asked)
      const waiting = Promise.all(opened.map(asked => this.#waitFor(asked, opened)))
      await (parkable ? this.#parkIfSlow(opened, waiting) : orAborted(waiting, this.#signal))
      return await this.#handAll(opened)
    } catch (error) {
      throw error instanceof WrongRequest ? new TurnFailed(error.message, { cause: error }) : error
    } finally {
      this.#openBatches--
    }
  }

  /** Call this when the handed answers are passed to the agent. */
  markGiven(): void {
    this.#notTaken.push(...this.#notGiven.splice(0))
  }

  /** Call this when the agent continues after it was given answers. Reports those answers as taken. */
  async reportTaken(): Promise<void> {
    for (const answer of this.#notTaken.splice(0)) await answer.taken()
  }

  /** Call this when the turn is over. Withdraws the open requests, and reports answers that the agent did not receive as undeliverable. */
  async withdrawRest(): Promise<void> {
    for (const asked of this.#notHanded)
      await asked.withdraw().catch((error: unknown) => {
        // The turn has already failed because of the wrong reply.
        if (!(error instanceof WrongRequest)) throw error
      })
    for (const answer of this.#notGiven.splice(0)) await answer.dropped()
  }

  async #open(items: readonly AskItem[], keys: readonly string[]): Promise<readonly OpenRequest[]> {
    const drafts = items.map(({ ask, ...rest }, index) => {
      const full = ask?.kind === 'approval' ? { ...ask, cwd: ask.cwd ?? this.#session.info.cwd } : ask
      return { ...rest, ask: full as Ask, key: keys[index] ?? '' } // `AgentSession.open` validates the ask
    })
    try {
      return await this.#session.open(drafts)
    } catch (error) {
      if (error instanceof Fault && error.code === 'key_conflict')
        throw notDeterministic(`its ask ${keys.join(' or ')} differs from the ask that was recorded at this position`)
      throw error
    }
  }

  async #waitFor(asked: OpenRequest, together: readonly OpenRequest[]): Promise<void> {
    const { resolution } = await asked.resolved()
    if (!isInterrupt(resolution?.answer)) return
    await Promise.all(together.filter(other => other.request.status === 'pending').map(other => other.withdraw()))
  }

  /** Waits for the answers. Parks the turn if they take longer than `parkAfterMs`; an answer then resumes the session. */
  async #parkIfSlow(opened: readonly OpenRequest[], waiting: Promise<unknown>): Promise<void> {
    const parkAfterMs = this.#options.parkAfterMs()
    let cancel = () => {}
    const tooSlow = new Promise<never>((_, reject) => {
      if (parkAfterMs === null) return
      cancel = this.#options.clock.after(parkAfterMs, () => {
        const allPending = opened.every(asked => asked.request.status === 'pending')
        // Do not park if that would lose an ask from a callback, an answer that has already arrived, or a secret that cannot be read again.
        if (allPending && this.#openBatches === 1 && !this.#holdsSecret) reject(new ParkTurn())
      })
    })
    await orAborted(Promise.race([waiting, tooSlow]), this.#signal).finally(() => cancel())
  }

  /** Hands the answers only after all have arrived. The agent waits for all of them, and an answer that the agent does not receive must not count as handed. */
  async #handAll(opened: readonly OpenRequest[]): Promise<readonly HandedAnswer[]> {
    const handed: HandedAnswer[] = []
    for (const asked of opened) {
      handed.push(await asked.hand())
      this.#notHanded.delete(asked)
    }
    if (handed.some(one => one.kind === 'agent' && one.reason !== 'withdrawn'))
      // An interrupt or the end of the session resolved the request, but its command has not arrived yet. Wait for the command, because it decides how the turn ends.
      await orAborted(new Promise<never>(() => {}), this.#signal)
    this.#notGiven.push(...handed)
    for (const one of handed) this.#noteSecret(one)
    if (handed.some(one => one.kind === 'answer' && isInterrupt(one.answer))) {
      this.markGiven()
      this.#options.over.abort(new TurnCancelled('A person denied this and stopped the turn.'))
      this.#signal.throwIfAborted()
    }
    return handed
  }

  /** The gateway stores a secret answer only until the agent has received it. A turn that holds a secret is therefore not parked, and its replay fails here. */
  #noteSecret(answer: HandedAnswer): void {
    const { ask, key } = answer.request
    if (answer.kind !== 'answer' || secretFieldIds(ask).size === 0) return
    if (answer.answer.kind !== 'answers' && answer.answer.kind !== 'submit') return
    this.#holdsSecret = true
    if (answer.replayed)
      throw new TurnFailed(
        `The secret answer to ${key} is no longer stored, so this turn cannot be resumed. Send the message again.`,
      )
  }
}

function isInterrupt(answer: Answer | undefined): boolean {
  return answer !== undefined && 'interrupt' in answer && answer.interrupt === true
}
