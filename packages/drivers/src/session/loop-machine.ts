/** Holds the state of the session loop and applies events to it, one after another. */
import { initialLoopState, type LoopEffect, type LoopEvent, type LoopState } from './loop-state.ts'
import { transition } from './loop-transitions.ts'

export class LoopMachine {
  readonly #carryOut: (effect: LoopEffect) => void
  readonly #onError: (error: unknown) => void
  readonly #events: LoopEvent[] = []
  #state = initialLoopState

  constructor(carryOut: (effect: LoopEffect) => void, onError: (error: unknown) => void) {
    this.#carryOut = carryOut
    this.#onError = onError
  }

  get state(): LoopState {
    return this.#state
  }

  /** Applies an event and carries out its effects. Events that effects cause are applied afterwards, in order. An effect that throws does not keep later events from being applied, because one of them closes the process. */
  dispatch(event: LoopEvent): void {
    this.#events.push(event)
    if (this.#events.length > 1) return
    for (let next: LoopEvent | undefined = event; next; next = this.#events[0]) {
      const { state, effects } = transition(this.#state, next)
      this.#state = state
      for (const effect of effects) this.#try(effect)
      this.#events.shift()
    }
  }

  #try(effect: LoopEffect): void {
    try {
      this.#carryOut(effect)
    } catch (error) {
      this.#onError(error)
    }
  }
}
